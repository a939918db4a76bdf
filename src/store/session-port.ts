import type { AgentProfile } from '../core/agent-profile.ts'
import type { Namespace } from '../core/caller.ts'
import type { AgentId, ScopeKey, SessionId } from '../core/ids.ts'
import type { DescriptionSource, Session, SessionDraft, SessionIdentity, SessionKind } from '../core/session.ts'
import type { SessionOverrides, SettingPatch } from '../core/session-settings.ts'

/** No read but `deleted` knows a deleted session (C32). */
export interface SessionReader {
  get(id: SessionId): Promise<Session | undefined>
  /** The session a scope key points to now (S5). */
  current(scopeKey: ScopeKey): Promise<Session | undefined>
  /** By any of its names, in any case: id, scope key, alias, display key; of several the one active last (K25). */
  resolve(name: string): Promise<Session | undefined>
  /** Newest activity first. `limit` 1-200, else `invalid`. What cannot be read is neither listed nor counted. */
  list(query: SessionQuery): Promise<SessionPage>
  /** Every session with an override. */
  overridden(): Promise<readonly OverriddenSession[]>
  /** Deleted and not yet purged, by the ids that `remove` gave them, at most `limit`. */
  deleted(limit: number): Promise<readonly SessionId[]>
  /** Those a scope has had, newest activity first; its display key is the same for all of them. */
  ofScope(scope: Pick<Session, 'scopeKey' | 'displayKey'>, limit: number): Promise<readonly Session[]>
  /** Shown under this display key, or under it with a topic or further dimensions; newest activity first. */
  under(displayKey: string, limit: number): Promise<readonly Session[]>
}

export interface SessionQuery {
  readonly limit: number
  readonly offset: number
  /** Also the inactive ones (S9). */
  readonly inactive: boolean
  /** Only these; absent: all. */
  readonly kinds?: readonly SessionKind[]
  readonly agents?: readonly AgentId[]
  /** Only sessions of tasks that one of these began; `none`: only those that no other began. Absent: all. */
  readonly parents?: readonly SessionId[] | 'none'
  /** Leaves out what was last active before: inclusive, ms since the epoch. */
  readonly activeSince?: number
  /** Only ids that begin with it and a colon (S42). */
  readonly namespace?: Namespace
  /** Only sessions that one of them took part in (S20); empty: none. */
  readonly participants?: readonly string[]
}

export interface OverriddenSession {
  readonly id: SessionId
  readonly scopeKey: ScopeKey
  /** Its scope key points to it. */
  readonly current: boolean
  readonly overrides: SessionOverrides
}

export interface SessionPage {
  readonly sessions: readonly Session[]
  readonly total: number
}

/** New metadata of a session; what is undefined is taken away. */
export type MetadataChange = Readonly<Record<string, string | undefined>>

/** The agent with which a turn of a session begins. */
export interface AgentAdoption {
  readonly version: string
  /** The agent itself, for a session that keeps it. */
  readonly profile?: AgentProfile
}

export interface SessionWriter {
  /** The identity of the current session of a scope: many messages of a known chat read it once. */
  identity(scopeKey: ScopeKey): Promise<SessionIdentity | undefined>
  /** Makes the row and points its scope key at it. */
  create(draft: SessionDraft, at: number): Promise<Session>
  /** Merges metadata key by key, new values win; an inactive session becomes active (S11, S18). */
  reopen(id: SessionId, metadata: MetadataChange, at: number): Promise<void>
  /** Hidden from lists from now on; its scope key keeps pointing at it until `create` moves it (S10). */
  deactivate(id: SessionId, at: number): Promise<void>
  /** Points the scope key of a session at it, and makes it active; what it did last stays. Unknown: `not_found`. */
  point(id: SessionId): Promise<void>
  /** Changes the settings that the patch names; values of a later version under other names stay. */
  patchOverrides(id: SessionId, patch: SettingPatch): Promise<void>
  /** One line; a person's own words are only replaced by a person. */
  describe(id: SessionId, description: string, source: DescriptionSource): Promise<void>
  /**
   * Takes a user's text that was deleted out of what is shown of the session: preview and fallback description. `now`
   * stands there instead, where it was edited.
   */
  unsay(id: SessionId, said: string, now?: string): Promise<void>
  /**
   * Takes it out of every read and its scope key off it; its id is free from then on. Returns the id under which what
   * it holds is purged afterwards (C32).
   */
  remove(id: SessionId, at: number): Promise<SessionId>
  /** Takes away the row of a deleted session. */
  purge(id: SessionId): Promise<void>
  /** Another agent answers in it from now on. */
  setAgent(id: SessionId, agent: AgentId): Promise<void>
  /** Records the agent of the turn that begins; a profile that the session has already stays. */
  adoptAgent(id: SessionId, adoption: AgentAdoption): Promise<void>
}
