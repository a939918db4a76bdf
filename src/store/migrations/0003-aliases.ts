import type { Migration } from './migration.ts'

/** An alias names scopes, not sessions: `/new` moves the scope's pointer and the alias goes with it. */
export const aliases: Migration = {
  version: 3,
  name: 'aliases',
  statements: ({ clustered }) => [
    `CREATE TABLE aliases (
      alias TEXT NOT NULL,
      scope_key TEXT NOT NULL,
      PRIMARY KEY (alias, scope_key)
    )${clustered}`,
    'CREATE INDEX aliases_by_scope ON aliases (scope_key)',
  ],
}
