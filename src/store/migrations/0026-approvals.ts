import type { Migration } from './migration.ts'

/** The questions whether a call of a tool may be made, and their answers. */
export const approvals: Migration = {
  version: 26,
  name: 'approvals',
  statements: () => [
    `CREATE TABLE approvals (
      code TEXT PRIMARY KEY,
      session_id TEXT NOT NULL,
      turn_id TEXT NOT NULL,
      call_id TEXT NOT NULL,
      trace_id TEXT NOT NULL,
      tool TEXT NOT NULL,
      args TEXT NOT NULL,
      reply TEXT NOT NULL,
      asked_at BIGINT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('asked', 'allowed', 'denied', 'used')),
      late BIGINT NOT NULL DEFAULT 0,
      decided_by TEXT,
      decided_at BIGINT,
      used_by TEXT,
      UNIQUE (turn_id, call_id)
    )`,
    'CREATE INDEX approvals_by_time ON approvals (asked_at)',
    'CREATE INDEX approvals_of_session ON approvals (session_id)',
  ],
}
