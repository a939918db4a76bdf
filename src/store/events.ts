import { withCopiedTurns } from '../core/copied-turns.ts'
import { errorCode, ParleyError } from '../core/errors.ts'
import { EVENT_TYPES } from '../core/event.ts'
import { copiedTurnId, type SessionId, type TurnId } from '../core/ids.ts'
import { mediaIn, storedText } from './content-codec.ts'
import { effectOf } from './event-effect.ts'
import type { EventToAppend, EventWriter } from './event-port.ts'
import { COLUMNS, EventReading, OF_SESSION } from './event-reading.ts'
import { addMediaUses, copyMediaUses } from './media-uses.ts'
import { isRemoval, noteRemoval } from './removals.ts'
import { id, integer, optional } from './rows.ts'
import { leavesShelf, SessionListing } from './session-listing.ts'
import { inBatches, placeholders, type SqlValue, type WriteDeps } from './sql.ts'

/** More events than this in one append are inserted in several statements, so that few statement texts exist. */
const ROWS_PER_INSERT = 64

/** The columns of a row to insert: `COLUMNS` and the session's number. */
const WIDTH = 6
const ACTIVITY_OF = 'no = (SELECT no FROM sessions WHERE id = $1)'
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
