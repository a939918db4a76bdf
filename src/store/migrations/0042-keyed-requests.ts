import type { Migration } from './migration.ts'

/** Requests that carried a key of their client's, so that each has one effect: the key's hash, and never the key. */
export const keyedRequests: Migration = {
  version: 42,
  name: 'keyed-requests',
  statements: ({ clustered }) => [
    `CREATE TABLE keyed_requests (
      key TEXT NOT NULL PRIMARY KEY,
      id TEXT NOT NULL,
      holder TEXT NOT NULL,
      content TEXT NOT NULL,
      begun_at BIGINT NOT NULL,
      effect TEXT,
      status INTEGER,
      answer TEXT
    )${clustered}`,
    'CREATE UNIQUE INDEX keyed_requests_id ON keyed_requests (id)',
    'CREATE INDEX keyed_requests_holder ON keyed_requests (holder, begun_at)',
    'CREATE INDEX keyed_requests_age ON keyed_requests (begun_at)',
  ],
}
