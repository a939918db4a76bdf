import { LRUCache } from 'lru-cache'
import type { ScopeKey, SessionId } from '../core/ids.ts'
import type { Session, SessionIdentity } from '../core/session.ts'

/** Sessions of which the identity is kept. */
const MOST_KNOWN = 1_000
/** Participants of one session that are kept. */
const MOST_PARTICIPANTS = 100

/**
 * The identity of sessions by scope key, so that a message of a known chat does not read and parse the session's row,
 * and their participants, so that it does not insert one who has joined: 35 and 5 of 470 µs of an echo. For a store
 * that one process writes. Every write to a row of `sessions`, `scopes` or `participants` passes here and drops what it
 * changes, once more when it is undone: a transaction may have read its own write again.
 */
export class KnownSessions {
  readonly #byScope = new LRUCache<ScopeKey, SessionIdentity>({
    max: MOST_KNOWN,
    dispose: (session, scopeKey) => {
      if (this.#byId.get(session.id)?.scopeKey === scopeKey) this.#byId.delete(session.id)
    },
  })
  readonly #byId = new Map<SessionId, Known>()

  get(scopeKey: ScopeKey): SessionIdentity | undefined {
    return this.#byScope.get(scopeKey)
  }

  keep(scopeKey: ScopeKey, session: SessionIdentity): void {
    this.#byScope.set(scopeKey, session)
    this.#byId.set(session.id, { scopeKey, participants: new Set() })
  }

  /** Returns true if the participant is in the store already, false if it may be new. */
  hasJoined(id: SessionId, participant: string): boolean {
    return this.#byId.get(id)?.participants.has(participant) ?? false
  }

  keepParticipant(id: SessionId, participant: string): void {
    const participants = this.#byId.get(id)?.participants
    if (participants === undefined) return
    if (participants.size >= MOST_PARTICIPANTS) participants.clear()
    participants.add(participant)
  }

  forgetParticipants(id: SessionId): void {
    this.#byId.get(id)?.participants.clear()
  }

  forget(id: SessionId): void {
    const known = this.#byId.get(id)
    if (known !== undefined) this.#byScope.delete(known.scopeKey)
  }

  forgetScope(scopeKey: ScopeKey): void {
    this.#byScope.delete(scopeKey)
  }

  clear(): void {
    this.#byScope.clear()
    this.#byId.clear()
  }
}

interface Known {
  readonly scopeKey: ScopeKey
  readonly participants: Set<string>
}

/** Only what is named here is kept: a value that changes with each message would be an old one. */
export function identityOf(session: Session): SessionIdentity {
  const {
    lastSeq,
    messageCount,
    turnCount,
    lastActivityAt,
    preview,
    description,
    descriptionSource,
    exportedAt,
    ...identity
  } = session
  return identity
}
