import type { Migration } from './migration.ts'

/**
 * A token has scopes, may be an owner's and may expire; those of before read and write the sessions of their namespace.
 */
export const tokenScopes: Migration = {
  version: 40,
  name: 'token-scopes',
  statements: () => [
    `CREATE TABLE scoped_tokens (
      id TEXT NOT NULL PRIMARY KEY,
      hash TEXT NOT NULL,
      namespace TEXT,
      owner INTEGER NOT NULL,
      scopes TEXT NOT NULL,
      label TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT,
      used_at BIGINT,
      revoked_at BIGINT,
      CHECK ((namespace IS NULL) = (owner = 1))
    )`,
    `INSERT INTO scoped_tokens (id, hash, namespace, owner, scopes, label, created_at, revoked_at)
      SELECT id, hash, namespace, 0, 'sessions:read sessions:write', label, created_at, revoked_at FROM tokens`,
    'DROP TABLE tokens',
    'ALTER TABLE scoped_tokens RENAME TO tokens',
  ],
}
