import { type Logger as CronLogger, createTask } from 'node-cron'
import type { Clock } from '../core/clock.ts'

/** Calls `onTick` now and then until the returned function is called. The moment of a tick says nothing about slots. */
export type Ticks = (onTick: () => void) => () => void

const STEADY_MS = 5_000
const EVERY_SECOND = '* * * * * *'
/** Its warnings about late ticks mean nothing here. */
const SILENT: CronLogger = { info() {}, warn() {}, error() {}, debug() {} }

/**
 * Ticks each second by node-cron. It waits by the wall clock and stops after that was set back, so a steady timer ticks
 * as well. Neither keeps the process alive.
 */
export function cronTicks(clock: Clock): Ticks {
  return (onTick) => {
    const task = createTask(EVERY_SECOND, onTick, { unref: true, suppressMissedWarning: true, logger: SILENT })
    void task.start()
    let cancel = (): void => {}
    const steady = (): void => {
      cancel = clock.after(STEADY_MS, () => {
        onTick()
        steady()
      })
    }
    steady()
    return () => {
      cancel()
      void task.destroy()
    }
  }
}
