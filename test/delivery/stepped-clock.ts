import type { Clock } from '../../src/core/clock.ts'

/** A clock that stands still until it is moved, timer by timer. */
export interface SteppedClock extends Clock {
  /** The time of the next timer, or infinity. */
  nextDue(): number
  /** Sets the time and runs what is due by then, in order. */
  moveTo(at: number): void
}

export function steppedClock(start = Date.UTC(2026, 10, 21, 9, 30)): SteppedClock {
  let now = start
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    nextDue: () => Math.min(Number.POSITIVE_INFINITY, ...[...timers].map(({ at }) => at)),
    moveTo(at) {
      now = at
      const due = [...timers].filter((timer) => timer.at <= at).sort((a, b) => a.at - b.at)
      for (const timer of due) if (timers.delete(timer)) timer.run()
    },
  }
}
