import { expect, it } from 'vitest'
import { createPrecheck } from '../../src/agent/precheck.ts'
import { textContent } from '../../src/core/content.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Model, ModelRequest, StopReason } from '../../src/core/model.ts'
import { steppedClock } from '../delivery/stepped-clock.ts'

const USAGE = { input: 30, output: 4 }
const message = (text: string) => ({ role: 'user' as const, content: textContent(text) })

/** A check whose model answers with a text, or never. */
function checkWith(answer: string | undefined, stop: StopReason = 'end') {
  const clock = steppedClock()
  const requests: ModelRequest[] = []
  const called: unknown[] = []
  const model: Model = {
    id: 'test/small',
    async *stream(request, signal) {
      requests.push(request)
      if (answer === undefined)
        await new Promise((_, reject) => {
          const stop = () => reject(new Error('aborted'))
          signal.aborted ? stop() : signal.addEventListener('abort', stop)
        })
      yield { type: 'text', delta: answer ?? '' }
      yield { type: 'end', stop, usage: USAGE, model: 'test/small' }
    },
  }
  const check = createPrecheck({
    models: async () => model,
    called: (...call) => void called.push(call),
    ...{ clock, logger: silentLogger },
  })
  const ask = (text: string, signal = new AbortController().signal) =>
    check({ model: 'test/small', messages: [message(text)] }, signal)
  return { ask, clock, requests, called }
}

it.each([
  ['yes', true, 'it gave no reason'],
  ['**No:** they talk about lunch.\nAnd so on', false, 'they talk about lunch.'],
  ['NO', false, 'it gave no reason'],
  ['<NO_REPLY>', false, 'it said nothing'],
  ['Nobody asked', true, 'the pre-check said neither yes nor no'],
  [`no: ${'x'.repeat(500)}`, false, 'x'.repeat(200)],
])('reads %j', async (answer, expected, because) => {
  const { ask, called } = checkWith(answer)
  expect(await ask('hi')).toEqual({ verdict: { answer: expected, model: 'test/small', because }, usage: USAGE })
  expect(called).toEqual([['test/small']])
})

it.each<[string, StopReason, string]>([
  ['no: they talk about lunch and', 'length', 'the pre-check was cut at its 200 tokens'],
  ['No, wait. The user', 'length', 'the pre-check was cut at its 200 tokens'],
  ['<NO_REPLY>', 'length', 'the pre-check was cut at its 200 tokens'],
  ['', 'length', 'the pre-check was cut at its 200 tokens'],
  ['no', 'refused', 'the pre-check declined to answer'],
  ['', 'end', 'the pre-check was empty'],
  [' \n', 'end', 'the pre-check was empty'],
])(
  'the agent is asked where the answer is %j and ends with %s, and the verdict says why',
  async (answer, stop, because) => {
    const { ask, called } = checkWith(answer, stop)
    expect(await ask('hi')).toEqual({ verdict: { answer: true, model: 'test/small', because }, usage: USAGE })
    expect(called).toEqual([['test/small']])
  },
)

it('shows the end of long messages, and nothing that was said before', async () => {
  const { ask, requests } = checkWith('no')
  await ask(`${'x'.repeat(10_000)} what is new?`)
  const [shown] = requests[0]?.messages ?? []
  expect(JSON.stringify(shown)).toContain('what is new?')
  expect(JSON.stringify(shown).length).toBeLessThan(4_200)
})

it('keeps nobody from an answer once it takes too long', async () => {
  const { ask, clock, called } = checkWith(undefined)
  const asking = ask('hi')
  await expect.poll(() => clock.nextDue()).toBeLessThan(Number.POSITIVE_INFINITY)
  expect(clock.nextDue() - clock.now()).toBe(15_000)
  clock.moveTo(clock.nextDue())
  expect((await asking).verdict).toEqual({ answer: true, model: 'test/small', because: 'the pre-check took too long' })
  expect(called).toMatchObject([['test/small', { code: 'model_stalled' }]])
})

it('ends with its turn', async () => {
  const { ask } = checkWith(undefined)
  const turn = new AbortController()
  const asking = ask('hi', turn.signal)
  turn.abort()
  await expect(asking).rejects.toThrow('aborted')
})
