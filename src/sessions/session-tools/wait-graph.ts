import type { SessionId } from '../../core/ids.ts'

/**
 * Which session's turn waits for which other session, in memory: after a restart the turns that go on ask again. A
 * session runs one turn at a time, and a turn waits for one answer at a time, so each waits for one other at most.
 */
export interface WaitGraph {
  /** The wait would never end: the session waited for waits, over however many others, for the one that asks. */
  closesCircle(asking: SessionId, asked: SessionId): boolean
  /** Returns what ends the wait. */
  begin(asking: SessionId, asked: SessionId): () => void
}

export function createWaitGraph(): WaitGraph {
  const waits = new Map<SessionId, SessionId>()
  return {
    closesCircle(asking, asked) {
      let next: SessionId | undefined = asked
      while (next !== undefined && next !== asking) next = waits.get(next)
      return next === asking
    },
    begin(asking, asked) {
      waits.set(asking, asked)
      return () => void waits.delete(asking)
    },
  }
}
