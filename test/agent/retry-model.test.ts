import { describe, expect, it } from 'vitest'
import { ModelError } from '../../src/agent/models/model-error.ts'
import { retryModel } from '../../src/agent/models/retry-model.ts'
import { type ErrorCode, ParleyError } from '../../src/core/errors.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Model, ModelEvent } from '../../src/core/model.ts'
import { hastyClock, movedClock } from './moved-clock.ts'
import { fakeModel, never, oneByOne, type Say } from './turns.ts'

const busy = (afterMs?: number, code: ErrorCode = 'model_overloaded'): Say => ({
  fail: new ModelError(code, 'busy', { advice: { retry: true, ...(afterMs === undefined ? {} : { afterMs }) } }),
})
const request = { system: '', messages: [], tools: [], maxTokens: 1 }

async function collect(model: Model): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream(request, never()))
    if (event.type !== 'failed' && event.type !== 'again') events.push(event)
  return events
}

function retried(...says: Say[]) {
  const model = fakeModel(...says)
  const clock = hastyClock()
  const logged: unknown[] = []
  const logger = { ...silentLogger, warn: (_: string, fields?: object) => void logged.push(fields) }
  return { model, clock, logger, logged, wrapped: retryModel(model, { clock, random: () => 0.5, logger }) }
}

describe('retry-model', () => {
  it('an overloaded model is tried three times with growing pauses, each logged', async () => {
    const { wrapped, model, clock, logged } = retried(busy(), busy(), { deltas: ['ok'] })
    expect((await collect(wrapped))[0]).toEqual({ type: 'text', delta: 'ok' })
    expect(model.requests).toHaveLength(3)
    expect(clock.waits).toEqual([2_000, 8_000])
    expect(logged).toMatchObject([{ attempt: 1, waitMs: 2_000 }, { attempt: 2 }])
  })

  it('a try is logged with what failed, in whole ms and without a stack', async () => {
    const { model, clock, logger, logged } = retried(busy(), { deltas: ['ok'] })
    await collect(retryModel(model, { clock, random: () => 0.123_456_7, logger }))
    expect(logged).toEqual([{ model: model.id, attempt: 1, waitMs: 1_247, code: 'model_overloaded', reason: 'busy' }])
    expect(clock.waits).toEqual([1_247])
  })

  it('after the third failure the last error is thrown', async () => {
    const { wrapped, model } = retried(busy())
    await expect(collect(wrapped)).rejects.toThrow(expect.objectContaining({ code: 'model_overloaded' }))
    expect(model.requests).toHaveLength(3)
  })

  it('a stalled model is tried once more only', async () => {
    const { wrapped, model } = retried(busy(undefined, 'model_stalled'))
    await expect(collect(wrapped)).rejects.toThrow(expect.objectContaining({ code: 'model_stalled' }))
    expect(model.requests).toHaveLength(2)
  })

  it('nothing is repeated once something came', async () => {
    const { wrapped, model } = retried({ deltas: ['Hal'], ...busy() })
    await expect(collect(wrapped)).rejects.toThrow(/busy/)
    expect(model.requests).toHaveLength(1)
  })

  it('a pause the provider asks for is kept if it fits, and ends the tries at once if not', async () => {
    const fits = retried(busy(12_000), { deltas: ['ok'] })
    await collect(fits.wrapped)
    expect(fits.clock.waits).toEqual([12_000])
    const tooLong = retried(busy(600_000))
    await expect(collect(tooLong.wrapped)).rejects.toThrow(/busy/)
    expect(tooLong.clock.waits).toEqual([])
  })

  it('all pauses of one call together stay within 20 s', async () => {
    const { wrapped, clock } = retried(busy(15_000))
    await expect(collect(wrapped)).rejects.toThrow(/busy/)
    expect(clock.waits).toEqual([15_000])
  })

  it.each([
    ['one that says so', new ModelError('model_overloaded', 'spend cap', { advice: { retry: false } })],
    ['an auth failure', new ParleyError('model_auth', 'no')],
    ['a bug', new TypeError('oops')],
  ])('%s is not tried again', async (_, fail) => {
    const { wrapped, model } = retried({ fail })
    await expect(collect(wrapped)).rejects.toBe(fail)
    expect(model.requests).toHaveLength(1)
  })

  it('an abort ends a pause at once as aborted', async () => {
    const clock = movedClock()
    const stop = new AbortController()
    const model = fakeModel(busy())
    const wrapped = retryModel(model, { clock, random: () => 0.5, logger: silentLogger })
    const events = oneByOne(wrapped.stream(request, stop.signal))
    expect(await events.next()).toMatchObject({ value: { type: 'failed', failure: { code: 'model_overloaded' } } })
    const next = events.next()
    await clock.timerOf(2_000)
    stop.abort()
    await expect(next).rejects.toThrow(expect.objectContaining({ code: 'aborted' }))
    expect([model.requests.length, clock.pending()]).toEqual([1, 0])
  })
})
