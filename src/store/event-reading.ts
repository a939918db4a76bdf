import { EVENT_TYPES, type EventType, type SessionEvent } from '../core/event.ts'
import type { SessionId, TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { addUsage } from '../core/model.ts'
import { NOTHING_SPENT } from '../core/spending.ts'
import { FORGOTTEN_MARK, fromStored } from './content-codec.ts'
import type { EventReader, PlacedEvent, SessionSpending, SummaryPlace } from './event-port.ts'
import type { CheckpointPlace } from './memory-port.ts'
import { defined, id, integer, json, oneOf, optional, type RowCodec, readRows } from './rows.ts'
import { placeholders, type RepositoryDeps, type Sql, type SqlValue } from './sql.ts'

export const COLUMNS = 'seq, at, type, turn_id, data'
const SPENT_PAGE = 500

const COSTING = "'turn_completed', 'context_compacted', 'checkpoint_written'"
/** A summary that was forgotten stands for nothing: those before it do. */
const NOT_FORGOTTEN = `data NOT LIKE '${FORGOTTEN_MARK}%'`
/** The file numbers its rows in the order in which they are written: the one order of all sessions' events. */
const PLACED = `SELECT events.rowid AS place, sessions.id AS session_id, ${COLUMNS}
  FROM events CROSS JOIN sessions WHERE sessions.no = events.session_no AND sessions.deleted_at IS NULL`
/** A number keeps the index that every append touches small. */
export const OF_SESSION = 'session_no = (SELECT no FROM sessions WHERE id = $1)'

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
