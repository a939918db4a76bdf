import type { Dialect, Migration } from './migration.ts'

/**
 * Rows that only arrive (inbox, outbox, events) stay in a heap in their order, so that what is committed together lies
 * together, and are found through indices: in their key's tree each append would touch a page of its own. A turn or a
 * pointer is narrow and found by its key alone, so it lives in that key's tree.
 */
export const initial: Migration = {
  version: 1,
  name: 'initial',
  statements: (dialect) => [
    ...sessions(dialect),
    ...events(),
    ...inbox(dialect),
    ...turns(dialect),
    ...outbox(dialect),
    ...small(dialect),
  ],
}

function sessions({ identity, clustered }: Dialect): readonly string[] {
  return [
    `CREATE TABLE sessions (
      no ${identity},
      id TEXT NOT NULL UNIQUE,
      scope_key TEXT NOT NULL,
      scope TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      display_key TEXT NOT NULL,
      chat_type TEXT NOT NULL,
      source TEXT NOT NULL,
      metadata TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      last_activity_at BIGINT NOT NULL,
      message_count BIGINT NOT NULL DEFAULT 0,
      turn_count BIGINT NOT NULL DEFAULT 0,
      preview TEXT NOT NULL DEFAULT '',
      description TEXT NOT NULL DEFAULT '',
      description_source TEXT NOT NULL DEFAULT 'fallback',
      send_override TEXT,
      inactive_at BIGINT,
      last_seq BIGINT NOT NULL DEFAULT 0
    )`,
    'CREATE INDEX sessions_by_activity ON sessions (last_activity_at, no, inactive_at)',
    'CREATE INDEX sessions_by_display_key ON sessions (display_key, no)',
    'CREATE INDEX sessions_with_override ON sessions (no) WHERE send_override IS NOT NULL',
    `CREATE TABLE scopes (
      scope_key TEXT NOT NULL PRIMARY KEY,
      session_id TEXT NOT NULL
    )${clustered}`,
  ]
}

function events(): readonly string[] {
  return [
    `CREATE TABLE events (
      session_id TEXT NOT NULL,
      seq BIGINT NOT NULL,
      at BIGINT NOT NULL,
      type TEXT NOT NULL,
      turn_id TEXT,
      data TEXT NOT NULL,
      PRIMARY KEY (session_id, seq)
    )`,
  ]
}

function inbox({ identity }: Dialect): readonly string[] {
  return [
    `CREATE TABLE inbox (
      no ${identity},
      id TEXT NOT NULL UNIQUE,
      channel TEXT NOT NULL,
      account TEXT NOT NULL,
      event_key TEXT NOT NULL,
      kind TEXT NOT NULL,
      session_id TEXT,
      turn_id TEXT,
      trace_id TEXT NOT NULL,
      message_id TEXT,
      state TEXT NOT NULL CHECK (state IN ('waiting', 'claimed', 'done')),
      outcome TEXT,
      dispatch TEXT NOT NULL,
      decision TEXT NOT NULL,
      UNIQUE (channel, account, event_key)
    )`,
    "CREATE INDEX inbox_waiting ON inbox (session_id, no) WHERE state = 'waiting'",
    'CREATE INDEX inbox_by_turn ON inbox (turn_id) WHERE turn_id IS NOT NULL',
    'CREATE INDEX inbox_by_trace ON inbox (trace_id)',
    'CREATE INDEX inbox_by_message ON inbox (message_id) WHERE message_id IS NOT NULL',
  ]
}

function turns({ clustered }: Dialect): readonly string[] {
  return [
    `CREATE TABLE turns (
      id TEXT NOT NULL PRIMARY KEY,
      session_id TEXT NOT NULL,
      trace_id TEXT NOT NULL,
      reply TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('running', 'completed', 'failed', 'cancelled', 'quarantined')),
      attempt INTEGER NOT NULL,
      epoch BIGINT NOT NULL,
      started_at BIGINT NOT NULL,
      ended_at BIGINT,
      input_tokens BIGINT NOT NULL DEFAULT 0,
      output_tokens BIGINT NOT NULL DEFAULT 0,
      error TEXT
    )${clustered}`,
    "CREATE UNIQUE INDEX turns_running ON turns (session_id) WHERE state = 'running'",
  ]
}

function outbox({ identity }: Dialect): readonly string[] {
  return [
    `CREATE TABLE outbox (
      no ${identity},
      id TEXT NOT NULL UNIQUE,
      source TEXT NOT NULL,
      part_no INTEGER NOT NULL,
      session_id TEXT,
      trace_id TEXT NOT NULL,
      address TEXT NOT NULL,
      class TEXT NOT NULL,
      op TEXT NOT NULL,
      part TEXT NOT NULL,
      reply_to TEXT,
      state TEXT NOT NULL CHECK (state IN (
        'planned', 'sending', 'sent', 'rejected', 'waiting', 'uncertain', 'resent', 'given_up', 'expired')),
      attempt INTEGER NOT NULL,
      owner_epoch BIGINT NOT NULL,
      not_before BIGINT,
      expires_at BIGINT NOT NULL,
      started_at BIGINT,
      message_id TEXT,
      reason TEXT,
      UNIQUE (source, part_no)
    )`,
    'CREATE INDEX outbox_by_state ON outbox (state, no)',
  ]
}

function small({ clustered }: Dialect): readonly string[] {
  return [
    'CREATE TABLE people (id TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL, created_at BIGINT NOT NULL)',
    `CREATE TABLE person_ids (
      platform_id TEXT NOT NULL PRIMARY KEY,
      person_id TEXT NOT NULL REFERENCES people (id),
      linked_at BIGINT NOT NULL
    )`,
    `CREATE TABLE channel_state (
      channel TEXT NOT NULL,
      account TEXT NOT NULL,
      key TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (channel, account, key)
    )${clustered}`,
    'CREATE TABLE notices (key TEXT NOT NULL PRIMARY KEY, told_at BIGINT NOT NULL)',
    'CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL)',
  ]
}
