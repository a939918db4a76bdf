import type { Migration } from './migration.ts'

/** For whom alone a part is, where it is for one person. */
export const privateAnswers: Migration = {
  version: 9,
  name: 'private-answers',
  statements: () => ['ALTER TABLE outbox ADD COLUMN recipient TEXT'],
}
