import { expect, it } from 'vitest'
import { createIntrospect } from '../../src/agent/introspect.ts'
import { createSummarize } from '../../src/agent/summarize.ts'
import { sleep } from '../../src/core/clock.ts'
import { textContent } from '../../src/core/content.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { toAgentId, toSessionId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Model } from '../../src/core/model.ts'
import { movedClock } from './moved-clock.ts'

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
