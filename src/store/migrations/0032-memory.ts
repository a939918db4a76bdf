import type { Migration } from './migration.ts'

/**
 * Long-term memory, the checkpoints that are owed, and the index that finds words in memory and in what was said. The
 * newest checkpoint of a session is found by an index of its own, as the newest summary is.
 */
export const memory: Migration = {
  version: 32,
  name: 'memory',
  statements: ({ identity, wordIndex }) => [
    `CREATE TABLE memory_entries (
      no INTEGER NOT NULL PRIMARY KEY,
      agent_id TEXT NOT NULL,
      session_no BIGINT NOT NULL,
      request TEXT NOT NULL UNIQUE,
      text TEXT NOT NULL,
      authors TEXT NOT NULL,
      made_by TEXT NOT NULL CHECK (made_by IN ('checkpoint', 'agent', 'person')),
      at BIGINT NOT NULL
    )`,
    'CREATE INDEX memory_of_session ON memory_entries (session_no, no)',
    `CREATE TABLE memory_sources (
      entry_no BIGINT NOT NULL,
      message TEXT NOT NULL,
      PRIMARY KEY (entry_no, message)
    )`,
    `CREATE TABLE checkpoints (
      session_no BIGINT NOT NULL PRIMARY KEY,
      reason TEXT NOT NULL CHECK (reason IN ('manual', 'new_session', 'turn_limit', 'idle')),
      owed_at BIGINT NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0,
      not_before BIGINT NOT NULL
    )`,
    "CREATE INDEX events_checkpoints ON events (session_no, seq) WHERE type = 'checkpoint_written'",
    `CREATE TABLE search_docs (
      no ${identity},
      session_no BIGINT NOT NULL,
      seq BIGINT,
      entry_no BIGINT,
      message TEXT,
      words TEXT NOT NULL
    )`,
    'CREATE INDEX search_docs_of_session ON search_docs (session_no, seq)',
    'CREATE UNIQUE INDEX search_docs_of_entry ON search_docs (entry_no) WHERE entry_no IS NOT NULL',
    'CREATE TABLE search_progress (session_no BIGINT NOT NULL PRIMARY KEY, seq BIGINT NOT NULL)',
    wordIndex('search_words'),
  ],
}
