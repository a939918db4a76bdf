import type { ChatType } from '../core/address.ts'
import type { AgentProfile } from '../core/agent-profile.ts'
import type { SessionId } from '../core/ids.ts'
import { SESSION_KINDS, type Session, type SessionScope } from '../core/session.ts'
import {
  collectOverrides,
  SESSION_SETTINGS,
  SETTING_NAMES,
  type SessionOverrides,
  type SettingName,
  type SettingPatch,
} from '../core/session-settings.ts'
import {
  defined,
  fields,
  id,
  integer,
  isScope,
  isText,
  json,
  listOf,
  oneOf,
  optional,
  type RowCodec,
  shaped,
  text,
} from './rows.ts'
import type { OverriddenSession } from './session-port.ts'
import type { SqlRow, SqlValue } from './sql.ts'

const CHAT_TYPES: readonly ChatType[] = ['direct', 'group', 'channel']

/** The column of each setting that has one of its own. */
export type SettingColumns = Partial<Readonly<Record<SettingName, string>>>

const COLUMNS: SettingColumns = Object.fromEntries(
  SETTING_NAMES.flatMap((name) => {
    const { column } = SESSION_SETTINGS[name]
    return column === undefined ? [] : [[name, column] as const]
  }),
)
/** The column of all others: a JSON object with the values by name. */
const SETTINGS = 'settings'
const NONE = {}

/** The columns that hold overrides. */
export const OVERRIDE_COLUMNS: readonly string[] = [...SETTING_NAMES.flatMap((name) => COLUMNS[name] ?? []), SETTINGS]

/** The columns that `sessionCodec` reads, after the number by which other tables name the session. */
export const SESSION_COLUMNS = `sessions.no, sessions.id, sessions.scope_key, scope, agent_id, kind, display_key, chat_type, source,
  metadata, created_at, last_activity_at, message_count, turn_count, preview, description, description_source,
  ${OVERRIDE_COLUMNS.join(', ')}, inactive_at, exported_at, last_seq, agent_version, agent_profile, parent_id`

/** A profile without its parts would end each turn with an error that says nothing: the row is unreadable then. */
const profileIn = shaped<AgentProfile>(fields({ id: isText, model: isText, prompt: isText, tools: listOf(isText) }))
const scopeIn = shaped<SessionScope>(isScope)
const sourceIn = shaped<Session['source']>(fields({ kind: isText }))
const metadataIn = shaped<Session['metadata']>(fields({}))

export const sessionCodec: RowCodec<Session> = {
  table: 'sessions',
  key: ['id'],
  decode: (row) => ({
    id: id(row, 'id'),
    scopeKey: id(row, 'scope_key'),
    scope: scopeIn(row, 'scope'),
    agentId: id(row, 'agent_id'),
    kind: oneOf(row, 'kind', SESSION_KINDS),
    displayKey: text(row, 'display_key'),
    chatType: oneOf(row, 'chat_type', CHAT_TYPES),
    source: sourceIn(row, 'source'),
    metadata: metadataIn(row, 'metadata'),
    createdAt: integer(row, 'created_at'),
    lastActivityAt: integer(row, 'last_activity_at'),
    messageCount: integer(row, 'message_count'),
    turnCount: integer(row, 'turn_count'),
    preview: text(row, 'preview'),
    description: text(row, 'description'),
    descriptionSource: oneOf(row, 'description_source', ['fallback', 'ai', 'user']),
    lastSeq: integer(row, 'last_seq'),
    ...overridesIn(row),
    ...defined({
      inactiveAt: optional(row, 'inactive_at', integer),
      exportedAt: optional(row, 'exported_at', integer),
      agentVersion: optional(row, 'agent_version', text),
      agentProfile: optional(row, 'agent_profile', profileIn),
      parent: optional(row, 'parent_id', id<SessionId>),
    }),
  }),
}

export const overriddenCodec: RowCodec<OverriddenSession> = {
  table: 'sessions',
  key: ['id'],
  decode: (row) => ({
    id: id(row, 'id'),
    scopeKey: id(row, 'scope_key'),
    current: row.current_id === row.id,
    overrides: overridesIn(row),
  }),
}

/** Returns the settings of a row without columns; none where the column cannot be read. */
function settingsIn(row: SqlRow): Readonly<Record<string, unknown>> {
  if ((row[SETTINGS] ?? null) === null) return NONE
  try {
    const settings: Readonly<Record<string, unknown>> = json(row, SETTINGS)
    return typeof settings === 'object' && settings !== null && !Array.isArray(settings) ? settings : NONE
  } catch {
    return NONE
  }
}

/**
 * Returns the overrides of a row, each from its column; `columns` says which settings have one. A value that cannot be
 * read, such as one of a later version, does not make the conversation unreadable.
 */
export function overridesIn(row: SqlRow, columns: SettingColumns = COLUMNS): SessionOverrides {
  const settings = settingsIn(row)
  return collectOverrides((name) => {
    const column = columns[name]
    const stored = (column === undefined ? settings[name] : row[column]) ?? undefined
    if (stored === undefined) return undefined
    const { value, unreadable } = SESSION_SETTINGS[name]
    return value.read(stored) ?? unreadable
  })
}

/**
 * Returns the values of the override columns after a patch, in the order of `OVERRIDE_COLUMNS`. Whatever the patch does
 * not name stays as it is stored, also what a later version wrote and this one cannot read.
 */
export function patchedParams(
  row: SqlRow,
  { set, inherit }: SettingPatch,
  columns: SettingColumns = COLUMNS,
): SqlValue[] {
  const kept = SETTING_NAMES.filter((name) => columns[name] === undefined)
  const settings = { ...settingsIn(row) }
  const params: SqlValue[] = []
  for (const name of SETTING_NAMES) {
    const column = columns[name]
    const value = set[name]
    if (column !== undefined) params.push(value ?? (inherit.includes(name) ? null : storedIn(row, column)))
    else if (value !== undefined) settings[name] = value
    else if (inherit.includes(name)) delete settings[name]
  }
  if (!kept.some((name) => set[name] !== undefined || inherit.includes(name)))
    return [...params, storedIn(row, SETTINGS)]
  return [...params, Object.keys(settings).length === 0 ? null : JSON.stringify(settings)]
}

/** The columns of settings are of type TEXT. */
function storedIn(row: SqlRow, column: string): string | null {
  const stored = row[column]
  return typeof stored === 'string' ? stored : null
}
