import type { Migration } from './migration.ts'

/** Earlier versions asked no provider to keep anything: all their input was read at full price. */
export const cachedTokens: Migration = {
  version: 20,
  name: 'cached-tokens',
  statements: () => [
    'ALTER TABLE turns ADD COLUMN cache_read_tokens BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE turns ADD COLUMN cache_write_tokens BIGINT NOT NULL DEFAULT 0',
  ],
}
