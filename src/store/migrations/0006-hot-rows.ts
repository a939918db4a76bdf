import type { Migration } from './migration.ts'

/**
 * Narrows the rows that every message writes, because a changed page costs its whole size at the commit. The half of a
 * session that each event changes is parted from the half that stays; an event names its session by number; a message
 * bound to a turn has the turn's outcome instead of its own; parts that were sent leave the index of states.
 */
export const hotRows: Migration = {
  version: 6,
  name: 'hot-rows',
  statements: () => [...activity(), ...events(), ...outcomes(), ...openParts()],
}

const MOVED = [
  'last_activity_at',
  'inactive_at',
  'last_seq',
  'message_count',
  'turn_count',
  'preview',
  'description',
  'description_source',
]

function activity(): readonly string[] {
  return [
    `CREATE TABLE session_activity (
      no INTEGER NOT NULL PRIMARY KEY,
      last_activity_at BIGINT NOT NULL,
      inactive_at BIGINT,
      last_seq BIGINT NOT NULL DEFAULT 0,
      message_count BIGINT NOT NULL DEFAULT 0,
      turn_count BIGINT NOT NULL DEFAULT 0,
      preview TEXT NOT NULL DEFAULT '',
      description TEXT NOT NULL DEFAULT '',
      description_source TEXT NOT NULL DEFAULT 'fallback'
    )`,
    `INSERT INTO session_activity (no, ${MOVED.join(', ')}) SELECT no, ${MOVED.join(', ')} FROM sessions ORDER BY no`,
    'DROP INDEX sessions_by_activity',
    ...MOVED.map((column) => `ALTER TABLE sessions DROP COLUMN ${column}`),
    'CREATE INDEX session_activity_by_time ON session_activity (last_activity_at, no, inactive_at)',
  ]
}

/** CROSS JOIN: the rows keep their order, in which what was committed together lies together. */
function events(): readonly string[] {
  return [
    'ALTER TABLE events RENAME TO events_by_id',
    `CREATE TABLE events (
      session_no BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      at BIGINT NOT NULL,
      type TEXT NOT NULL,
      turn_id TEXT,
      data TEXT NOT NULL,
      PRIMARY KEY (session_no, seq)
    )`,
    `INSERT INTO events (session_no, seq, at, type, turn_id, data)
      SELECT sessions.no, seq, at, type, turn_id, data
      FROM events_by_id CROSS JOIN sessions WHERE sessions.id = events_by_id.session_id`,
    'DROP TABLE events_by_id',
  ]
}

/** A message that ended before keeps the outcome in its own row. */
function outcomes(): readonly string[] {
  return ['ALTER TABLE turns ADD COLUMN outcome TEXT']
}

function openParts(): readonly string[] {
  return ['DROP INDEX outbox_by_state', "CREATE INDEX outbox_by_state ON outbox (state, no) WHERE state <> 'sent'"]
}
