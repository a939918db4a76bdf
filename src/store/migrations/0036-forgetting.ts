import type { Migration } from './migration.ts'

/**
 * Requests to forget that were begun, how far the age limits were applied, and which of their rules were reported. Logs
 * that were taken over are found by an index of their own. A store that holds nothing yet has no old free pages.
 */
export const forgetting: Migration = {
  version: 36,
  name: 'forgetting',
  statements: () => [
    `CREATE TABLE forgettings (
      id TEXT NOT NULL PRIMARY KEY,
      state TEXT NOT NULL CHECK (state IN ('running', 'done')),
      plan TEXT,
      counts TEXT NOT NULL,
      asked_at BIGINT NOT NULL
    )`,
    "CREATE INDEX forgettings_open ON forgettings (asked_at) WHERE state = 'running'",
    'CREATE TABLE retained (session_no BIGINT NOT NULL PRIMARY KEY, seq BIGINT NOT NULL)',
    `CREATE TABLE retention_marks (
      rule TEXT NOT NULL PRIMARY KEY,
      days INTEGER NOT NULL,
      reported_at BIGINT NOT NULL,
      starts_at BIGINT NOT NULL
    )`,
    "CREATE INDEX events_taken_over ON events (session_no, seq) WHERE type = 'history_taken_over'",
    `INSERT INTO counters (name, value) SELECT 'scrubbed', 1
      WHERE NOT EXISTS (SELECT 1 FROM sessions) AND NOT EXISTS (SELECT 1 FROM inbox)`,
  ],
}
