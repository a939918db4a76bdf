import type { Clock } from '../../src/core/clock.ts'

export interface SetClock extends Clock {
  /** Sets the time; timers that are due by then run at once, as after a sleep of the machine. */
  set(at: string): void
  /** The same by a number of ms. */
  skip(ms: number): void
  /** Resolves when a timer of `ms` is set, or of up to `less` ms less. */
  timerOf(ms: number, less?: number): Promise<void>
}

/** A clock that goes as the system's does and can be set. */
export function setClock(start: string): SetClock {
  let ahead = Date.parse(start) - Date.now()
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  const waiting = new Set<{ readonly fits: (ms: number) => boolean; readonly found: () => void }>()
  const now = (): number => Date.now() + ahead
  const runDue = (): void => {
    for (const timer of [...timers].filter(({ at }) => at <= now()).sort((a, b) => a.at - b.at)) timer.run()
  }
  return {
    now,
    elapsed: now,
    after(ms, callback) {
      const cancel = (): void => {
        timers.delete(timer)
        clearTimeout(real)
      }
      const timer = {
        at: now() + ms,
        run() {
          cancel()
          callback()
        },
      }
      const real = setTimeout(timer.run, ms).unref()
      timers.add(timer)
      for (const waiter of waiting) if (waiter.fits(ms) && waiting.delete(waiter)) waiter.found()
      return cancel
    },
    set(at) {
      ahead = Date.parse(at) - Date.now()
      runDue()
    },
    skip(ms) {
      ahead += ms
      runDue()
    },
    timerOf: (most, less = 0) =>
      new Promise((found) => waiting.add({ fits: (ms) => ms <= most && ms >= most - less, found })),
  }
}
