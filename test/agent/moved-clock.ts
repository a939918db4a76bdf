import type { Clock } from '../../src/core/clock.ts'

export interface MovedClock extends Clock {
  /** Moves the time and runs what became due, in order. */
  advance(ms: number): void
  /** The time of day alone is set; whoever waits, waits as long as before. */
  setBy(ms: number): void
  /** Resolves when a timer of exactly `ms` is set, or at once if one runs. */
  timerOf(ms: number): Promise<void>
  /** Timers that run. */
  pending(): number
}

/** A clock that stands still until it is moved. */
export function movedClock(start = Date.UTC(2026, 10, 21, 9, 30)): MovedClock {
  let now = start
  let set = 0
  const timers = new Set<{ readonly at: number; readonly ms: number; readonly run: () => void }>()
  const waiters = new Set<{ readonly ms: number; readonly found: () => void }>()
  return {
    now: () => now + set,
    elapsed: () => now,
    after(ms, run) {
      const timer = { at: now + ms, ms, run }
      timers.add(timer)
      for (const waiter of waiters) if (waiter.ms === ms && waiters.delete(waiter)) waiter.found()
      return () => timers.delete(timer)
    },
    advance(ms) {
      now += ms
      const due = [...timers].filter((timer) => timer.at <= now).sort((a, b) => a.at - b.at)
      for (const timer of due) if (timers.delete(timer)) timer.run()
    },
    setBy(ms) {
      set += ms
    },
    timerOf: (ms) =>
      [...timers].some((timer) => timer.ms === ms)
        ? Promise.resolve()
        : new Promise((resolve) => waiters.add({ ms, found: resolve })),
    pending: () => timers.size,
  }
}

/** A clock on which every wait is over at once; `waits` lists them. */
export function hastyClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = []
  return {
    waits,
    now: () => 0,
    elapsed: () => 0,
    after(ms, run) {
      waits.push(ms)
      queueMicrotask(run)
      return () => {}
    },
  }
}
