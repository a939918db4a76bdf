import { type Forgetting, type LeavingWords, MOST_AT_FIRST, type SessionPlan } from '../core/forgetting.ts'
import { type InboxId, madeAt, type SessionId, type SourceId, type TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { AuthorId } from '../core/platform-id.ts'
import { FORGOTTEN_MARK } from './content-codec.ts'
import type { ForgettingReader, ReceivedRow, RetainedSession, RetentionMark, SentRow } from './forget-port.ts'
import { codec, markCodec, receivedCodec, sentCodec } from './forgetting-rows.ts'
import type { MessageRef } from './memory-port.ts'
import { countRemovals, hasRemovedSince } from './removals.ts'
import { id, integer, readFound, readRows, text } from './rows.ts'
import { messageKey } from './search.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

/** The columns of a request. */
export const COLUMNS = 'id, state, plan, counts, asked_at'
/** The number of the session that is the first parameter. */
export const NO_OF = '(SELECT no FROM sessions WHERE id = $1)'

export class ForgettingReading implements ForgettingReader {
  protected readonly sql: Sql
  protected readonly logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.logger = logger
  }

  async get(name: string): Promise<Forgetting | undefined> {
    return readFound(codec, await this.sql.get(`SELECT ${COLUMNS} FROM forgettings WHERE id = $1`, [name]))
  }

  async open(): Promise<readonly Forgetting[]> {
    const query = `SELECT ${COLUMNS} FROM forgettings WHERE state = 'running' ORDER BY asked_at`
    return readRows(codec, await this.sql.all(query, []), this.logger)
  }

  async isForgetting(turn: TurnId): Promise<boolean> {
    const query = `SELECT 1 AS waits FROM forgettings, json_each(plan, '$.sessions') AS one
      WHERE state = 'running' AND json_extract(one.value, '$.running.turn') = $1 LIMIT 1`
    return (await this.sql.get(query, [turn])) !== undefined
  }

  async isMeant(what: InboxId | SourceId): Promise<boolean> {
    const query = `SELECT 1 AS meant FROM forgettings WHERE state = 'running' AND (
      EXISTS (SELECT 1 FROM json_each(plan, '$.inbox') AS one WHERE one.value = $1)
      OR EXISTS (SELECT 1 FROM json_each(plan, '$.sources') AS one WHERE one.value = $1)
      OR EXISTS (SELECT 1 FROM json_each(plan, '$.sessions') AS one, json_each(one.value, '$.running.rows') AS taken
        WHERE taken.value = $1)) LIMIT 1`
    return (await this.sql.get(query, [what])) !== undefined
  }

  async leaving(session: SessionId, which?: 'ended'): Promise<LeavingWords> {
    const still = `(SELECT turns.state FROM turns WHERE turns.id = json_extract(one.value, '$.running.turn'))`
    const rows = await this.sql.all(
      `SELECT json_extract(one.value, '$.running') AS running FROM forgettings, json_each(plan, '$.sessions') AS one
        WHERE state = 'running' AND json_extract(one.value, '$.id') = $1
        AND json_extract(one.value, '$.running') IS NOT NULL
        ${which === 'ended' ? `AND ${still} IS NOT 'running'` : ''}`,
      [session],
    )
    const running = rows.map((row) => JSON.parse(text(row, 'running')) as NonNullable<SessionPlan['running']>)
    return { turns: running.map(({ turn }) => turn), seqs: running.flatMap(({ empty }) => empty) }
  }

  removals(): Promise<number> {
    return countRemovals(this.sql)
  }

  async hasRemovedSince(count: number, sessions?: readonly SessionId[]): Promise<boolean> {
    if (await hasRemovedSince(this.sql, count, sessions)) return true
    return sessions !== undefined && this.#isEmptying(sessions)
  }

  /**
   * Returns whether events of a session are not emptied yet: the first commit of a request takes the newest, and the
   * oldest is the last. A request is open longer than that, while a turn runs.
   */
  async #isEmptying(sessions: readonly SessionId[]): Promise<boolean> {
    const query = `SELECT 1 AS left FROM forgettings, json_each(plan, '$.sessions') AS one
      WHERE state = 'running' AND json_array_length(one.value, '$.empty') > ${MOST_AT_FIRST}
      AND json_extract(one.value, '$.id') IN (SELECT value FROM json_each($1))
      AND EXISTS (SELECT 1 FROM events WHERE seq = json_extract(one.value, '$.empty[#-1]')
        AND session_no = (SELECT no FROM sessions WHERE id = json_extract(one.value, '$.id'))
        AND substr(data, 1, ${FORGOTTEN_MARK.length}) <> '${FORGOTTEN_MARK}') LIMIT 1`
    return (await this.sql.get(query, [JSON.stringify(sessions)])) !== undefined
  }

  async recent(limit: number): Promise<readonly Forgetting[]> {
    const query = `SELECT ${COLUMNS} FROM forgettings ORDER BY asked_at DESC LIMIT $1`
    return readRows(codec, await this.sql.all(query, [limit]), this.logger)
  }

  async receivedAfter(after: number, limit: number): Promise<readonly ReceivedRow[]> {
    const query = `SELECT no, id, session_id, turn_id, state, outcome, dispatch, decision FROM inbox
      WHERE no > $1 ORDER BY no LIMIT $2`
    return readRows(receivedCodec, await this.sql.all(query, [after, limit]), this.logger)
  }

  async latestTime(until?: InboxId): Promise<number> {
    const upTo = until === undefined ? '' : 'WHERE no <= (SELECT no FROM inbox WHERE id = $1)'
    const query = `SELECT id FROM inbox ${upTo} ORDER BY id DESC LIMIT 1`
    const row = await this.sql.get(query, until === undefined ? [] : [until])
    return row === undefined ? 0 : (madeAt(text(row, 'id')) ?? 0)
  }

  async lastSent(): Promise<number> {
    const row = await this.sql.get('SELECT COALESCE(MAX(no), 0) AS last FROM outbox', [])
    return row === undefined ? 0 : integer(row, 'last')
  }

  async sentAfter(after: number, limit: number): Promise<readonly SentRow[]> {
    const query = `SELECT no, id, source, session_id, trace_id, address, part, earlier, media, message_id, state,
      started_at FROM outbox
      WHERE no > $1 ORDER BY no LIMIT $2`
    return readRows(sentCodec, await this.sql.all(query, [after, limit]), this.logger)
  }

  async sessionsOf(authors: readonly AuthorId[]): Promise<readonly SessionId[]> {
    const among = 'IN (SELECT value FROM json_each($1))'
    const rows = await this.sql.all(
      `SELECT session_id FROM participants WHERE participant ${among}
        UNION SELECT session_id FROM authors WHERE author ${among}
        UNION SELECT sessions.id FROM memory_entries JOIN sessions ON sessions.no = session_no
          WHERE EXISTS (SELECT 1 FROM json_each(memory_entries.authors) AS one WHERE one.value ${among})`,
      [JSON.stringify(authors)],
    )
    return rows.map((row) => id(row, 'session_id'))
  }

  async copiesOf(session: SessionId): Promise<readonly SessionId[]> {
    const rows = await this.sql.all(
      `SELECT DISTINCT sessions.id FROM events JOIN sessions ON sessions.no = events.session_no
        WHERE events.type = 'history_taken_over' AND json_extract(events.data, '$.from') = $1
        AND sessions.deleted_at IS NULL`,
      [session],
    )
    return rows.map((row) => id(row, 'id'))
  }

  async entriesOf(session: SessionId, messages: readonly MessageRef[]): Promise<readonly number[]> {
    const rows = await this.sql.all(
      `SELECT DISTINCT entry_no FROM memory_sources JOIN memory_entries ON memory_entries.no = entry_no
        WHERE session_no = ${NO_OF} AND message IN (SELECT value FROM json_each($2))`,
      [session, JSON.stringify(messages.map(messageKey))],
    )
    return rows.map((row) => integer(row, 'entry_no'))
  }

  async entriesOfTurn(turn: TurnId): Promise<readonly number[]> {
    // The name of such a request is that of the turn and the call, with a space between.
    const query = 'SELECT no FROM memory_entries WHERE request >= $1 AND request < $2'
    return (await this.sql.all(query, [`tool ${turn} `, `tool ${turn}!`])).map((row) => integer(row, 'no'))
  }

  async sessions(after: number, limit: number): Promise<readonly RetainedSession[]> {
    const rows = await this.sql.all(
      `SELECT no, id, COALESCE(retained.seq, 0) AS seq FROM sessions LEFT JOIN retained ON retained.session_no = no
        WHERE no > $1 AND deleted_at IS NULL ORDER BY no LIMIT $2`,
      [after, limit],
    )
    return rows.map((row) => ({ no: integer(row, 'no'), id: id(row, 'id'), seq: integer(row, 'seq') }))
  }

  async marks(): Promise<readonly RetentionMark[]> {
    const query = 'SELECT rule, days, reported_at, starts_at, seen_at FROM retention_marks ORDER BY rule'
    return readRows(markCodec, await this.sql.all(query, []), this.logger)
  }
}
