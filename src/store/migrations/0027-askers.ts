import type { Migration } from './migration.ts'

/**
 * Adds who an outbox row is for, where its session follows people over several chats: an id may have become somebody
 * else's before the row is sent.
 */
export const askers: Migration = {
  version: 27,
  name: 'askers',
  statements: () => ['ALTER TABLE outbox ADD COLUMN asker TEXT'],
}
