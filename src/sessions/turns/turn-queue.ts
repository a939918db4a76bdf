import type { SessionId } from '../../core/ids.ts'
import type { StoreWriter } from '../../store/store.ts'

/** How a new message of a session is taken: its own turn now, behind the running one, or not at all. */
export type QueuePlace = 'start' | 'wait' | 'full'

/**
 * Which sessions have a turn, in memory; the messages themselves wait in the inbox, so a restart loses nothing. Turns of
 * one session run one after another, sessions run side by side (S33, K38). Every change is made inside a store
 * transaction, which puts them in the order of the commits; one that is undone takes its changes back.
 */
export interface TurnQueue {
  /** How the session would take a message now, if so many places behind its turn are left to others. */
  peek(session: SessionId, leaving?: number): QueuePlace
  /** Takes the place that `peek` saw. */
  admit(session: SessionId, tx: Undoable): void
  /** A turn takes so many of the messages that waited. */
  taken(session: SessionId, messages: number, tx: Undoable): void
  /** The turn ended and nothing waits: the session is idle and forgotten. */
  free(session: SessionId, tx: Undoable): void
  /** Boot: the session already has a turn, or messages that wait for one. */
  occupy(session: SessionId, waiting: number): void
  busy(session: SessionId): boolean
  readonly max: number
}

type Undoable = Pick<StoreWriter, 'afterUndo'>

/** `max`: messages that may wait behind a running turn of one session (R32). */
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
