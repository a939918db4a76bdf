import { backOffMs } from '../../core/backoff.ts'
import { type Clock, sleep, within } from '../../core/clock.ts'
import { type Deferred, deferred } from '../../core/deferred.ts'
import { errorCode } from '../../core/errors.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import { isProgramGone } from '../../core/program-gone.ts'
import type { TurnResult } from '../../core/turn.ts'
import type { StartedTurn } from './started-turn.ts'

/** The turns this process is running, so that they can be stopped and waited for. */
export interface RunningTurns {
  /**
   * Runs a claimed turn; resolves when it has ended. An error is logged with its trace id and never ends the daemon.
   */
  begin(turn: StartedTurn, run: (signal: AbortSignal) => Promise<unknown>): Promise<void>
  /**
   * Aborts the session's turn for good, or only the turn `only`; resolves when its end is on disk. Returns undefined if
   * there is none.
   */
  abort(session: SessionId, only?: TurnId | 'any'): Promise<void> | undefined
  /**
   * Returns true if the turn's abort is no outcome: the daemon is stopping, and nobody has stopped the turn for good.
   * With a result, if that is none: it was aborted so, or the program was replaced while the turn ran.
   */
  suspends(turn: StartedTurn, result?: TurnResult): boolean
  /** Calls `store` until it succeeds: neither an answer nor the outcome of a command is lost because the disk is full. */
  untilStored<T>(store: (failure?: unknown) => Promise<T>): Promise<T | undefined>
  /**
   * Starts no further turn and waits for those that run; shortly before `ms` have passed it aborts them, and they stay
   * claimed for the next start.
   */
  drain(ms: number): Promise<void>
  /** Resolves when a turn of the session ends next, its end on disk. */
  nextEnd(session: SessionId): Promise<void>
  has(session: SessionId): boolean
  readonly draining: boolean
  /** Aborts when no further turn starts. */
  readonly stopping: AbortSignal
}

interface Running {
  readonly id: TurnId
  readonly control: AbortController
  readonly done: Promise<void>
  stopped: boolean
}

/** The abort reason of a turn that the next start will continue. */
export const SUSPENDED = 'put down'

const PACE = { firstMs: 200, longestMs: 10_000 }

export interface RunningTurnsPorts {
  /** Called when no further turn starts. */
  draining?(): void
  /** Returns true while the turn of a session waits for a person, which a stop cannot wait for. */
  waits?(session: SessionId): boolean
}

export function createRunningTurns(clock: Clock, logger: Logger, ports: RunningTurnsPorts = {}): RunningTurns {
  const ends = new Map<SessionId, Deferred>()
  const running = new Map<SessionId, Running>()
  const drained = new AbortController()

  async function toItsEnd(
    { id: turnId, traceId, session: { id: session } }: StartedTurn,
    control: AbortController,
    run: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    try {
      await started(run, control.signal)
    } catch (err) {
      logger.error('A turn broke off', { err, traceId, turnId })
    }
    if (running.get(session)?.control === control) running.delete(session)
    ends.get(session)?.resolve()
    ends.delete(session)
  }

  return {
    begin(turn, run) {
      const session = turn.session.id
      const control = new AbortController()
      const done = toItsEnd(turn, control, run)
      running.set(session, { id: turn.id, control, done, stopped: false })
      return done
    },

    abort(session, only = 'any') {
      const turn = running.get(session)
      if (turn === undefined || (only !== 'any' && only !== turn.id)) return undefined
      turn.stopped = true
      turn.control.abort()
      return turn.done
    },

    suspends({ session }, result) {
      if (result?.kind === 'failed') return isProgramGone(result.cause)
      const stopping = drained.signal.aborted && running.get(session.id)?.stopped !== true
      return stopping && (result === undefined || result.kind === 'aborted')
    },

    async untilStored(store) {
      let failure: unknown
      for (let attempt = 1; ; attempt++) {
        try {
          return await store(failure)
        } catch (err) {
          failure = err
          // Another process owns the turn now, which the epoch fences.
          if (errorCode(err) === 'conflict' || drained.signal.aborted) throw err
          logger.error('An outcome could not be stored and will be tried again', { err })
          await sleep(clock, backOffMs(attempt, PACE), drained.signal)
        }
      }
    },

    async drain(ms) {
      drained.abort()
      ports.draining?.()
      const all = (): Promise<unknown> => Promise.all([...running.values()].map(({ done }) => done))
      let cancel = (): void => {}
      const suspendWaiting = (): void => {
        for (const [session, { control }] of running) if (ports.waits?.(session)) control.abort(SUSPENDED)
        // Again and again: a turn may come to its question only now.
        cancel = clock.after(LOOK_AGAIN_MS, suspendWaiting)
      }
      suspendWaiting()
      await within(clock, Math.max(0, ms - LAST_GRACE_MS), all())
      cancel()
      for (const { control } of running.values()) control.abort(SUSPENDED)
      await within(clock, LAST_GRACE_MS, all())
    },

    nextEnd(session) {
      const end = ends.get(session) ?? deferred()
      ends.set(session, end)
      return end.promise
    },

    has: (session) => running.has(session),
    stopping: drained.signal,
    get draining() {
      return drained.signal.aborted
    },
  }
}

/** An error before the first await rejects like any other, once the turn is known to run. */
function started(run: (signal: AbortSignal) => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  try {
    return run(signal)
  } catch (error) {
    return Promise.reject(error)
  }
}

/** The time in which aborted turns can end; longer than any step between two awaits takes. */
const LAST_GRACE_MS = 2_000
/** The time after which a stop looks anew whether a turn waits for a person. */
const LOOK_AGAIN_MS = 100
