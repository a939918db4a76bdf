import type { Migration } from './migration.ts'

/** The cost of calls of models for each payer in a day or a month, and the most that calls under way may cost. */
export const budgets: Migration = {
  version: 35,
  name: 'budgets',
  statements: () => [
    `CREATE TABLE budget_counts (
      payer TEXT NOT NULL,
      period TEXT NOT NULL,
      tokens BIGINT NOT NULL DEFAULT 0,
      micros BIGINT NOT NULL DEFAULT 0,
      held_tokens BIGINT NOT NULL DEFAULT 0,
      held_micros BIGINT NOT NULL DEFAULT 0,
      warned INTEGER NOT NULL DEFAULT 0,
      ends_at BIGINT NOT NULL,
      PRIMARY KEY (payer, period)
    )`,
    'CREATE INDEX budget_counts_ended ON budget_counts (ends_at)',
    'CREATE INDEX budget_counts_of_period ON budget_counts (period)',
    `CREATE TABLE budget_holds (
      id TEXT NOT NULL PRIMARY KEY,
      epoch BIGINT NOT NULL,
      tokens BIGINT NOT NULL,
      micros BIGINT NOT NULL,
      held TEXT NOT NULL
    )`,
  ],
}
