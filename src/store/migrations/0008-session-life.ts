import type { Migration } from './migration.ts'

/**
 * Sessions can be set by hand, deleted and shared: overrides beside the one there was, a mark for what waits to be
 * purged, who took part, and tokens of which only a hash is kept.
 */
export const sessionLife: Migration = {
  version: 8,
  name: 'session-life',
  statements: ({ clustered }) => [
    'ALTER TABLE sessions ADD COLUMN thinking_level TEXT',
    'ALTER TABLE sessions ADD COLUMN verbose_level TEXT',
    'ALTER TABLE sessions ADD COLUMN model TEXT',
    'ALTER TABLE sessions ADD COLUMN deleted_at BIGINT',
    'DROP INDEX sessions_with_override',
    `CREATE INDEX sessions_with_override ON sessions (no)
      WHERE send_override IS NOT NULL OR thinking_level IS NOT NULL OR verbose_level IS NOT NULL OR model IS NOT NULL`,
    'CREATE INDEX sessions_deleted ON sessions (deleted_at) WHERE deleted_at IS NOT NULL',
    `CREATE TABLE participants (
      session_id TEXT NOT NULL,
      participant TEXT NOT NULL,
      joined_at BIGINT NOT NULL,
      PRIMARY KEY (session_id, participant)
    )${clustered}`,
    'CREATE INDEX participants_by_participant ON participants (participant, session_id)',
    `CREATE TABLE tokens (
      id TEXT NOT NULL PRIMARY KEY,
      hash TEXT NOT NULL,
      namespace TEXT NOT NULL,
      label TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      revoked_at BIGINT
    )`,
  ],
}
