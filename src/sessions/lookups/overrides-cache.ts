import type { ScopeKey, SessionId } from '../../core/ids.ts'
import type { SendOverride, Session } from '../../core/session.ts'
import type { SessionOverrides } from '../../core/session-settings.ts'
import type { StoreReader } from '../../store/store.ts'

/**
 * The overrides of all sessions that have any, in memory, so that every message is decided by them without a query. The
 * rows are the truth; whoever changes one updates the cache after the commit.
 */
export interface OverridesCache {
  /** Returns the send override of the session this key points to now (T26). */
  send(scopeKey: ScopeKey): SendOverride | undefined
  /** True if `send` is `deny` anywhere. */
  readonly silences: boolean
  of(session: SessionId): SessionOverrides
  /**
   * Called when overrides were changed, or carried over to a new session. `current` says that its scope key points to
   * it.
   */
  set(session: Pick<Session, 'id' | 'scopeKey'>, overrides: SessionOverrides, current: boolean): void
  /** Called when the session is deleted. */
  forget(session: Pick<Session, 'id' | 'scopeKey'>, current: boolean): void
  /** Reads all rows again: called after a chat has moved, where many change at once (decision 0017). */
  reload(): Promise<void>
}

const NONE: SessionOverrides = {}

export async function loadOverridesCache(
  sessions: Pick<StoreReader['sessions'], 'overridden'>,
): Promise<OverridesCache> {
  const bySession = new Map<SessionId, SessionOverrides>()
  const byScope = new Map<ScopeKey, SendOverride>()
  const silent = new Set<ScopeKey>()
  const point = (scopeKey: ScopeKey, send: SendOverride | undefined): void => {
    if (send === 'deny') silent.add(scopeKey)
    else silent.delete(scopeKey)
    if (send === undefined) byScope.delete(scopeKey)
    else byScope.set(scopeKey, send)
  }
  const book: OverridesCache = {
    send: (scopeKey) => byScope.get(scopeKey),
    get silences() {
      return silent.size > 0
    },
    of: (session) => bySession.get(session) ?? NONE,
    set({ id, scopeKey }, overrides, current) {
      if (Object.keys(overrides).length === 0) bySession.delete(id)
      else bySession.set(id, overrides)
      if (current) point(scopeKey, overrides.sendPolicy)
    },
    forget({ id, scopeKey }, current) {
      bySession.delete(id)
      if (current) point(scopeKey, undefined)
    },
    async reload() {
      const rows = await sessions.overridden()
      bySession.clear()
      byScope.clear()
      silent.clear()
      for (const { id, scopeKey, current, overrides } of rows) {
        bySession.set(id, overrides)
        if (current) point(scopeKey, overrides.sendPolicy)
      }
    },
  }
  await book.reload()
  return book
}
