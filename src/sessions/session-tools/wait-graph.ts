import type { SessionId } from '../../core/ids.ts'

/**
 * The sessions whose turns wait for another session, in memory: after a restart the resumed turns ask again. A session
 * runs one turn at a time, and a turn waits for one answer at a time, so each waits for one other at most.
 */
export interface WaitGraph {
  /**
   * Returns true if the wait would never end: the session asked waits, directly or through others, for the one that
   * asks.
   */
  closesCircle(asking: SessionId, asked: SessionId): boolean
  /** Begins a wait and returns the function that ends it. */
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
