import type { Migration } from './migration.ts'

/** What is kept of people whom nobody let in has a bound, so the oldest of it is looked for. */
export const strangers: Migration = {
  version: 12,
  name: 'strangers',
  statements: () => [
    'ALTER TABLE admission_refusals ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0',
    "CREATE INDEX admissions_told ON admissions (told_at) WHERE told_at IS NOT NULL AND state = 'asked'",
  ],
}
