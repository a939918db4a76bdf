import type { Clock } from '../core/clock.ts'

/** Calls `onTick` now and then until the returned function is called. The moment of a tick says nothing about slots. */
export type Ticks = (onTick: () => void) => () => void

const EVERY_MS = 1_000

/**
 * Ticks soon after each whole second of the wall clock, and at least once a second by the time that runs: the wall
 * clock is set, and jumps by days where a machine has slept. A tick looks at it once, however far it has jumped. The
 * timer does not keep the process alive.
 */
export function steadyTicks(clock: Clock): Ticks {
  return (onTick) => {
    let cancel = (): void => {}
    const wait = (): void => {
      cancel = clock.after(EVERY_MS - (clock.now() % EVERY_MS), () => {
        onTick()
        wait()
      })
    }
    wait()
    return () => cancel()
  }
}
