import type { Migration } from './migration.ts'

/** Adds the name of the words that an outbox row quotes: they are taken out of it once they are forgotten. */
export const quotingMessages: Migration = {
  version: 45,
  name: 'quoting_messages',
  statements: () => [
    'ALTER TABLE outbox ADD COLUMN quoting TEXT',
    'CREATE INDEX outbox_quoting ON outbox (quoting) WHERE quoting IS NOT NULL',
  ],
}
