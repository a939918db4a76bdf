import { OVERRIDE_COLUMNS, SESSION_COLUMNS } from './session-codec.ts'

/**
 * A row has two halves under one number: what stays, and what every message changes. A deleted one has lost the latter.
 */
export const SESSIONS = 'sessions JOIN session_activity AS activity ON activity.no = sessions.no'
/** The session a scope key points to. */
export const CURRENT = `SELECT ${SESSION_COLUMNS} FROM scopes CROSS JOIN ${SESSIONS}
  WHERE sessions.id = scopes.session_id AND scopes.scope_key = $1`
export const NO_OF = 'no = (SELECT no FROM sessions WHERE id = $1)'

/** The columns of settings that can be set for one session. */
export const OVERRIDES = OVERRIDE_COLUMNS.join(', ')
/** In the words of the index `sessions_with_override`. */
export const OVERRIDDEN = OVERRIDE_COLUMNS.map((column) => `${column} IS NOT NULL`).join(' OR ')
export const STORED_OVERRIDES = `SELECT ${OVERRIDES} FROM sessions WHERE id = $1`
export const SET_OVERRIDES = `UPDATE sessions SET ${OVERRIDE_COLUMNS.map((column, at) => `${column} = $${at + 2}`).join(', ')}
  WHERE id = $1 AND deleted_at IS NULL`
export const INSERT = `INSERT INTO sessions (id, scope_key, scope, agent_id, kind, display_key, chat_type, source, metadata, created_at,
  agent_profile, parent_id, ${OVERRIDES}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, ${OVERRIDE_COLUMNS.map((_, at) => `$${at + 13}`).join(', ')})
  ON CONFLICT DO NOTHING RETURNING no`
/** `WHERE` sets the conflict clause off from a join. */
export const POINT_AT = `INSERT INTO scopes (scope_key, session_id) SELECT scope_key, id FROM sessions
  WHERE id = $1 AND deleted_at IS NULL
  ON CONFLICT (scope_key) DO UPDATE SET session_id = excluded.session_id RETURNING scope_key`
