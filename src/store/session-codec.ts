import type { ChatType } from '../core/address.ts'
import {
  SEND_OVERRIDES,
  SESSION_KINDS,
  type Session,
  type SessionOverrides,
  THINKING_LEVELS,
  VERBOSE_LEVELS,
} from '../core/session.ts'
import { defined, id, integer, json, oneOf, optional, type RowCodec, text } from './rows.ts'
import type { OverriddenSession } from './session-port.ts'
import type { SqlRow, SqlValue } from './sql.ts'

const CHAT_TYPES: readonly ChatType[] = ['direct', 'group', 'channel']

/** The columns that `sessionCodec` reads, after the number by which other tables name the session. */
export const SESSION_COLUMNS = `sessions.no, sessions.id, sessions.scope_key, scope, agent_id, kind, display_key, chat_type, source,
  metadata, created_at, last_activity_at, message_count, turn_count, preview, description, description_source, send_override,
  thinking_level, verbose_level, model, inactive_at, last_seq`

export const sessionCodec: RowCodec<Session> = {
  table: 'sessions',
  key: ['id'],
  decode: (row) => ({
    id: id(row, 'id'),
    scopeKey: id(row, 'scope_key'),
    scope: json(row, 'scope'),
    agentId: id(row, 'agent_id'),
    kind: oneOf(row, 'kind', SESSION_KINDS),
    displayKey: text(row, 'display_key'),
    chatType: oneOf(row, 'chat_type', CHAT_TYPES),
    source: json(row, 'source'),
    metadata: json(row, 'metadata'),
    createdAt: integer(row, 'created_at'),
    lastActivityAt: integer(row, 'last_activity_at'),
    messageCount: integer(row, 'message_count'),
    turnCount: integer(row, 'turn_count'),
    preview: text(row, 'preview'),
    description: text(row, 'description'),
    descriptionSource: oneOf(row, 'description_source', ['fallback', 'ai', 'user']),
    lastSeq: integer(row, 'last_seq'),
    ...overridesOf(row),
    ...defined({ inactiveAt: optional(row, 'inactive_at', integer) }),
  }),
}

export const overriddenCodec: RowCodec<OverriddenSession> = {
  table: 'sessions',
  key: ['id'],
  decode: (row) => ({
    id: id(row, 'id'),
    scopeKey: id(row, 'scope_key'),
    current: row.current_id === row.id,
    overrides: overridesOf(row),
  }),
}

function overridesOf(row: SqlRow): SessionOverrides {
  return defined({
    sendOverride: optional(row, 'send_override', (from, column) => oneOf(from, column, SEND_OVERRIDES)),
    thinkingLevel: optional(row, 'thinking_level', (from, column) => oneOf(from, column, THINKING_LEVELS)),
    verboseLevel: optional(row, 'verbose_level', (from, column) => oneOf(from, column, VERBOSE_LEVELS)),
    model: optional(row, 'model', text),
  })
}

/** The four override columns, in the order of the table. */
export function overrideParams({ sendOverride, thinkingLevel, verboseLevel, model }: SessionOverrides): SqlValue[] {
  return [sendOverride ?? null, thinkingLevel ?? null, verboseLevel ?? null, model ?? null]
}
