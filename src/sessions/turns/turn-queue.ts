import type { SessionId } from '../../core/ids.ts'
import type { StoreWriter } from '../../store/store.ts'

/** The place of a new message: a turn of its own now, behind the running one, or none. */
export type QueuePlace = 'start' | 'wait' | 'full'

/**
 * The sessions that have a turn, in memory; the messages themselves wait in the inbox, so a restart loses nothing.
 * Turns of one session run one after another, sessions run side by side (S33, K38). Every change is made inside a store
 * transaction, which orders them like the commits; one that is undone reverts its changes.
 */
export interface TurnQueue {
  /** Returns the place of a new message, if `leaving` places behind the turn are left to others. */
  peek(session: SessionId, leaving?: number): QueuePlace
  /** Occupies the place that `peek` returned. */
  admit(session: SessionId, tx: Undoable): void
  /** Called when a turn binds this many of the messages that waited. */
  taken(session: SessionId, messages: number, tx: Undoable): void
  /** Called when the turn ended and nothing waits: the session is idle and forgotten. */
  free(session: SessionId, tx: Undoable): void
  /** Called at boot for a session that already has a turn, or messages that wait for one. */
  occupy(session: SessionId, waiting: number): void
  busy(session: SessionId): boolean
  readonly max: number
}

type Undoable = Pick<StoreWriter, 'afterUndo'>

/** Allows at most `max` messages to wait behind a running turn of one session (R32). */
export function createTurnQueue(max: number): TurnQueue {
  const waiting = new Map<SessionId, number>()
  const put = (session: SessionId, count: number | undefined): void => {
    if (count === undefined) waiting.delete(session)
    else waiting.set(session, count)
  }
  const change = (session: SessionId, tx: Undoable, count: number | undefined): void => {
    const before = waiting.get(session)
    tx.afterUndo(() => put(session, before))
    put(session, count)
  }
  return {
    max,
    peek(session, leaving = 0) {
      const count = waiting.get(session)
      if (count === undefined) return 'start'
      return count >= max - leaving ? 'full' : 'wait'
    },
    admit(session, tx) {
      const count = waiting.get(session)
      change(session, tx, count === undefined ? 0 : Math.min(count + 1, max))
    },
    taken: (session, messages, tx) => change(session, tx, Math.max(0, (waiting.get(session) ?? 0) - messages)),
    free: (session, tx) => change(session, tx, undefined),
    occupy: put,
    busy: (session) => waiting.has(session),
  }
}
