import { expect, it } from 'vitest'
import { sharedPlaces } from '../../src/hooks/hooks.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'

it('R8: a chat with many messages leaves places to the others, and takes its own in their order', async () => {
  const inPlace = sharedPlaces({ all: 3, each: 2 })
  const begun: string[] = []
  const ended = deferred<void>()
  const work = (name: string) => () => {
    begun.push(name)
    return ended.promise
  }
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => inPlace('a', work(name)))
  all.push(inPlace('b', work('b1')), inPlace('b', work('b2')))
  await new Promise(setImmediate)
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  ended.resolve()
  await Promise.all(all)
  expect(begun.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4'])
})

it('a piece of work that fails gives its place back', async () => {
  const inPlace = sharedPlaces({ all: 1, each: 1 })
  await expect(inPlace('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await inPlace('a', async () => 'done')).toBe('done')
  expect(await inPlace('b', async () => 'done')).toBe('done')
})
