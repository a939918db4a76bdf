import type { Migration } from './migration.ts'

/** Notes with a question that the words of owners alone had been shown: a rule given with its answer is theirs. */
export const askedForOwners: Migration = {
  version: 37,
  name: 'asked-for-owners',
  statements: () => ['ALTER TABLE approvals ADD COLUMN for_owners INTEGER NOT NULL DEFAULT 0'],
}
