import type { Migration } from './migration.ts'

/** Codes that join ids to a person, and who was joined and parted when. */
export const identity: Migration = {
  version: 5,
  name: 'identity',
  statements: ({ identity, clustered }) => [
    `CREATE TABLE link_codes (
      hash TEXT NOT NULL PRIMARY KEY,
      person_id TEXT NOT NULL,
      maker TEXT NOT NULL,
      shown_at TEXT NOT NULL,
      expires_at BIGINT NOT NULL,
      used_by TEXT
    )${clustered}`,
    'CREATE INDEX link_codes_by_maker ON link_codes (maker)',
    'CREATE INDEX link_codes_by_end ON link_codes (expires_at)',
    `CREATE TABLE identity_changes (
      no ${identity},
      at BIGINT NOT NULL,
      kind TEXT NOT NULL,
      person_id TEXT NOT NULL,
      platform_id TEXT NOT NULL,
      made_by TEXT NOT NULL
    )`,
  ],
}
