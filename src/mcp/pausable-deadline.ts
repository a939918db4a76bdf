import type { Clock } from '../core/clock.ts'

/** A time limit that does not run while somebody else is waited for. */
export interface PausableDeadline {
  /** Stops it until the returned function is called; several may have stopped it. */
  pause(): () => void
  /** Ends it for good. */
  end(): void
}

export function pausableDeadline(clock: Clock, ms: number, over: () => void): PausableDeadline {
  let left = ms
  let since = clock.elapsed()
  let pauses = 0
  let cancel = clock.after(left, over)
  return {
    pause() {
      if (pauses++ === 0) {
        cancel()
        left -= clock.elapsed() - since
      }
      let paused = true
      return () => {
        if (!paused) return
        paused = false
        if (--pauses > 0) return
        since = clock.elapsed()
        cancel = clock.after(Math.max(0, left), over)
      }
    },
    end() {
      pauses = Number.POSITIVE_INFINITY
      cancel()
    },
  }
}
