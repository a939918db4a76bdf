import type { AccountSinks } from '../channels/account-sinks.ts'
import type { ChannelHub } from '../channels/hub.ts'
import { type Clock, within } from '../core/clock.ts'
import { deferred } from '../core/deferred.ts'
import type { Logger } from '../core/logger.ts'
import { noticingGone } from '../core/program-gone.ts'
import type { DeliveryService } from '../delivery/delivery.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { LocalApi } from '../http/local-api.ts'
import type { McpTools } from '../mcp/server-tools.ts'
import type { ScheduleService } from '../schedule/schedule-service.ts'
import type { LiveHub } from '../sessions/service/live-events.ts'
import type { RunningTurns } from '../sessions/turns/running-turns.ts'
import type { Store } from '../store/store.ts'

/** The parts that a stop ends, as far as it needs them. */
export interface StoppedParts {
  readonly sinks: Pick<AccountSinks, 'close'>
  readonly schedules: Pick<ScheduleService, 'stop'>
  readonly running: Pick<RunningTurns, 'drain'>
  readonly delivery: Pick<DeliveryService, 'stop'>
  readonly hub: Pick<ChannelHub, 'stop'>
  readonly api: Pick<LocalApi, 'close'>
  readonly live: Pick<LiveHub, 'stop'>
  readonly mcp: Pick<McpTools, 'close'>
  readonly hooks: Pick<Hooks, 'settled' | 'end'>
  readonly store: Pick<Store, 'close'>
}

/**
 * The time for a whole stop (F-A20). A service manager kills after 30 s (`TimeoutStopSec`), and closing a file needs
 * some.
 */
export const STOP_WITHIN_MS = 25_000
/**
 * The time reserved for later steps, which one that hangs cannot use. Time that a step saves is left to those after it.
 */
const KEPT_MS = { delivery: 4_000, channels: 2_000, api: 1_000 }
const BEHIND_CHANNELS = KEPT_MS.api
const BEHIND_DELIVERY = BEHIND_CHANNELS + KEPT_MS.channels
const BEHIND_TURNS = BEHIND_DELIVERY + KEPT_MS.delivery

interface StopDeps {
  readonly clock: Clock
  readonly logger: Logger
  /** Aborted with the error when the disk has failed (F-F03). */
  readonly broken: AbortSignal
}

export interface Stopping {
  readonly stopped: Promise<void>
  stop(): Promise<void>
}

/**
 * Returns the two ways a daemon ends: by request, in order; or by its disk, at once, since no orderly end could be
 * recorded.
 */
export function createStop(parts: StoppedParts, { clock, logger, broken }: StopDeps): Stopping {
  const fallen = new Promise<never>((_, reject) => {
    if (broken.aborted) reject(broken.reason)
    broken.addEventListener('abort', () => reject(broken.reason), { once: true })
  })
  const ended = deferred()
  const stopped = Promise.race([ended.promise, fallen])
  // A caller who does not await this learns of the failure from `stop`.
  stopped.catch(() => {})
  let stopping: Promise<void> | undefined
  const close = (): Promise<void> => closeDaemon(parts, { clock, logger }).finally(ended.resolve)
  return {
    stopped,
    stop() {
      stopping ??= broken.aborted ? fallen : Promise.race([close(), fallen])
      return stopping
    },
  }
}

/**
 * Stops the entrance first, so that nothing new is promised, and the channels last, so that running turns can still
 * answer. A part that does not stop in its time is abandoned: its state is on disk, and the next start resumes it.
 */
export async function closeDaemon(
  parts: StoppedParts,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<void> {
  const { running, delivery, sinks, schedules, hub, api, live, mcp, hooks, store } = parts
  const until = clock.elapsed() + STOP_WITHIN_MS
  const left = (behind: number): number => Math.max(0, until - behind - clock.elapsed())
  const inTime = async (part: string, work: Promise<void>, behind: number): Promise<void> => {
    const ended = work.catch((err: unknown) => logger.error('A part of the daemon broke as it stopped', { part, err }))
    if (await within(clock, left(behind), ended)) return
    logger.warn('A part of the daemon did not stop in its time and is left behind', { part })
  }
  sinks.close()
  live.stop()
  await inTime('schedules', schedules.stop(), BEHIND_TURNS)
  await running.drain(left(BEHIND_TURNS))
  const programs = inTime('tool servers', mcp.close(), 0)
  await delivery.stop(left(BEHIND_DELIVERY))
  await inTime('channels', hub.stop(), BEHIND_CHANNELS)
  await inTime('api', api.close(), 0)
  await programs
  await inTime('hooks', hooks.settled(), 0)
  hooks.end()
  await store.close()
}

interface WatchedProgram {
  /** The logger by which a missing part of the program is noticed. */
  readonly logger: Logger
  /** Has a daemon end once a part is missing; returns the daemon. */
  watchedBy<Watched extends Stopping>(this: void, daemon: Watched): Watched
}

/** Ends a daemon whose program is replaced on the disk: the service manager starts the other version. */
export function watchProgram(given: Logger): WatchedProgram {
  const gone = new AbortController()
  const logger = noticingGone(given, () => gone.abort())
  return {
    logger,
    watchedBy(daemon) {
      const end = (): void => {
        given.error('Another version of Parley was installed while this one runs: it ends, and the next start goes on')
        daemon.stop().catch(() => {})
      }
      if (gone.signal.aborted) end()
      else gone.signal.addEventListener('abort', end, { once: true })
      return daemon
    },
  }
}
