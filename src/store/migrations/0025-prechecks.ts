import type { Migration } from './migration.ts'

/** The verdict of the check before a turn, for `why`; what the check said is in no session. */
export const prechecks: Migration = {
  version: 25,
  name: 'prechecks',
  statements: () => ['ALTER TABLE turns ADD COLUMN precheck TEXT'],
}
