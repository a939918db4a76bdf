import type { SessionId } from '../../core/ids.ts'
import type { GrownText } from '../../core/operate-events.ts'

/** Notifies whoever waits for the answer of a session while it grows. */
export interface GrownTexts {
  /** Called whenever an answer has grown. Cheap. */
  grew(this: void, text: GrownText): void
  /** Calls `listener` with the texts of one session until the returned function is called. */
  follow(session: SessionId, listener: (text: GrownText) => void): () => void
}

export function createGrownTexts(): GrownTexts {
  const followed = new Map<SessionId, Set<(text: GrownText) => void>>()
  return {
    grew(text) {
      for (const listener of followed.get(text.session) ?? []) listener(text)
    },
    follow(session, listener) {
      const listeners = followed.get(session) ?? new Set()
      followed.set(session, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0 && followed.get(session) === listeners) followed.delete(session)
      }
    },
  }
}
