import { spawn } from 'node:child_process'
import { toError } from '../core/errors.ts'

/** What systemd sets for a unit of `Type=notify`, and where `systemd-notify` is looked for. */
export interface NotifyEnvironment {
  readonly NOTIFY_SOCKET?: string | undefined
  readonly WATCHDOG_USEC?: string | undefined
  readonly WATCHDOG_PID?: string | undefined
  readonly PATH?: string | undefined
}

/** Tells the service manager how the daemon is. Every call resolves, also when nobody could be told. */
export interface Notifier {
  /** Once messages are taken; `status` is the line of `systemctl status`. */
  ready(status?: string): Promise<void>
  stopping(): Promise<void>
  status(text: string): Promise<void>
  /** One sign of life. */
  watchdog(): Promise<void>
  /** A third of what the unit allows, so that a sign may be late; absent without a watchdog. */
  readonly watchdogMs?: number
}

/** A manager that has not read a message by then is not waited for. */
const DEADLINE_MS = 5_000

/**
 * Sends by `systemd-notify`, for Node has no unix datagram socket; does nothing outside systemd. The tool waits until
 * the manager has read the message (no `--no-block`), else its process would be gone before it is attributed; the unit
 * needs `NotifyAccess=all`. Of the environment it gets the socket and the path, no secret.
 */
export function createNotifier(env: NotifyEnvironment, onFailure: (error: Error) => void = () => {}): Notifier {
  const { NOTIFY_SOCKET: socket, PATH = '/usr/bin:/bin' } = env
  let last = Promise.resolve()
  const send = (...assignments: readonly string[]): Promise<void> => {
    if (!socket) return Promise.resolve()
    const told = (): Promise<void> => notify(assignments, { NOTIFY_SOCKET: socket, PATH })
    // One after another: no message overtakes an earlier one.
    last = last.then(told).catch((error) => onFailure(toError(error)))
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

/** A status is one line. */
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
