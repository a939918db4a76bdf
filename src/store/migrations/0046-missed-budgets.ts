import type { Migration } from './migration.ts'

/** The limit of a payer that a call did not fit is beside its sums, so that it goes where they go. */
export const missedBudgets: Migration = {
  version: 46,
  name: 'missed-budgets',
  statements: () => [
    'ALTER TABLE budget_counts ADD COLUMN missed_tokens BIGINT',
    'ALTER TABLE budget_counts ADD COLUMN missed_micros BIGINT',
  ],
}
