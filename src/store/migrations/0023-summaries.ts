import type { Migration } from './migration.ts'

/** Finds the newest summary of a session, at which its model's view begins, however long the log is. */
export const summaries: Migration = {
  version: 23,
  name: 'summaries',
  statements: () => ["CREATE INDEX events_summaries ON events (session_no, seq) WHERE type = 'context_compacted'"],
}
