import { describe, expect, it } from 'vitest'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { oneAtATime } from '../../src/web/convert-page.ts'

describe('pages that are converted', () => {
  it('R33: go one at a time, by turns of the sessions: five of one hold the page of another up for one', async () => {
    const inTurn = oneAtATime()
    const gate = deferred<void>()
    const done: string[] = []
    const convert = (whose: string, name: string) =>
      inTurn(whose, async () => {
        await gate.promise
        done.push(name)
      })
    const hostile = [1, 2, 3, 4, 5].map((nth) => convert('bob', `bob ${nth}`))
    const [ada, cy] = [convert('ada', 'ada'), convert('cy', 'cy')]
    gate.resolve()
    await Promise.all([...hostile, ada, cy])
    expect(done).toEqual(['bob 1', 'ada', 'cy', 'bob 2', 'bob 3', 'bob 4', 'bob 5'])
  })

  it('R33: one that fails is its own alone', async () => {
    const inTurn = oneAtATime()
    const failing = inTurn('bob', () => Promise.reject(new Error('too deep')))
    const fine = inTurn('bob', async () => 'fine')
    await expect(failing).rejects.toThrow('too deep')
    expect(await fine).toBe('fine')
  })
})
