import type { Migration } from './migration.ts'

/**
 * Adds the name of the words that an outbox row quotes: they are taken out of it once they are forgotten. Which words a
 * card of before quotes is not known any more.
 */
export const quotingMessages: Migration = {
  version: 45,
  name: 'quoting_messages',
  statements: () => [
    'ALTER TABLE outbox ADD COLUMN quoting TEXT',
    `UPDATE outbox SET quoting = 'unknown' WHERE part LIKE ${OLD_CARD} OR earlier LIKE ${OLD_CARD}`,
    'CREATE INDEX outbox_quoting ON outbox (quoting) WHERE quoting IS NOT NULL',
  ],
}

const OLD_CARD = "'%May I use %includes words of %, most recently %: it may be their idea.%'"
