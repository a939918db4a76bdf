import type { Migration } from './migration.ts'

/** What a growing reply's lost call carried, by which it is found again once the whole answer is to take its place. */
export const growingReplies: Migration = {
  version: 15,
  name: 'growing-replies',
  statements: () => ['ALTER TABLE outbox ADD COLUMN earlier TEXT'],
}
