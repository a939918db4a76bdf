import type { Clock } from '../../src/core/clock.ts'

export interface SetClock extends Clock {
  /** Sets the time; timers that are due by then run at once, as after a sleep of the machine. */
  set(at: string): void
  /** The same by a number of ms. */
  skip(ms: number): void
  /** The time of day alone is set; whoever waits, waits as long as before. */
  setBy(ms: number): void
  /** Resolves when a timer of `ms` is set, or of up to `less` ms less. */
  timerOf(ms: number, less?: number): Promise<void>
}

/** A clock that goes as the system's does and can be set. */
export function setClock(start: string): SetClock {
  let ahead = Date.parse(start) - Date.now()
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  const waiting = new Set<{ readonly fits: (ms: number) => boolean; readonly found: () => void }>()
  /** By how much the time of day alone was set. */
  let set = 0
  const elapsed = (): number => Date.now() + ahead
  const runDue = (): void => {
    for (const timer of [...timers].filter(({ at }) => at <= elapsed()).sort((a, b) => a.at - b.at)) timer.run()
  }
  return {
    now: () => elapsed() + set,
    elapsed,
    after(ms, callback) {
      const cancel = (): void => {
        timers.delete(timer)
        clearTimeout(real)
      }
      const timer = {
        at: elapsed() + ms,
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
      ahead = Date.parse(at) - Date.now() - set
      runDue()
    },
    skip(ms) {
      ahead += ms
      runDue()
    },
    setBy(ms) {
      set += ms
    },
    timerOf: (most, less = 0) =>
      new Promise((found) => waiting.add({ fits: (ms) => ms <= most && ms >= most - less, found })),
  }
}
