import type { Migration } from './migration.ts'

/**
 * Adds the content of a growing reply's lost call, by which the reply is found again once the whole answer takes its
 * place.
 */
export const growingReplies: Migration = {
  version: 15,
  name: 'growing-replies',
  statements: () => ['ALTER TABLE outbox ADD COLUMN earlier TEXT'],
}
