import { backOffMs } from '../../src/core/backoff.ts'
import { askedWait, type Clock, sleep } from '../../src/core/clock.ts'

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

const PACE = { firstMs: 500, longestMs: 10_000, jitter: 1 }

/** Does a task until it is done or the signal aborts, with growing waits. `failed` is called once. Never rejects. */
export async function untilDone(
  ports: RetryPorts & { readonly failed: (error: unknown) => void },
  task: Task,
): Promise<void> {
  const { clock, signal, failed } = ports
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      return await task()
    } catch (error) {
      if (signal.aborted) return
      if (attempt === 1) failed(error)
      const waitMs = error instanceof TryLater ? askedWait(error.afterMs) : backOffMs(attempt, PACE, ports.random())
      await sleep(clock, waitMs, signal)
    }
  }
}
