import type { SessionDraft } from '../../src/core/session.ts'
import { withDatabase } from './temp-database.ts'

/** Adds a session to the file of an older version: the code of today writes columns that its tables do not have. */
export function addOldSession(
  path: string,
  { id, scopeKey, agentId, kind, displayKey, chatType, ...draft }: SessionDraft,
): void {
  const [scope, source, metadata] = [draft.scope, draft.source, draft.metadata].map((value) => JSON.stringify(value))
  const params = { id, scopeKey, agentId, kind, displayKey, chatType, scope, source, metadata }
  withDatabase(path, (database) => {
    const { lastInsertRowid } = database
      .prepare(
        `INSERT INTO sessions
          (id, scope_key, scope, agent_id, kind, display_key, chat_type, source, metadata, created_at)
          VALUES (@id, @scopeKey, @scope, @agentId, @kind, @displayKey, @chatType, @source, @metadata, 1)`,
      )
      .run(params)
    database.prepare('INSERT INTO session_activity (no, last_activity_at) VALUES (?, 1)').run(lastInsertRowid)
    database.prepare('INSERT INTO scopes (scope_key, session_id) VALUES (?, ?)').run(scopeKey, id)
  })
}

/** Adds events to the one session of such a file. */
export function addOldEvents(path: string, events: readonly { readonly type: string; readonly data: unknown }[]): void {
  withDatabase(path, (database) => {
    const add = database.prepare(
      'INSERT INTO events (session_no, seq, at, type, data) SELECT no, ?, 1, ?, ? FROM sessions',
    )
    for (const [at, { type, data }] of events.entries()) add.run(at + 1, type, JSON.stringify(data))
    database.prepare('UPDATE session_activity SET last_seq = ?').run(events.length)
  })
}
