import type { Migration } from './migration.ts'

/** When the database was found to be an older copy, and what of its queue waits for an owner since then. */
export const restorations: Migration = {
  version: 16,
  name: 'restorations',
  statements: () => [
    `CREATE TABLE restorations (
      at BIGINT NOT NULL PRIMARY KEY,
      last_at BIGINT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('found', 'held', 'resumed', 'discarded'))
    )`,
    'ALTER TABLE outbox ADD COLUMN held INTEGER',
  ],
}
