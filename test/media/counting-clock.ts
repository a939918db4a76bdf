import { type Clock, systemClock } from '../../src/core/clock.ts'

/** A clock that counts the deadlines which run at a time: each process has one. */
export function countingClock(): Clock & { readonly most: number; readonly running: number } {
  let [most, running] = [0, 0]
  return {
    ...{ now: systemClock.now, elapsed: systemClock.elapsed },
    after(ms, callback) {
      most = Math.max(most, ++running)
      const cancel = systemClock.after(ms, callback)
      return () => {
        running--
        cancel()
      }
    },
    get most() {
      return most
    },
    get running() {
      return running
    },
  }
}
