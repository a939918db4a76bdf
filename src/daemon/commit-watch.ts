import type { StoreWatch } from '../store/store.ts'

/** Passes on what the store has committed to whoever subscribes once it is open. */
export interface CommitWatch {
  readonly watch: StoreWatch
  on(this: void, listener: StoreWatch): void
}

export function createCommitWatch(): CommitWatch {
  const listeners: StoreWatch[] = []
  return {
    on: (listener) => void listeners.push(listener),
    watch: {
      appended(session, seq, events) {
        for (const one of listeners) one.appended(session, seq, events)
      },
      deleted(session) {
        for (const one of listeners) one.deleted(session)
      },
      pointed(scopeKey, session) {
        for (const one of listeners) one.pointed(scopeKey, session)
      },
      taken(lastPlace) {
        for (const one of listeners) one.taken(lastPlace)
      },
    },
  }
}
