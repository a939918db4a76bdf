import type { Migration } from './migration.ts'

/** Conversations the agent says nothing in. Few at a time: they are read once, at the start. */
export const mutes: Migration = {
  version: 4,
  name: 'mutes',
  statements: () => [
    `CREATE TABLE mutes (
      conversation TEXT NOT NULL PRIMARY KEY,
      until BIGINT,
      muted_at BIGINT NOT NULL
    )`,
  ],
}
