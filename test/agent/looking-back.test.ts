import { describe, expect, it } from 'vitest'
import { createIntrospect } from '../../src/agent/introspect.ts'
import { createSummarize } from '../../src/agent/summarize.ts'
import { sleep } from '../../src/core/clock.ts'
import { textContent } from '../../src/core/content.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { toAgentId, toSessionId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Model, ModelMessage } from '../../src/core/model.ts'
import { movedClock } from './moved-clock.ts'
import { call, type FakeModel, fakeModel, type Say } from './turns.ts'

const agent = { id: toAgentId('main'), model: 'test/dribbles', prompt: '', tools: [] }
const asked = { agent, sessionId: toSessionId('cli:test') }
const LOOKING_BACK = [
  [
    'checkpoint',
    (services: Parameters<typeof createIntrospect>[0], signal: AbortSignal) =>
      createIntrospect(services)(
        { ...asked, lines: [{ no: 1, text: 'hello' }], working: undefined, description: '', entries: [] },
        signal,
      ),
  ],
  [
    'summary',
    (services: Parameters<typeof createSummarize>[0], signal: AbortSignal) =>
      createSummarize(services)({ ...asked, messages: [{ role: 'user', content: textContent('hello') }] }, signal),
  ],
] as const

for (const [name, lookBack] of LOOKING_BACK)
  it(`a model whose answer never comes to an end is not waited for longer than ten minutes by a ${name}`, async () => {
    const clock = movedClock()
    const model: Model = {
      id: 'test/dribbles',
      async *stream(_request, signal) {
        for (;;) {
          if (signal.aborted) throw new ParleyError('aborted', 'The model call was stopped.')
          yield { type: 'text', delta: '.' }
          await sleep(clock, 1_000, signal)
        }
      },
    }
    const services = { models: async () => model, called() {}, rests: () => false, clock, logger: silentLogger }
    const looking = lookBack(services, new AbortController().signal)
    const failed = expect(looking).rejects.toMatchObject({ code: 'model_stalled' })
    await clock.timerOf(1_000)
    clock.advance(600_000)
    await failed
    expect(clock.pending()).toBe(0)
  })

/** Looks back with the models of a chain; `called` says with what result each was asked. */
function chained(...models: readonly FakeModel[]) {
  const [first = '', ...fallback] = models.map((_, at) => `test/model-${at}`)
  const called: string[] = []
  const services = {
    models: async (id: string) => models[Number(id.slice('test/model-'.length))] ?? Promise.reject(new Error(id)),
    called: (_: string, failure?: unknown) =>
      void called.push(failure === undefined ? 'answered' : failure instanceof ParleyError ? failure.code : 'other'),
    ...{ rests: () => false, clock: movedClock(), logger: silentLogger },
  }
  const about = { ...asked, agent: { ...agent, model: first, fallback } }
  const signal = new AbortController().signal
  return {
    called,
    summary: (messages: readonly ModelMessage[] = [{ role: 'user', content: textContent('hello') }]) =>
      createSummarize(services)({ ...about, messages }, signal),
    checkpoint: () =>
      createIntrospect(services)(
        { ...about, lines: [{ no: 1, text: 'hello' }], working: undefined, description: '', entries: [] },
        signal,
      ),
  }
}

const LONG = `Ada plans a trip to Lisbon. ${'They leave by train. '.repeat(6)}`.trim()

describe('a summary', () => {
  const NONE: readonly (readonly [string, Say, string])[] = [
    ['cut by its limit', { deltas: [LONG], stop: 'length' }, 'model_cut'],
    ['refused', { deltas: [LONG], stop: 'refused' }, 'model_refused'],
    ['a call of a tool', { deltas: [LONG], calls: [call('a', 'note')] }, 'model_empty'],
    ['too short', { deltas: ['Short.'] }, 'model_empty'],
    ['empty', {}, 'model_empty'],
    ['too long a request', { fail: new ParleyError('model_context_length', 'too long') }, 'model_context_length'],
    ['a failure', { fail: new ParleyError('model_failed', 'no') }, 'model_failed'],
  ]

  it.each(NONE)('R25: that is %s stands for nothing; the next model is asked', async (_, say, code) => {
    const { summary, called } = chained(fakeModel(say), fakeModel({ deltas: [`\n${LONG}\n`] }))
    expect(await summary()).toEqual({ text: LONG, model: 'fake/model-1', usage: { input: 10, output: 1 } })
    expect(called).toEqual([code, 'answered'])
  })

  it.each(NONE)('R25: that is %s everywhere is none', async (_, say, code) => {
    const { summary, called } = chained(fakeModel(say), fakeModel(say))
    await expect(summary()).rejects.toMatchObject({ code })
    expect(called).toEqual([code, code])
  })

  it('that a model finds too long is asked for with a quarter of the words, until it fits', async () => {
    const messages = Array.from(
      { length: 40 },
      (_, n): ModelMessage => ({
        ...{ role: 'user', content: textContent(`message ${n} ${'x'.repeat(3_000)}`) },
      }),
    )
    const tooLong = { fail: new ParleyError('model_context_length', 'too long') }
    const model = fakeModel(tooLong, tooLong, { deltas: [LONG] })
    const { summary, called } = chained(model)
    expect(await summary(messages)).toMatchObject({ text: LONG })
    const [first = 0, second = 0, third = 0] = model.requests.map(({ messages: [one] }) => JSON.stringify(one).length)
    expect([first > 120_000, second / first < 0.3, third / second < 0.4]).toEqual([true, true, true])
    expect(JSON.stringify(model.requests[2])).toContain('message 39')
    expect(called).toEqual(['answered'])
  })

  it('that stays too long is given up', async () => {
    const model = fakeModel({ fail: new ParleyError('model_context_length', 'too long') })
    const words = textContent('x'.repeat(1_000_000))
    await expect(chained(model).summary([{ role: 'user', content: words }])).rejects.toMatchObject({
      code: 'model_context_length',
    })
    expect(model.requests.length).toBeLessThan(6)
  })
})

describe('a checkpoint', () => {
  const save = (id: string, text: string) => call(id, 'memory_save', { text, lines: [1] })
  const done = { deltas: ['done'] }

  it('takes no call of an answer that was cut, whose text may be torn; the model is told and writes it again', async () => {
    const model = fakeModel(
      { calls: [save('a', 'Ada likes'), call('b', 'working_memory', { text: 'Bob wil' })], stop: 'length' },
      { calls: [save('c', 'Ada likes tea.')] },
      done,
    )
    const found = await chained(model).checkpoint()
    expect(found).toMatchObject({ saved: [{ text: 'Ada likes tea.', lines: [1] }], usage: { input: 30, output: 3 } })
    expect(found).not.toHaveProperty('working')
    const words = expect.stringMatching(/^not run: the answer was cut at its limit of 2048 tokens/)
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      results: ['a', 'b'].map((id) => ({ id, isError: true, content: [{ text: words }] })),
    })
  })

  it.each<[string, readonly Say[], string]>([
    ['is cut', [{ deltas: ['I no'], stop: 'length' }], 'model_cut'],
    ['is refused', [{ stop: 'refused' }], 'model_refused'],
    ['is refused with calls', [{ calls: [save('a', 'x')], stop: 'refused' }], 'model_refused'],
  ])('that %s at once writes nothing, and the next model is asked', async (_, says, code) => {
    const alone = chained(fakeModel(...says))
    await expect(alone.checkpoint()).rejects.toMatchObject({ code })
    const { checkpoint, called } = chained(
      fakeModel(...says),
      fakeModel({ calls: [save('b', 'Ada likes tea.')] }, done),
    )
    expect(await checkpoint()).toMatchObject({ saved: [{ text: 'Ada likes tea.' }] })
    expect(called).toEqual([code, 'answered', 'answered'])
  })

  it.each<[string, readonly Say[]]>([
    ['in every step', [{ calls: [save('a', 'x')], stop: 'length' }]],
    ['and then without a call', [{ calls: [save('a', 'x')], stop: 'length' }, { stop: 'length' }]],
  ])('that is cut %s writes nothing', async (_, says) => {
    await expect(chained(fakeModel(...says)).checkpoint()).rejects.toMatchObject({ code: 'model_cut' })
  })

  it.each<[string, Say]>([
    ['cut', { deltas: ['don'], stop: 'length' }],
    ['cut within a call', { calls: [save('z', 'Bob')], stop: 'length' }],
    ['refused', { calls: [save('z', 'Bob')], stop: 'refused' }],
  ])('keeps what whole answers noted where a later one is %s', async (_, say) => {
    const found = await chained(fakeModel({ calls: [save('a', 'Ada likes tea.')] }, say)).checkpoint()
    expect(found.saved).toEqual([{ text: 'Ada likes tea.', lines: [1] }])
  })
})
