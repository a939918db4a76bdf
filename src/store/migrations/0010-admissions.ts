import type { Migration } from './migration.ts'

/** Adds applicants, the messages refused meanwhile, and the private chats in which owners can be notified. */
export const admissions: Migration = {
  version: 10,
  name: 'admissions',
  statements: ({ clustered }) => [
    `CREATE TABLE admissions (
      key TEXT NOT NULL PRIMARY KEY,
      kind TEXT NOT NULL CHECK (kind IN ('person', 'place')),
      code TEXT NOT NULL UNIQUE,
      state TEXT NOT NULL CHECK (state IN ('asked', 'admitted', 'denied')),
      name TEXT NOT NULL,
      address TEXT NOT NULL,
      trace_id TEXT NOT NULL,
      asked_at BIGINT NOT NULL,
      told_at BIGINT,
      decided_at BIGINT,
      decided_by TEXT
    )`,
    "CREATE INDEX admissions_untold ON admissions (asked_at) WHERE told_at IS NULL AND state = 'asked'",
    `CREATE TABLE admission_refusals (
      key TEXT NOT NULL,
      inbox_id TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (key, inbox_id)
    )${clustered}`,
    `CREATE TABLE direct_chats (
      platform_id TEXT NOT NULL,
      account TEXT NOT NULL,
      address TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (platform_id, account)
    )${clustered}`,
  ],
}
