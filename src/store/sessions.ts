import { ParleyError } from '../core/errors.ts'
import type { AgentId, ChannelId, ScopeKey, SessionId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { DescriptionSource, Session, SessionDraft, SessionIdentity } from '../core/session.ts'
import { normalName } from '../core/session-alias.ts'
import type { SettingPatch } from '../core/session-settings.ts'
import { DELETED_MARK } from './deleted-id.ts'
import { shownOf } from './event-effect.ts'
import { identityOf, type KnownSessions } from './known-sessions.ts'
import { removeMediaUses } from './media-uses.ts'
import { noteRemoval } from './removals.ts'
import { id, integer, readFound, readRows, text } from './rows.ts'
import { overriddenCodec, patchedParams, SESSION_COLUMNS, sessionCodec } from './session-codec.ts'
import { sessionFilter } from './session-filter.ts'
import { SessionListing } from './session-listing.ts'
import type {
  AgentAdoption,
  MetadataChange,
  OverriddenSession,
  SessionPage,
  SessionQuery,
  SessionReader,
  SessionWriter,
} from './session-port.ts'
import * as statements from './session-statements.ts'
import type { RepositoryDeps, Sql, SqlRow, SqlValue, WriteDeps } from './sql.ts'

const { CURRENT, INSERT, NO_OF, OVERRIDDEN, OVERRIDES, POINT_AT, SESSIONS, SET_OVERRIDES, STORED_OVERRIDES } =
  statements

export class SessionReading implements SessionReader {
  protected readonly sql: Sql
  readonly #logger: Logger
  readonly #caseSensitive: readonly ChannelId[]
  /** Numbers of rows that were found unreadable: no list holds them, so none counts them. */
  readonly #unreadable = new Set<number>()

  constructor({ sql, logger, caseSensitive }: RepositoryDeps) {
    this.sql = sql
    this.#caseSensitive = caseSensitive
    this.#logger = logger
  }

  async get(sessionId: SessionId): Promise<Session | undefined> {
    return one(await this.sql.get(`SELECT ${SESSION_COLUMNS} FROM ${SESSIONS} WHERE id = $1`, [sessionId]))
  }

  async current(scopeKey: ScopeKey): Promise<Session | undefined> {
    return one(await this.sql.get(CURRENT, [scopeKey]))
  }

  async resolve(name: string): Promise<Session | undefined> {
    const given = name.trim()
    const normal = normalName(name, this.#caseSensitive)
    return (
      (await this.get(given as SessionId)) ??
      (await this.get(normal as SessionId)) ??
      (await this.#carrying(normal)) ??
      (await this.#newestNamed(normal)) ??
      // A scope key; last, because a key that its caller gave may have become an alias of another session (K25).
      (await this.current(normal as ScopeKey)) ??
      (await this.current(given as ScopeKey))
    )
  }

  async #carrying(alias: string): Promise<Session | undefined> {
    const query = `SELECT ${SESSION_COLUMNS} FROM aliases JOIN scopes ON scopes.scope_key = aliases.scope_key
      CROSS JOIN ${SESSIONS} WHERE sessions.id = scopes.session_id AND aliases.alias = $1
      ORDER BY inactive_at IS NOT NULL, last_activity_at DESC, sessions.no DESC LIMIT 1`
    return one(await this.sql.get(query, [alias]))
  }

  async #newestNamed(displayKey: string): Promise<Session | undefined> {
    const query = `SELECT ${SESSION_COLUMNS} FROM ${SESSIONS} WHERE display_key = $1 ORDER BY sessions.no DESC LIMIT 1`
    return one(await this.sql.get(query, [displayKey]))
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    const { limit, offset } = query
    if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw new ParleyError('invalid', 'limit must be 1 to 200')
    if (!Number.isSafeInteger(offset) || offset < 0) throw new ParleyError('invalid', 'offset must be 0 or more')
    const { where, params, wide } = sessionFilter(query, [...this.#unreadable])
    const counted = wide ? SESSIONS : 'session_activity AS activity'
    // Both are asked for before either is awaited: no commit comes between.
    const counting = this.sql.get(`SELECT COUNT(*) AS total FROM ${counted} ${where}`, params)
    const next = params.length + 1
    const page = `SELECT ${SESSION_COLUMNS} FROM ${SESSIONS} ${where} ORDER BY last_activity_at DESC, activity.no DESC
      LIMIT ($${next} + 0) OFFSET ($${next + 1} + 0)`
    const [count, rows] = await Promise.all([counting, this.sql.all(page, [...params, limit, offset])])
    const sessions = readRows(sessionCodec, rows, this.#logger)
    if (sessions.length < rows.length) {
      const read = new Set<unknown>(sessions.map(({ id }) => id))
      for (const row of rows) if (!read.has(row.id)) this.#unreadable.add(integer(row, 'no'))
      return this.list(query)
    }
    return { sessions, total: count === undefined ? 0 : integer(count, 'total') }
  }

  async overridden(): Promise<readonly OverriddenSession[]> {
    const rows = await this.sql.all(
      `SELECT sessions.id, sessions.scope_key, ${OVERRIDES}, scopes.session_id AS current_id FROM sessions LEFT JOIN scopes ON scopes.scope_key = sessions.scope_key
        WHERE (${OVERRIDDEN}) AND deleted_at IS NULL`,
      [],
    )
    return readRows(overriddenCodec, rows, this.#logger)
  }

  async deleted(limit: number): Promise<readonly SessionId[]> {
    const query = 'SELECT id FROM sessions WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT $1'
    return (await this.sql.all(query, [limit])).map((row) => id(row, 'id'))
  }

  /** The index of display keys finds them. */
  async ofScope(
    { scopeKey, displayKey }: Pick<Session, 'scopeKey' | 'displayKey'>,
    limit: number,
  ): Promise<readonly Session[]> {
    const rows = await this.sql.all(
      `SELECT ${SESSION_COLUMNS} FROM ${SESSIONS} WHERE display_key = $1 AND scope_key = $2
        ORDER BY last_activity_at DESC, sessions.no DESC LIMIT $3`,
      [displayKey, scopeKey, limit],
    )
    return readRows(sessionCodec, rows, this.#logger)
  }

  /** `/` sets off a topic and `|` a dimension; `}` is the character after `|`, so the range holds both. */
  async under(displayKey: string, limit: number): Promise<readonly Session[]> {
    const rows = await this.sql.all(
      `SELECT ${SESSION_COLUMNS} FROM ${SESSIONS} WHERE display_key >= $1 AND display_key < $2
        AND (display_key = $1 OR SUBSTR(display_key, $3, 1) IN ('/', '|'))
        ORDER BY last_activity_at DESC, sessions.no DESC LIMIT $4`,
      [displayKey, `${displayKey}}`, displayKey.length + 1, limit],
    )
    return readRows(sessionCodec, rows, this.#logger)
  }
}

export class SessionWriting extends SessionReading implements SessionWriter {
  readonly #known: KnownSessions
  readonly #listing: SessionListing
  readonly #afterUndo: (takeBack: () => void) => void
  readonly #tellDeleted: (sessionId: SessionId) => void
  readonly #tellPointed: (scopeKey: ScopeKey, sessionId: SessionId) => void

  constructor(deps: WriteDeps) {
    super(deps)
    const { watch } = deps
    this.#tellDeleted = (sessionId) => watch && deps.sql.afterCommit(() => watch.deleted(sessionId))
    this.#tellPointed = (scopeKey, to) => watch && deps.sql.afterCommit(() => watch.pointed(scopeKey, to))
    this.#known = deps.known
    this.#listing = new SessionListing(deps.sql)
    this.#afterUndo = (takeBack) => deps.sql.afterUndo(takeBack)
  }

  async identity(scopeKey: ScopeKey): Promise<SessionIdentity | undefined> {
    const known = this.#known.get(scopeKey)
    if (known !== undefined) return known
    const session = await this.current(scopeKey)
    if (session !== undefined) this.#known.keep(scopeKey, identityOf(session))
    return session
  }

  async create(draft: SessionDraft, at: number): Promise<Session> {
    const row = await this.#insert(draft, at)
    if (row === undefined) throw new ParleyError('conflict', `the session ${draft.id} exists already`)
    const activity = 'INSERT INTO session_activity (no, last_activity_at) VALUES ($1, $2)'
    await this.sql.run(activity, [integer(row, 'no'), at])
    await this.sql.get(POINT_AT, [draft.id])
    await this.#listing.relist(draft.id)
    this.#changed(() => this.#known.forgetScope(draft.scopeKey))
    this.#tellPointed(draft.scopeKey, draft.id)
    const made = await this.get(draft.id)
    if (made === undefined) throw unknownSession(draft.id)
    return made
  }

  async #insert(draft: SessionDraft, at: number): Promise<SqlRow | undefined> {
    const settings = draft.settingsOf && (await this.sql.get(STORED_OVERRIDES, [draft.settingsOf]))
    return this.sql.get(INSERT, [
      draft.id,
      draft.scopeKey,
      JSON.stringify(draft.scope),
      draft.agentId,
      draft.kind,
      draft.displayKey,
      draft.chatType,
      JSON.stringify(draft.source),
      JSON.stringify(draft.metadata),
      at,
      draft.agentProfile === undefined ? null : JSON.stringify(draft.agentProfile),
      draft.parent ?? null,
      ...patchedParams(settings ?? {}, { set: {}, inherit: [] }),
    ])
  }

  /** Writes only if something changes: it is called for every message of a known chat. */
  async reopen(sessionId: SessionId, metadata: MetadataChange, at: number): Promise<void> {
    const session = await this.get(sessionId)
    if (session === undefined) throw unknownSession(sessionId)
    const changed = Object.entries(metadata).some(([key, value]) => session.metadata[key] !== value)
    if (!changed && session.inactiveAt === undefined) return
    const merged = JSON.stringify({ ...session.metadata, ...metadata })
    await this.#change('UPDATE sessions SET metadata = $2 WHERE id = $1', [sessionId, merged])
    const query = `UPDATE session_activity SET inactive_at = NULL, last_activity_at = $2 WHERE ${NO_OF}`
    await this.#changeActivity(query, [sessionId, at])
  }

  async deactivate(sessionId: SessionId, at: number): Promise<void> {
    const query = `UPDATE session_activity SET inactive_at = COALESCE(inactive_at, $2) WHERE ${NO_OF}`
    await this.#changeActivity(query, [sessionId, at])
  }

  async point(sessionId: SessionId): Promise<void> {
    const row = await this.sql.get(POINT_AT, [sessionId])
    if (row === undefined) throw unknownSession(sessionId)
    await this.#changeActivity(`UPDATE session_activity SET inactive_at = NULL WHERE ${NO_OF}`, [sessionId])
    const scopeKey = id<ScopeKey>(row, 'scope_key')
    this.#changed(() => this.#known.forgetScope(scopeKey))
    this.#tellPointed(scopeKey, sessionId)
  }

  async patchOverrides(sessionId: SessionId, patch: SettingPatch): Promise<void> {
    const row = await this.sql.get(STORED_OVERRIDES, [sessionId])
    await this.#change(SET_OVERRIDES, [sessionId, ...patchedParams(row ?? {}, patch)])
  }

  async describe(sessionId: SessionId, description: string, source: DescriptionSource): Promise<void> {
    const query = `UPDATE session_activity SET
      description = CASE WHEN description_source = 'user' AND $3 <> 'user' THEN description ELSE $2 END,
      description_source = CASE WHEN description_source = 'user' THEN description_source ELSE $3 END WHERE ${NO_OF}`
    await this.#change(query, [sessionId, description, source])
  }

  async unsay(sessionId: SessionId, said: string, now = ''): Promise<void> {
    const { preview, description } = shownOf(said)
    const instead = shownOf(now)
    const query = `UPDATE session_activity SET preview = CASE WHEN preview = $2 THEN $4 ELSE preview END, description =
      CASE WHEN description_source = 'fallback' AND description = $3 THEN $5 ELSE description END WHERE ${NO_OF}`
    await this.#change(query, [sessionId, preview, description, instead.preview, instead.description])
  }

  async remove(sessionId: SessionId, at: number): Promise<SessionId> {
    await this.#listing.unlist(sessionId)
    const query = `UPDATE sessions SET deleted_at = $2, metadata = '{}', id = id || $3 || no
      WHERE id = $1 AND deleted_at IS NULL RETURNING no, id, scope_key`
    const row = await this.sql.get(query, [sessionId, at, DELETED_MARK])
    if (row === undefined) throw unknownSession(sessionId)
    this.#changed(() => this.#known.forget(sessionId))
    this.#tellDeleted(sessionId)
    await this.sql.run('DELETE FROM session_activity WHERE no = $1', [integer(row, 'no')])
    await noteRemoval(this.sql, sessionId)
    const pointer = 'DELETE FROM scopes WHERE scope_key = $1 AND session_id = $2'
    await this.sql.run(pointer, [text(row, 'scope_key'), sessionId])
    return id(row, 'id')
  }

  async purge(sessionId: SessionId): Promise<void> {
    const gone = 'DELETE FROM sessions WHERE id = $1 AND deleted_at IS NOT NULL RETURNING no'
    const row = await this.sql.get(gone, [sessionId])
    if (row !== undefined) await removeMediaUses(this.sql, integer(row, 'no'))
  }

  async setAgent(sessionId: SessionId, agent: AgentId): Promise<void> {
    await this.#change('UPDATE sessions SET agent_id = $2 WHERE id = $1', [sessionId, agent])
  }

  async adoptAgent(sessionId: SessionId, { version, profile }: AgentAdoption): Promise<void> {
    const kept = profile === undefined ? null : JSON.stringify(profile)
    const query = 'UPDATE sessions SET agent_version = $2, agent_profile = COALESCE(agent_profile, $3) WHERE id = $1'
    await this.#change(query, [sessionId, version, kept])
  }

  async #change(query: string, params: readonly [SessionId, ...SqlValue[]]): Promise<void> {
    const [sessionId] = params
    if ((await this.sql.run(query, params)) === 0) throw unknownSession(sessionId)
    this.#changed(() => this.#known.forget(sessionId))
  }

  async #changeActivity(query: string, params: readonly [SessionId, ...SqlValue[]]): Promise<void> {
    await this.#change(query, params)
    await this.#listing.relist(params[0])
  }

  #changed(forget: () => void): void {
    forget()
    this.#afterUndo(forget)
  }
}

function one(row: SqlRow | undefined): Session | undefined {
  return readFound(sessionCodec, row)
}

function unknownSession(sessionId: SessionId): ParleyError {
  return new ParleyError('not_found', `there is no session ${sessionId}`)
}
