import { type Clock, systemClock } from '../../src/core/clock.ts'

/** Stands still until it is set; waits are the system's. */
export function fixedClock(start: number): Clock & { set(ms: number): void } {
  let now = start
  return {
    ...systemClock,
    now: () => now,
    set(ms) {
      now = ms
    },
  }
}
