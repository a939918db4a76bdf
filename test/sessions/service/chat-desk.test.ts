import { describe, expect, it } from 'vitest'
import type { CompletionAnswer, CompletionWatch } from '../../../src/core/operate-chat.ts'
import { deferred } from '../../../src/rehearsal/deferred.ts'
import { UnkeptRuns } from '../../../src/sessions/service/chat-desk.ts'
import { REPEAT_MS } from '../../../src/sessions/service/keyed-requests.ts'
import type { DoneSteps } from '../../../src/sessions/service/unkept-chat.ts'
import { movedClock } from '../../agent/moved-clock.ts'

/** A reader of an answer, which the test has leave or receive it. */
function reader({ whole = false } = {}) {
  const left = new AbortController()
  const given = deferred<boolean>()
  const texts: string[] = []
  const watch: CompletionWatch = {
    ...{ left: left.signal, given: given.promise, mayReturn: () => whole },
    grew: (text) => void texts.push(text),
  }
  return { watch, texts, leave: () => left.abort(), given: given.resolve }
}

const answerOf = (text: string): CompletionAnswer => ({ traceId: 'tr_1', text, usage: { input: 1, output: 1 } })

/** Requests whose runs the test ends; `steps` are what each run has begun behind. */
function rig() {
  const clock = movedClock()
  const runs = new UnkeptRuns(clock)
  const begun: { readonly done: DoneSteps; readonly watch: CompletionWatch; end(text: string | Error): void }[] = []
  let places = 0
  const ask = (key: string, { watch }: Pick<ReturnType<typeof reader>, 'watch'>) =>
    runs.answer(
      key,
      {
        enter() {
          places++
          return () => places--
        },
        run(done, all) {
          const ended = deferred<CompletionAnswer | Error>()
          const end = (text: string | Error) => ended.resolve(text instanceof Error ? text : answerOf(text))
          begun.push({ done, watch: all, end })
          return ended.promise.then((value) => (value instanceof Error ? Promise.reject(value) : value))
        },
      },
      watch,
    )
  return { clock, ask, begun, places: () => places }
}

const STEP = {
  type: 'assistant_step',
  data: {
    text: 'I look.',
    model: 'm',
    usage: { input: 5, output: 5 },
    calls: [{ callId: 'c1', tool: 'look', args: {} }],
  },
} as const

describe('a chat that is not kept', () => {
  it('runs once for all who ask the same, each of whom reads it from its beginning, and takes one place', async () => {
    const { ask, begun, places } = rig()
    const [first, second] = [reader(), reader()]
    const answers = [ask('a', first)]
    begun[0]?.watch.grew('one')
    answers.push(ask('a', second))
    begun[0]?.watch.grew('one two')
    expect([begun.length, places()]).toEqual([1, 1])
    begun[0]?.end('one two')
    expect(await Promise.all(answers)).toEqual([answerOf('one two'), answerOf('one two')])
    expect([first.texts, second.texts]).toEqual([
      ['one', 'one two'],
      ['one', 'one two'],
    ])
    expect(places()).toBe(0)
  })

  it('ends when the last of its readers has left, not before', () => {
    const { ask, begun } = rig()
    const [first, second] = [reader(), reader()]
    void ask('a', first)
    void ask('a', second)
    first.leave()
    expect(begun[0]?.watch.left.aborted).toBe(false)
    second.leave()
    expect(begun[0]?.watch.left.aborted).toBe(true)
  })

  it('runs ten seconds more where a reader waited for a whole answer: the same request joins it again', async () => {
    const { ask, begun, clock } = rig()
    const [first, second, third] = [reader({ whole: true }), reader({ whole: true }), reader({ whole: true })]
    void ask('a', first)
    first.leave()
    clock.advance(9_000)
    void ask('a', second)
    clock.advance(10_000)
    second.leave()
    const answer = ask('a', third)
    clock.advance(60_000)
    expect([begun.length, begun[0]?.watch.left.aborted]).toEqual([1, false])
    begun[0]?.end('made')
    expect(await answer).toEqual(answerOf('made'))

    void ask('b', reader({ whole: true }))
    const gone = reader({ whole: true })
    void ask('c', gone)
    gone.leave()
    clock.advance(10_000)
    expect(begun.map(({ watch }) => watch.left.aborted)).toEqual([false, false, true])
  })

  it('is answered from memory while nobody has the answer, for ten minutes', async () => {
    const { ask, begun, clock } = rig()
    const lost = reader()
    const first = ask('a', lost)
    begun[0]?.end('made')
    await first
    lost.given(false)
    clock.advance(REPEAT_MS - 1)
    const again = reader()
    expect(await ask('a', again)).toEqual(answerOf('made'))
    expect(again.texts).toEqual(['made'])
    clock.advance(1)
    void ask('a', reader())
    expect(begun).toHaveLength(2)
  })

  it('is run anew once the answer was given', async () => {
    const { ask, begun, clock } = rig()
    const one = reader()
    const first = ask('a', one)
    begun[0]?.end('made')
    await first
    one.given(true)
    await one.watch.given
    void ask('a', reader())
    expect(begun).toHaveLength(2)
    expect(clock.pending()).toBe(0)
  })

  it('continues behind its steps where it failed, and their tokens are not counted again', async () => {
    const { ask, begun, clock } = rig()
    const first = ask('a', reader())
    begun[0]?.done.add(STEP)
    begun[0]?.end(new Error('overloaded'))
    await expect(first).rejects.toThrow('overloaded')
    void ask('a', reader())
    expect(begun[1]?.done.made).toMatchObject({
      ...{ steps: [{ role: 'assistant', text: 'I look.' }], open: { calls: [{ id: 'c1' }] } },
      spent: { steps: 1, usage: { input: 0, output: 0 } },
    })
    expect(clock.pending()).toBe(0)
  })

  it('leaves nothing in memory where it failed before its first step, or what it made is long', async () => {
    const { ask, begun, clock } = rig()
    const failed = ask('a', reader())
    begun[0]?.end(new Error('overloaded'))
    await expect(failed).rejects.toThrow('overloaded')
    const long = ask('b', reader())
    begun[1]?.end('x'.repeat(300_000))
    await long
    expect(clock.pending()).toBe(0)
    void ask('b', reader())
    expect(begun).toHaveLength(3)
  })

  it('is one of 64 that are held: the oldest is forgotten first', async () => {
    const { ask, begun, clock } = rig()
    for (let no = 0; no < 65; no++) {
      const answer = ask(`${no}`, reader())
      begun.at(-1)?.end(`made ${no}`)
      await answer
    }
    expect(clock.pending()).toBe(64)
    expect(await ask('1', reader())).toEqual(answerOf('made 1'))
    void ask('0', reader())
    expect(begun).toHaveLength(66)
  })
})
