import type { Migration } from './migration.ts'

/** The rules by which owners let tools be used without being asked, given in a chat. */
export const standingRules: Migration = {
  version: 29,
  name: 'standing-rules',
  statements: () => [
    `CREATE TABLE standing_rules (
      code TEXT PRIMARY KEY,
      tool TEXT NOT NULL,
      place TEXT,
      who TEXT NOT NULL CHECK (who IN ('owner', 'member')),
      given_by TEXT NOT NULL,
      given_at BIGINT NOT NULL
    )`,
  ],
}
