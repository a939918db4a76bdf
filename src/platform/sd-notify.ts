import { spawn } from 'node:child_process'
import type { Clock } from '../core/clock.ts'
import { toError } from '../core/errors.ts'

/** The variables that systemd sets for a unit of `Type=notify`, and the path to search for `systemd-notify`. */
export interface NotifyEnvironment {
  readonly NOTIFY_SOCKET?: string | undefined
  readonly WATCHDOG_USEC?: string | undefined
  readonly WATCHDOG_PID?: string | undefined
  readonly PATH?: string | undefined
}

/**
 * Notifies the service manager of the daemon's state. Every call resolves, also when the manager could not be reached.
 */
export interface Notifier {
  /** Called once messages are accepted; `status` is the line of `systemctl status`. */
  ready(status?: string): Promise<void>
  stopping(): Promise<void>
  status(text: string): Promise<void>
  /** Sends one keep-alive. */
  watchdog(): Promise<void>
  /** A third of the time that the unit allows, so that a keep-alive may be late; absent without a watchdog. */
  readonly watchdogMs?: number
}

/** The longest time to wait for a manager to read a message. */
const DEADLINE_MS = 5_000

/**
 * Sends by `systemd-notify`, since Node has no unix datagram socket; does nothing outside systemd. The tool waits until
 * the manager has read the message (no `--no-block`), or its process would be gone before it is attributed; the unit
 * needs `NotifyAccess=all`. The tool's environment has the socket and the path, and no secret.
 */
export function createNotifier(env: NotifyEnvironment, onFailure: (error: Error) => void = () => {}): Notifier {
  const { NOTIFY_SOCKET: socket, PATH = '/usr/bin:/bin' } = env
  let last = Promise.resolve()
  const send = (...assignments: readonly string[]): Promise<void> => {
    if (!socket) return Promise.resolve()
    const send = (): Promise<void> => notify(assignments, { NOTIFY_SOCKET: socket, PATH })
    // Messages are sent one after another, so that none overtakes an earlier one.
    last = last.then(send).catch((error) => onFailure(toError(error)))
    return last
  }
  const watchdogMs = socket ? signPeriod(env) : undefined
  return {
    ready: (text) => (text === undefined ? send('READY=1') : send('READY=1', statusLine(text))),
    stopping: () => send('STOPPING=1'),
    status: (text) => send(statusLine(text)),
    watchdog: () => send('WATCHDOG=1'),
    ...(watchdogMs === undefined ? {} : { watchdogMs }),
  }
}

/** Returns the status as one line. */
function statusLine(text: string): string {
  return `STATUS=${text.replace(/\p{Cc}+/gu, ' ')}`
}

function signPeriod({ WATCHDOG_USEC, WATCHDOG_PID }: NotifyEnvironment): number | undefined {
  if (WATCHDOG_PID && WATCHDOG_PID !== String(process.pid)) return undefined
  const microseconds = Number(WATCHDOG_USEC)
  return microseconds > 0 ? Math.floor(microseconds / 3_000) : undefined
}

function notify(assignments: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    const tool = spawn('systemd-notify', assignments, { env, stdio: 'ignore', timeout: DEADLINE_MS })
    tool.once('error', reject)
    tool.once('exit', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`systemd-notify ended with ${signal ?? code}`))
    })
  })
}

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
