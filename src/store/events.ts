import { withCopiedTurns } from '../core/copied-turns.ts'
import { errorCode, ParleyError } from '../core/errors.ts'
import { EVENT_TYPES, type EventType, type SessionEvent } from '../core/event.ts'
import { copiedTurnId, type SessionId, type TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { addUsage } from '../core/model.ts'
import { NOTHING_SPENT } from '../core/spending.ts'
import { FORGOTTEN_MARK, fromStored, mediaIn, storedText } from './content-codec.ts'
import { effectOf } from './event-effect.ts'
import type { PlacedEvent } from './event-port.ts'
import { addMediaUses, copyMediaUses } from './media-uses.ts'
import type { CheckpointPlace } from './memory-port.ts'
import { isRemoval, noteRemoval } from './removals.ts'
import { defined, id, integer, json, oneOf, optional, type RowCodec, readRows } from './rows.ts'
import { leavesShelf, SessionListing } from './session-listing.ts'
import { inBatches, placeholders, type RepositoryDeps, type Sql, type SqlValue, type WriteDeps } from './sql.ts'
import type { EventReader, EventToAppend, EventWriter, SessionSpending, SummaryPlace } from './store.ts'

/** More events than this in one append are inserted in several statements, so that few statement texts exist. */
const ROWS_PER_INSERT = 64

const SPENT_PAGE = 500

const COSTING = "'turn_completed', 'context_compacted', 'checkpoint_written'"
const COLUMNS = 'seq, at, type, turn_id, data'
/** Those and the session's number. */
const WIDTH = 6
/** A summary that was forgotten stands for nothing: those before it do. */
const NOT_FORGOTTEN = `data NOT LIKE '${FORGOTTEN_MARK}%'`
const ACTIVITY_OF = 'no = (SELECT no FROM sessions WHERE id = $1)'
/** The file numbers its rows in the order in which they are written: the one order of all sessions' events. */
const PLACED = `SELECT events.rowid AS place, sessions.id AS session_id, ${COLUMNS}
  FROM events CROSS JOIN sessions WHERE sessions.no = events.session_no AND sessions.deleted_at IS NULL`
/** A number keeps the index that every append touches small. */
const OF_SESSION = 'session_no = (SELECT no FROM sessions WHERE id = $1)'

export const eventCodec: RowCodec<SessionEvent> = {
  table: 'events',
  key: ['session_id', 'seq'],
  // The cast joins type and data again, which `append` wrote as a pair.
  decode(row) {
    const type = oneOf(row, 'type', EVENT_TYPES)
    const { forgotten, ...data } = json<{ readonly forgotten?: true }>(row, 'data')
    return {
      seq: integer(row, 'seq'),
      at: integer(row, 'at'),
      ...defined({ turnId: optional(row, 'turn_id', id<TurnId>), forgotten }),
      type,
      data: fromStored(type, data),
    } as SessionEvent
  },
}

const placedCodec: RowCodec<PlacedEvent> = {
  table: eventCodec.table,
  key: eventCodec.key,
  decode: (row) => ({ place: integer(row, 'place'), session: id(row, 'session_id'), event: eventCodec.decode(row) }),
}

function addCost({ turns, reached, usage }: SessionSpending, event: SessionEvent): SessionSpending {
  if (event.type === 'context_compacted' || event.type === 'checkpoint_written')
    return { turns, reached, usage: addUsage(usage, event.data.usage) }
  if (event.type !== 'turn_completed') return { turns, reached, usage }
  const { steps } = event.data
  return { turns: turns + 1, reached: reached + (steps > 0 ? 1 : 0), usage: addUsage(usage, event.data.usage) }
}

export class EventReading implements EventReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  stored(after: number, limit: number): Promise<readonly PlacedEvent[]> {
    return this.#placed('events.rowid > $1 ORDER BY events.rowid LIMIT ($2 + 0)', [after, limit])
  }

  async newest(): Promise<PlacedEvent | undefined> {
    return (await this.#placed('events.rowid <= $1 ORDER BY events.rowid DESC LIMIT 1', [Number.MAX_SAFE_INTEGER]))[0]
  }

  async placed(sessionId: SessionId, seq: number): Promise<PlacedEvent | undefined> {
    return (await this.#placed(`events.${OF_SESSION} AND seq = $2`, [sessionId, seq]))[0]
  }

  since(sessionId: SessionId, after: number, limit: number): Promise<readonly SessionEvent[]> {
    return this.list(`${OF_SESSION} AND seq > $2 ORDER BY seq LIMIT ($3 + 0)`, [sessionId, after, limit])
  }

  async latest(sessionId: SessionId, limit: number): Promise<readonly SessionEvent[]> {
    return (await this.list(`${OF_SESSION} ORDER BY seq DESC LIMIT ($2 + 0)`, [sessionId, limit])).toReversed()
  }

  async latestSummary(sessionId: SessionId): Promise<SummaryPlace | undefined> {
    // The type stands in the text of the statement, or the index of the summaries could not be used.
    const where = `${OF_SESSION} AND type = 'context_compacted' AND ${NOT_FORGOTTEN} ORDER BY seq DESC LIMIT 1`
    const [event] = await this.list(where, [sessionId])
    return event?.type === 'context_compacted' ? { seq: event.seq, back: event.data.back } : undefined
  }

  async latestCheckpoint(sessionId: SessionId): Promise<CheckpointPlace | undefined> {
    const where = `${OF_SESSION} AND type = 'checkpoint_written' ORDER BY seq DESC LIMIT 1`
    const [event] = await this.list(where, [sessionId])
    return event?.type === 'checkpoint_written' ? { seq: event.seq, data: event.data } : undefined
  }

  async messagesBefore(sessionId: SessionId, seq: number): Promise<number> {
    const row = await this.sql.get(
      `SELECT COUNT(*) AS messages FROM events
        WHERE ${OF_SESSION} AND seq < $2 AND type IN ('user_message', 'assistant_message')`,
      [sessionId, seq],
    )
    return row === undefined ? 0 : integer(row, 'messages')
  }

  /** A page at a time: a log may be long, and nothing else runs while a page is read. */
  async spent(sessionId: SessionId): Promise<SessionSpending> {
    let spent: SessionSpending = { ...NOTHING_SPENT, reached: 0 }
    for (let after = 0; ; ) {
      const rows = await this.list(`${OF_SESSION} AND seq > $2 AND type IN (${COSTING}) ORDER BY seq LIMIT ($3 + 0)`, [
        sessionId,
        after,
        SPENT_PAGE,
      ])
      for (const event of rows) spent = addCost(spent, event)
      after = rows.at(-1)?.seq ?? after
      if (rows.length < SPENT_PAGE) return spent
    }
  }

  async latestOf(
    sessionId: SessionId,
    types: readonly [EventType, ...EventType[]],
    limit: number,
  ): Promise<readonly SessionEvent[]> {
    const where = `${OF_SESSION} AND type IN (${placeholders(types.length, 3)}) ORDER BY seq DESC LIMIT ($2 + 0)`
    return (await this.list(where, [sessionId, limit, ...types])).toReversed()
  }

  async #placed(where: string, params: readonly SqlValue[]): Promise<readonly PlacedEvent[]> {
    return readRows(placedCodec, await this.sql.all(`${PLACED} AND ${where}`, params), this.#logger)
  }

  protected async list(where: string, params: readonly SqlValue[]): Promise<readonly SessionEvent[]> {
    const query = `SELECT CAST($1 AS TEXT) AS session_id, ${COLUMNS} FROM events WHERE ${where}`
    return readRows(eventCodec, await this.sql.all(query, params), this.#logger)
  }
}

export class EventWriting extends EventReading implements EventWriter {
  readonly #deps: WriteDeps

  constructor(deps: WriteDeps) {
    super(deps)
    this.#deps = deps
  }

  /**
   * Takes the numbers and keeps the activity row in step, in one statement: a gap or a repeat cannot come about (C23).
   */
  async append(sessionId: SessionId, at: number, drafts: readonly EventToAppend[]): Promise<number> {
    for (const draft of drafts)
      if (!EVENT_TYPES.includes(draft.type)) throw invalid(`${String(draft.type)} is no event type`)
    if (drafts.length === 0) throw invalid('there is nothing to append')
    const effect = effectOf(drafts)
    const row = await this.sql.get(
      `UPDATE session_activity SET last_seq = last_seq + $1, message_count = message_count + $2,
        turn_count = turn_count + $3, last_activity_at = $4, preview = COALESCE($5, preview),
        description = CASE WHEN description = '' THEN $6 ELSE description END
        WHERE no = (SELECT no FROM sessions WHERE id = $7) RETURNING no, last_seq, shelf`,
      [drafts.length, effect.messages, effect.turns, at, effect.preview, effect.description, sessionId],
    )
    if (row === undefined) throw new ParleyError('not_found', `there is no session ${sessionId}`)
    const sessionNo = integer(row, 'no')
    if (leavesShelf(optional(row, 'shelf', integer), at)) await new SessionListing(this.sql).relist(sessionId)
    if (drafts.some(({ type }) => type === 'session_exported'))
      await this.sql.run('UPDATE session_activity SET exported_at = $2 WHERE no = $1', [sessionNo, at])
    if (isRemoval(drafts)) await noteRemoval(this.sql, sessionId)
    const first = await this.#place({ sessionNo, first: integer(row, 'last_seq') - drafts.length + 1, at }, drafts)
    const { watch, named, sql } = this.#deps
    const media = mediaIn(drafts)
    await addMediaUses(this.sql, sessionNo, new Set(media))
    if (named && media.length > 0) sql.afterCommit(() => named(media))
    if (watch) sql.afterCommit(() => watch.appended(sessionId, first, drafts))
    return first
  }

  async copy(from: SessionId, to: SessionId): Promise<number> {
    const behind = await this.sql.get(`SELECT last_seq FROM session_activity WHERE ${ACTIVITY_OF}`, [to])
    const copied = await this.sql.run(
      `WITH own AS MATERIALIZED (SELECT key, value FROM json_each($3))
        INSERT INTO events (session_no, ${COLUMNS})
        SELECT taker.no, taker.last_seq + ROW_NUMBER() OVER (ORDER BY events.seq), events.at, events.type,
          own.value, events.data
        FROM events JOIN session_activity AS taker ON taker.no = (SELECT no FROM sessions WHERE id = $2)
        LEFT JOIN own ON own.key = events.turn_id
        WHERE ${OF_SESSION} AND events.type <> 'session_started' ORDER BY events.seq`,
      [from, to, JSON.stringify(await this.#turnsFor(from, to))],
    )
    await this.#renameTakenBack(to, behind === undefined ? 0 : integer(behind, 'last_seq'))
    const changed = await this.sql.run(
      `UPDATE session_activity SET last_seq = session_activity.last_seq + $3,
        message_count = session_activity.message_count + old.message_count,
        turn_count = session_activity.turn_count + old.turn_count,
        preview = COALESCE(NULLIF(old.preview, ''), session_activity.preview),
        description = CASE WHEN session_activity.description = '' THEN old.description ELSE session_activity.description END,
        description_source =
          CASE WHEN session_activity.description = '' THEN old.description_source ELSE session_activity.description_source END
        FROM session_activity AS old WHERE old.no = (SELECT no FROM sessions WHERE id = $1)
        AND session_activity.no = (SELECT no FROM sessions WHERE id = $2)`,
      [from, to, copied],
    )
    if (changed === 0) throw new ParleyError('not_found', `there is no session ${from} or no session ${to}`)
    await copyMediaUses(this.sql, from, to)
    return copied
  }

  async remove(sessionId: SessionId, upTo: number): Promise<void> {
    const gone = `DELETE FROM events WHERE seq <= $2
      AND session_no = (SELECT no FROM sessions WHERE id = $1 AND deleted_at IS NOT NULL)`
    await this.sql.run(gone, [sessionId, upTo])
    const { watch, sql } = this.#deps
    if (!watch) return
    const row = await this.sql.get('SELECT COALESCE(MAX(rowid), 0) AS place FROM events', [])
    const last = row === undefined ? 0 : integer(row, 'place')
    sql.afterCommit(() => watch.taken(last))
  }

  /** Returns the ids that the turns of one session have in the copy of its log, by their own. */
  async #turnsFor(from: SessionId, to: SessionId): Promise<Readonly<Record<string, TurnId>>> {
    const query = `SELECT DISTINCT turn_id FROM events WHERE ${OF_SESSION} AND turn_id IS NOT NULL`
    const turns = (await this.sql.all(query, [from])).map((row) => id<TurnId>(row, 'turn_id'))
    return Object.fromEntries(turns.map((turn) => [turn, copiedTurnId(turn, to)]))
  }

  /** Has copied events name the copies of the turns that were taken back. */
  async #renameTakenBack(session: SessionId, after: number): Promise<void> {
    const where = `${OF_SESSION} AND seq > $2 AND type = 'exchange_taken_back'`
    for (const { turnId: _copied, ...event } of await this.list(where, [session, after])) {
      const stored = storedText(withCopiedTurns(event, session))
      await this.sql.run(`UPDATE events SET data = $3 WHERE ${OF_SESSION} AND seq = $2`, [session, event.seq, stored])
    }
  }

  /** Returns the number of the first. A last number that lags behind the log, as in a damaged file, is set right. */
  async #place(place: Place, drafts: readonly EventToAppend[]): Promise<number> {
    try {
      await this.#insert(place, drafts)
      return place.first
    } catch (err) {
      if (errorCode(err) !== 'conflict') throw err
    }
    const { sessionNo } = place
    const row = await this.sql.get('SELECT MAX(seq) AS last FROM events WHERE session_no = $1', [sessionNo])
    const first = (row === undefined ? 0 : integer(row, 'last')) + 1
    const last = first + drafts.length - 1
    await this.sql.run('UPDATE session_activity SET last_seq = $2 WHERE no = $1', [sessionNo, last])
    await this.#insert({ ...place, first }, drafts)
    return first
  }

  async #insert({ sessionNo, first, at }: Place, drafts: readonly EventToAppend[]): Promise<void> {
    let seq = first
    for (const some of inBatches(drafts, ROWS_PER_INSERT)) {
      const params: SqlValue[] = []
      for (const draft of some) params.push(sessionNo, seq++, at, draft.type, draft.turnId ?? null, storedText(draft))
      await this.sql.run(insertText(some.length), params)
    }
  }
}

/** The place and time of rows to append. */
interface Place {
  readonly sessionNo: number
  readonly first: number
  readonly at: number
}

const insertTexts = new Map<number, string>()

function insertText(count: number): string {
  const known = insertTexts.get(count)
  if (known !== undefined) return known
  const tuples = Array.from({ length: count }, (_, row) => `(${placeholders(WIDTH, 1 + row * WIDTH)})`)
  const text = `INSERT INTO events (session_no, ${COLUMNS}) VALUES ${tuples.join(', ')}`
  insertTexts.set(count, text)
  return text
}

function invalid(message: string): ParleyError {
  return new ParleyError('invalid', message)
}
