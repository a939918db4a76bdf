import { type Clock, sleep } from '../../core/clock.ts'
import { type ErrorCode, errorCode, ParleyError, toError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Model, ModelEvent, ModelRequest } from '../../core/model.ts'
import { ModelError } from './model-error.ts'

export interface RetryServices {
  readonly clock: Clock
  /** From 0 to below 1. */
  readonly random: () => number
  readonly logger: Logger
}

/** Ms before the second and the third try, each times 0.5 to 1.5 so that many sessions do not come back together. */
const WAITS = [2_000, 8_000] as const
/** The most that is waited in one call, whatever the provider asks for. */
const BUDGET_MS = 20_000

/**
 * Tries a call again that failed before it gave anything: overloaded, stalled or empty (once), or unreachable; at
 * most three tries and 20 s of waiting. A provider that asks for a longer pause is taken at its word and the failure
 * reported at once. After the first event nothing is ever repeated, so no answer appears twice. The SDK's own
 * retries know neither rule and are off (decision 0017).
 */
export function retryModel(model: Model, services: RetryServices): Model {
  return { id: model.id, stream: (request, signal) => retrying(model, services, { request, signal }) }
}

interface Call {
  readonly request: ModelRequest
  readonly signal: AbortSignal
}

async function* retrying(
  model: Model,
  services: RetryServices,
  { request, signal }: Call,
): AsyncGenerator<ModelEvent, void, void> {
  let waited = 0
  for (let attempt = 1; ; attempt++) {
    let started = false
    let failure: unknown
    let pause: Promise<void>
    try {
      for await (const event of model.stream(request, signal)) {
        started = true
        yield event
      }
      return
    } catch (error) {
      failure = error
      const waitMs = started ? undefined : waitBefore(error, attempt, services.random)
      if (waitMs === undefined || waited + waitMs > BUDGET_MS) throw error
      waited += waitMs
      // From the failure on: to settle what it cost takes a moment of its own.
      pause = sleep(services.clock, waitMs, signal)
      services.logger.warn('The model call failed and is tried again', {
        ...{ model: model.id, attempt, waitMs },
        ...{ code: errorCode(error), reason: toError(error).message },
      })
    }
    yield { type: 'failed', failure }
    await pause
    if (signal.aborted) throw new ParleyError('aborted', 'The model call was stopped.')
    yield { type: 'again' }
  }
}

/** Failures that are tried again once: another try takes as long as the first, or gives the same. */
const ONCE: readonly ErrorCode[] = ['model_stalled', 'model_empty']

/** Undefined: do not try again. */
function waitBefore(error: unknown, attempt: number, random: () => number): number | undefined {
  if (!(error instanceof ModelError) || !error.advice.retry) return undefined
  const base = ONCE.includes(error.code) && attempt > 1 ? undefined : WAITS[attempt - 1]
  if (base === undefined) return undefined
  return Math.round(Math.max(base * (0.5 + random()), error.advice.afterMs ?? 0))
}
