import type { Clock } from '../core/clock.ts'
import type { Notifier } from './sd-notify.ts'

export interface WatchdogOptions {
  readonly notifier: Pick<Notifier, 'watchdog' | 'watchdogMs'>
  readonly clock: Clock
  /**
   * Returns whether the daemon is healthy. While this is false or rejects no keep-alive is sent, and the service
   * manager then restarts the daemon.
   */
  healthy(): Promise<boolean>
}

/** Sends keep-alives while the daemon is healthy, until the returned function is called. */
export function startWatchdog({ notifier, clock, healthy }: WatchdogOptions): () => void {
  const { watchdogMs: every } = notifier
  if (every === undefined) return () => {}
  let stopped = false
  let cancel = (): void => {}
  const wait = (): void => {
    if (!stopped) cancel = clock.after(every, () => void check())
  }
  const check = async (): Promise<void> => {
    const well = await healthy().catch(() => false)
    if (well && !stopped) await notifier.watchdog()
    wait()
  }
  wait()
  return () => {
    stopped = true
    cancel()
  }
}
