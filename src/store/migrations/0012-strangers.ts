import type { Migration } from './migration.ts'

/** Adds what the bounds need that hold for people whom nobody let in: bytes to count, an index to find the oldest. */
export const strangers: Migration = {
  version: 12,
  name: 'strangers',
  statements: () => [
    'ALTER TABLE admission_refusals ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0',
    "CREATE INDEX admissions_told ON admissions (told_at) WHERE told_at IS NOT NULL AND state = 'asked'",
  ],
}
