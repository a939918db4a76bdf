import { Database } from '../../src/store/engines/sqlite-driver.ts'

/** All that a stopped daemon has on disk, as far as the invariants ask. Rows in the order they were made. */
export interface Stored {
  readonly inbox: readonly InboxRow[]
  readonly turns: readonly TurnRow[]
  readonly outbox: readonly OutboxRow[]
  readonly events: readonly EventRow[]
  readonly sessions: readonly SessionRow[]
  /** What SQLite says about the file: `ok`, else what is broken. */
  readonly integrity: string
  readonly journalMode: string
}

export interface InboxRow {
  readonly id: string
  readonly kind: string
  readonly chat: string
  readonly message_id: string | null
  readonly session_id: string | null
  readonly turn_id: string | null
  readonly state: string
  readonly outcome: string | null
}

export interface TurnRow {
  readonly id: string
  readonly session_id: string
  readonly state: string
  readonly attempt: number
  readonly error: string | null
}

export interface OutboxRow {
  readonly id: string
  readonly source: string
  readonly part_no: number
  readonly channel: string
  readonly chat: string
  readonly topic: string | null
  readonly class: string
  readonly op: string
  readonly state: string
  readonly message_id: string | null
  /** The text without markup. */
  readonly plain: string
  readonly reason: string | null
}

export interface EventRow {
  readonly session_id: string
  readonly seq: number
  readonly type: string
  readonly turn_id: string | null
  /** JSON. */
  readonly data: string
}

export interface SessionRow {
  readonly id: string
  readonly last_seq: number
}

const QUERIES = {
  inbox: `SELECT inbox.id, kind, dispatch ->> '$.event.address.chat' AS chat, message_id, inbox.session_id, turn_id,
    iif(inbox.state = 'claimed' AND turns.outcome IS NOT NULL, 'done', inbox.state) AS state,
    coalesce(inbox.outcome, turns.outcome) AS outcome FROM inbox LEFT JOIN turns ON turns.id = turn_id ORDER BY no`,
  turns: 'SELECT id, session_id, state, attempt, error FROM turns ORDER BY id',
  outbox: `SELECT id, source, part_no, address ->> '$.channel' AS channel, address ->> '$.chat' AS chat, address ->> '$.topic' AS topic, class, op, state,
    message_id, part ->> '$.plain' AS plain, reason FROM outbox ORDER BY no`,
  events: `SELECT sessions.id AS session_id, seq, type, turn_id, data FROM events JOIN sessions ON no = session_no
    ORDER BY session_id, seq`,
  sessions: 'SELECT id, last_seq FROM sessions JOIN session_activity USING (no) ORDER BY no',
}

/** Reads a database that no daemon holds, without changing it. */
export function readStored(path: string): Stored {
  const database = new Database(path, { readonly: true })
  try {
    const all = <Row>(query: string): Row[] => database.prepare<[], Row>(query).all()
    return {
      inbox: all<InboxRow>(QUERIES.inbox),
      turns: all<TurnRow>(QUERIES.turns),
      outbox: all<OutboxRow>(QUERIES.outbox),
      events: all<EventRow>(QUERIES.events),
      sessions: all<SessionRow>(QUERIES.sessions),
      integrity: String(database.pragma('integrity_check', { simple: true })),
      journalMode: String(database.pragma('journal_mode', { simple: true })),
    }
  } finally {
    database.close()
  }
}
