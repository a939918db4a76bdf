import type { ScopeKey, SessionId } from '../core/ids.ts'
import type { Session } from '../core/session.ts'

/** Sessions kept; one more drops the one that was read first. */
const KEPT = 1_000

/** The fields of a session that an append changes. */
export type Progress = Pick<
  Session,
  'lastSeq' | 'messageCount' | 'turnCount' | 'lastActivityAt' | 'preview' | 'description'
>

/** A session that is kept: its number in the store, and how far it has come. */
export interface CurrentSession {
  readonly no: number
  readonly progress: Progress
}

interface Kept extends CurrentSession {
  readonly scopeKey: ScopeKey
  /** The session when it was last read or asked for. */
  session: Session
  progress: Progress
}

/**
 * The current session of a scope as the open transaction sees it, so that a message of a known chat reads no row. Only
 * transactions use and feed it; every write to a session passes by here, and whatever is undone empties it.
 */
export class CurrentSessions {
  readonly #ofScope = new Map<ScopeKey, Kept>()
  readonly #ofId = new Map<SessionId, Kept>()

  find(scopeKey: ScopeKey): Session | undefined {
    const kept = this.#ofScope.get(scopeKey)
    if (kept === undefined) return undefined
    if (kept.progress !== kept.session) {
      kept.session = { ...kept.session, ...kept.progress }
      kept.progress = kept.session
    }
    return kept.session
  }

  /** Takes in the session that `scopeKey` points to. */
  keep(scopeKey: ScopeKey, session: Session, no: number): void {
    const before = this.#ofScope.get(scopeKey)
    if (before !== undefined) this.forget(before.session.id)
    this.forget(session.id)
    const kept = { no, scopeKey, session, progress: session }
    this.#ofScope.set(scopeKey, kept)
    this.#ofId.set(session.id, kept)
    if (this.#ofScope.size <= KEPT) return
    const [first] = this.#ofScope.values()
    if (first !== undefined) this.forget(first.session.id)
  }

  /** The session if it is kept. */
  get(id: SessionId): CurrentSession | undefined {
    return this.#ofId.get(id)
  }

  advance(id: SessionId, progress: Progress): void {
    const kept = this.#ofId.get(id)
    if (kept !== undefined) kept.progress = progress
  }

  /** It was changed otherwise: the next look reads it. */
  forget(id: SessionId): void {
    const kept = this.#ofId.get(id)
    if (kept === undefined) return
    this.#ofId.delete(id)
    this.#ofScope.delete(kept.scopeKey)
  }

  clear(): void {
    this.#ofScope.clear()
    this.#ofId.clear()
  }
}
