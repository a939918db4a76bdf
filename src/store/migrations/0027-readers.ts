import type { Migration } from './migration.ts'

/** Adds who an outbox row is for: an id may be somebody else's, or no owner's any more, before the row is sent. */
export const readers: Migration = {
  version: 27,
  name: 'readers',
  statements: () => ['ALTER TABLE outbox ADD COLUMN reader TEXT'],
}
