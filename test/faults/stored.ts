import { Database } from '../../src/store/engines/sqlite-driver.ts'

/** All that a stopped daemon has on disk, as far as the invariants ask. Rows in the order they were made. */
export interface Stored {
  readonly inbox: readonly InboxRow[]
  readonly turns: readonly TurnRow[]
  readonly outbox: readonly OutboxRow[]
  readonly events: readonly EventRow[]
  readonly sessions: readonly SessionRow[]
  /** Entries and counts of the kept lists that the rows of sessions do not have, and the other way around. */
  readonly misListed: readonly { readonly entry: string }[]
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
  /** JSON; null for what is sent in its turn. */
  readonly low_priority: string | null
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
    message_id, part ->> '$.plain' AS plain, reason, low_priority FROM outbox ORDER BY no`,
  events: `SELECT sessions.id AS session_id, seq, type, turn_id, data FROM events JOIN sessions ON no = session_no
    ORDER BY session_id, seq`,
  misListed: `WITH kept AS (SELECT list, standing, hour, no FROM session_listings WHERE list NOT LIKE 'n:%'),
    standing AS (SELECT no, id, inactive_at IS NOT NULL AS standing, last_activity_at / 3600000 AS hour
      FROM sessions JOIN session_activity USING (no) WHERE parent_id IS NULL),
    derived AS (SELECT '' AS list, standing, hour, no FROM standing UNION ALL
      SELECT 'p:' || participant, standing, hour, no FROM standing JOIN participants ON session_id = id),
    spans AS (SELECT list, last_activity_at / 10000 AS span, COUNT(*) AS sessions FROM session_listings
      JOIN session_activity USING (no) JOIN session_counts AS kept USING (list, standing, hour) WHERE by_span = 1 GROUP BY 1, 2),
    counts AS (SELECT list, standing, hour, COUNT(*) AS sessions FROM session_listings GROUP BY list, standing, hour
      UNION ALL SELECT list, standing, -1, COUNT(*) FROM session_listings GROUP BY list, standing)
    SELECT 'list ' || list || ' ' || standing || ' ' || hour || ' ' || no AS entry FROM (
      SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM derived) UNION SELECT * FROM (SELECT * FROM derived EXCEPT SELECT * FROM kept))
    UNION ALL SELECT 'count ' || list || ' ' || standing || ' ' || hour || ' ' || sessions FROM (
      SELECT * FROM (SELECT * FROM counts EXCEPT SELECT list, standing, hour, sessions FROM session_counts)
      UNION SELECT * FROM (SELECT list, standing, hour, sessions FROM session_counts WHERE standing <> 2 EXCEPT SELECT * FROM counts))
    UNION ALL SELECT 'span ' || list || ' ' || span || ' ' || sessions FROM (
      SELECT * FROM (SELECT * FROM spans EXCEPT SELECT * FROM session_spans)
      UNION SELECT * FROM (SELECT * FROM session_spans EXCEPT SELECT * FROM spans))`,
  sessions: 'SELECT id, last_seq FROM sessions JOIN session_activity USING (no) ORDER BY no',
}

/** Returns what is under way in a database that a daemon may hold. */
export function readUnderWay(path: string): Pick<Stored, 'turns' | 'outbox'> {
  const database = new Database(path, { readonly: true })
  try {
    return {
      turns: database.prepare<[], TurnRow>(QUERIES.turns).all(),
      outbox: database.prepare<[], OutboxRow>(QUERIES.outbox).all(),
    }
  } finally {
    database.close()
  }
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
      misListed: all(QUERIES.misListed),
      integrity: String(database.pragma('integrity_check', { simple: true })),
      journalMode: String(database.pragma('journal_mode', { simple: true })),
    }
  } finally {
    database.close()
  }
}
