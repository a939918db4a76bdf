import type { ScopeKey, SessionId } from '../core/ids.ts'
import type { Session } from '../core/session.ts'

/** Sessions kept; one more drops the one that was read first. */
const KEPT = 1_000

/** What an append changes in a session. */
export type Progress = Pick<
  Session,
  'lastSeq' | 'messageCount' | 'turnCount' | 'lastActivityAt' | 'preview' | 'description'
>

/**
 * The current session of a scope as the open transaction sees it, so that a message of a known chat reads no row. Only
 * transactions use and feed it; every write to a session passes by here, and whatever is undone empties it.
 */
export class CurrentSessions {
  readonly #sessions = new Map<ScopeKey, Session>()
  readonly #scopes = new Map<SessionId, ScopeKey>()

  find(scopeKey: ScopeKey): Session | undefined {
    return this.#sessions.get(scopeKey)
  }

  /** Takes in the session that `scopeKey` points to. */
  keep(scopeKey: ScopeKey, session: Session): void {
    const before = this.#sessions.get(scopeKey)
    if (before !== undefined) this.forget(before.id)
    this.forget(session.id)
    this.#sessions.set(scopeKey, session)
    this.#scopes.set(session.id, scopeKey)
    const [first] = this.#sessions.values()
    if (this.#sessions.size > KEPT && first !== undefined) this.forget(first.id)
  }

  advance(id: SessionId, progress: Progress): void {
    const scopeKey = this.#scopes.get(id)
    const session = scopeKey === undefined ? undefined : this.#sessions.get(scopeKey)
    if (scopeKey !== undefined && session !== undefined) this.#sessions.set(scopeKey, { ...session, ...progress })
  }

  /** It was changed otherwise: the next look reads it. */
  forget(id: SessionId): void {
    const scopeKey = this.#scopes.get(id)
    if (scopeKey === undefined) return
    this.#scopes.delete(id)
    this.#sessions.delete(scopeKey)
  }

  clear(): void {
    this.#sessions.clear()
    this.#scopes.clear()
  }
}
