import type { SessionId } from '../../core/ids.ts'

/** How a new message of a session is taken: its own turn now, behind the running one, or not at all. */
export type Admission = 'start' | 'wait' | 'full'

/**
 * Which sessions have a turn, in memory; the messages themselves wait in the inbox, so a restart loses nothing. Turns of
 * one session run one after another, sessions run side by side (S33, K38). Every call is made inside a store
 * transaction, which puts them in the order of the commits.
 */
export interface TurnQueue {
  /** How the session would take a message now. */
  peek(session: SessionId): Admission
  /** Takes the place that `peek` saw. A caller whose transaction fails gives it back with `undo`. */
  admit(session: SessionId): void
  undo(session: SessionId, admission: Admission): void
  /** A turn takes so many of the messages that waited. */
  taken(session: SessionId, messages: number): void
  /** The turn ended and nothing waits: the session is idle and forgotten. */
  free(session: SessionId): void
  /** Boot: the session already has a turn, or messages that wait for one. */
  occupy(session: SessionId, waiting: number): void
  busy(session: SessionId): boolean
  readonly max: number
}

/** `max`: messages that may wait behind a running turn of one session (DESIGN decision 16). */
export function createTurnQueue(max: number): TurnQueue {
  const waiting = new Map<SessionId, number>()
  return {
    max,
    peek(session) {
      const count = waiting.get(session)
      if (count === undefined) return 'start'
      return count >= max ? 'full' : 'wait'
    },
    admit(session) {
      const count = waiting.get(session)
      waiting.set(session, count === undefined ? 0 : Math.min(count + 1, max))
    },
    undo(session, admission) {
      const count = waiting.get(session)
      if (admission === 'start') waiting.delete(session)
      if (admission === 'wait' && count) waiting.set(session, count - 1)
    },
    taken: (session, messages) => void waiting.set(session, Math.max(0, (waiting.get(session) ?? 0) - messages)),
    free: (session) => void waiting.delete(session),
    occupy: (session, count) => void waiting.set(session, count),
    busy: (session) => waiting.has(session),
  }
}
