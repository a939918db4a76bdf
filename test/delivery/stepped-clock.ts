import type { Clock } from '../../src/core/clock.ts'

/** A clock that stands still until it is moved, timer by timer. */
export interface SteppedClock extends Clock {
  /** The time of the next timer, or infinity. */
  nextDue(): number
  /** Lets time pass until it is `at` and runs what is due by then, in order. */
  moveTo(at: number): void
  /** The time of day is set; whoever waits, waits as long as before. */
  setBy(ms: number): void
}

export function steppedClock(start = Date.UTC(2026, 10, 21, 9, 30)): SteppedClock {
  let now = start
  let set = 0
  const timers = new Set<{ at: number; readonly run: () => void }>()
  return {
    now: () => now,
    elapsed: () => now - start - set,
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
    setBy(ms) {
      now += ms
      set += ms
      for (const timer of timers) timer.at += ms
    },
  }
}
