import { LRUCache } from 'lru-cache'
import type { ScopeKey, SessionId } from '../core/ids.ts'
import type { SessionIdentity } from '../core/session.ts'

/** Sessions of which the identity is kept. */
const MOST_KNOWN = 1_000

/**
 * The identity of sessions by scope key, so that a message of a known chat does not read and parse the session's row:
 * it saves 35 of 470 µs of an echo. For a store that one process writes. Every write to a row of `sessions` or `scopes`
 * passes here and drops what it changes, once more when it is undone: a transaction may have read its own write again.
 */
export class KnownSessions {
  readonly #byScope = new LRUCache<ScopeKey, SessionIdentity>({
    max: MOST_KNOWN,
    dispose: (session, scopeKey) => {
      if (this.#scopeOf.get(session.id) === scopeKey) this.#scopeOf.delete(session.id)
    },
  })
  readonly #scopeOf = new Map<SessionId, ScopeKey>()

  get(scopeKey: ScopeKey): SessionIdentity | undefined {
    return this.#byScope.get(scopeKey)
  }

  keep(scopeKey: ScopeKey, session: SessionIdentity): void {
    this.#byScope.set(scopeKey, session)
    this.#scopeOf.set(session.id, scopeKey)
  }

  forget(id: SessionId): void {
    const scopeKey = this.#scopeOf.get(id)
    if (scopeKey !== undefined) this.#byScope.delete(scopeKey)
  }

  forgetScope(scopeKey: ScopeKey): void {
    this.#byScope.delete(scopeKey)
  }

  clear(): void {
    this.#byScope.clear()
    this.#scopeOf.clear()
  }
}
