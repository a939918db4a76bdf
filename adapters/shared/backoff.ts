import { askedWait, type Clock, sleep } from '../../src/core/clock.ts'

export interface BackoffSettings {
  /** Most the first delay can be, in ms. */
  readonly baseMs: number
  /** Most any delay of our own choice can be, in ms. */
  readonly capMs: number
  /** In [0, 1). */
  random(): number
}

export interface Backoff {
  /**
   * Whole ms to wait before retry number `attempt` (the first is 1). What the platform asks for (`retryAfterMs`) wins
   * over jitter and cap, up to a day: coming back earlier only earns a longer refusal.
   */
  nextDelay(attempt: number, retryAfterMs?: number): number
}

/** Exponential back-off with full jitter: a delay anywhere in [0, min(cap, base · 2^(attempt-1))). Keeps no state. */
export function createBackoff(settings: BackoffSettings): Backoff {
  return {
    nextDelay(attempt, retryAfterMs) {
      if (retryAfterMs !== undefined) return askedWait(retryAfterMs)
      const ceiling = Math.min(settings.capMs, settings.baseMs * 2 ** (Math.max(attempt, 1) - 1))
      return Math.floor(settings.random() * ceiling)
    },
  }
}

/** Rejects when it could not be done; it is then done again. */
export type Task = () => Promise<void>

/** Thrown by a task that knows when it is to be done again. */
export class TryLater extends Error {
  override readonly name = 'TryLater'
  readonly afterMs: number

  constructor(message: string, afterMs: number) {
    super(message)
    this.afterMs = afterMs
  }
}

export interface RetryPorts {
  readonly clock: Clock
  readonly signal: AbortSignal
  random(): number
}

const BASE_MS = 500
const CAP_MS = 10_000

/** Does a task until it is done or the signal aborts, with growing waits. `failed` is called once. Never rejects. */
export async function untilDone(
  ports: RetryPorts & { readonly failed: (error: unknown) => void },
  task: Task,
): Promise<void> {
  const { clock, signal, failed } = ports
  const backoff = createBackoff({ baseMs: BASE_MS, capMs: CAP_MS, random: () => ports.random() })
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      return await task()
    } catch (error) {
      if (signal.aborted) return
      if (attempt === 1) failed(error)
      await sleep(clock, backoff.nextDelay(attempt, error instanceof TryLater ? error.afterMs : undefined), signal)
    }
  }
}
