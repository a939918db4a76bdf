import type { Migration } from './migration.ts'

/** A further setting of a session needs no column of its own: its value stands by its name in one JSON object. */
export const sessionSettings: Migration = {
  version: 19,
  name: 'session-settings',
  statements: () => [
    'ALTER TABLE sessions ADD COLUMN settings TEXT',
    'DROP INDEX sessions_with_override',
    `CREATE INDEX sessions_with_override ON sessions (no) WHERE send_override IS NOT NULL OR thinking_level IS NOT NULL
      OR verbose_level IS NOT NULL OR model IS NOT NULL OR settings IS NOT NULL`,
  ],
}
