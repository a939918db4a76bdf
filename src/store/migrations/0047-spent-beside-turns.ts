import type { Migration } from './migration.ts'

/** The tokens of calls that no turn has made, as checkpoints, summaries and side questions. */
export const spentBesideTurns: Migration = {
  version: 47,
  name: 'spent-beside-turns',
  statements: () => [
    `CREATE TABLE spent_beside_turns (
      at BIGINT NOT NULL,
      input_tokens BIGINT NOT NULL,
      output_tokens BIGINT NOT NULL,
      cache_read_tokens BIGINT NOT NULL,
      cache_write_tokens BIGINT NOT NULL
    )`,
    'CREATE INDEX spent_beside_turns_by_time ON spent_beside_turns (at)',
  ],
}
