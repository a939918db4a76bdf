import type { Clock } from '../../core/clock.ts'

export interface IdleTimer {
  /** Aborts once nothing happened for the whole time while the timer ran. */
  readonly signal: AbortSignal
  /** Stops the time: the other side is not to blame while we work. Idempotent. */
  pause(): void
  /** Starts again from the beginning. */
  resume(): void
}

/** Runs at once. A stalled stream is not a timeout to any client library, so it is watched here. */
export function startIdleTimer(clock: Clock, ms: number): IdleTimer {
  const controller = new AbortController()
  let cancel = (): void => {}
  const timer: IdleTimer = {
    signal: controller.signal,
    pause: () => cancel(),
    resume() {
      cancel()
      cancel = clock.after(ms, () => controller.abort())
    },
  }
  timer.resume()
  return timer
}
