import { emptied, withoutParts, withoutQuoted } from '../core/emptied.ts'
import type { SessionEvent } from '../core/event.ts'
import { foldText } from '../core/fold-text.ts'
import {
  addCounts,
  type EventParts,
  type ForgetCounts,
  type Forgetting,
  NO_PLAN,
  NOTHING_FORGOTTEN,
} from '../core/forgetting.ts'
import type { InboxId, MediaId, SessionId, SourceId, TurnId } from '../core/ids.ts'
import { labelledWords } from '../core/label.ts'
import { quotedApplicant, quotedEvent } from '../core/quoting.ts'
import { storedText } from './content-codec.ts'
import { eventCodec } from './event-reading.ts'
import type { ForgettingWriter, ReceivedRow, RetentionMark } from './forget-port.ts'
import { COLUMNS, ForgettingReading, NO_OF } from './forgetting-reading.ts'
import { BLANK_PART, endedBy, FORGOTTEN } from './outbox.ts'
import { unquoteSent } from './quoted-words.ts'
import { addRemoval, noteRemoval } from './removals.ts'
import { integer, readFound, readRows } from './rows.ts'
import { addWords, removeWords } from './search.ts'
import { inBatches, placeholders, type WriteDeps } from './sql.ts'

/** More ids than this are asked for in several statements, so that few statement texts exist. */
const AT_ONCE = 50
/** Pages of the index that are merged in one transaction. */
const MERGED_PAGES = 200
const UNUSE = `DELETE FROM media_uses WHERE media_id = $2 AND session_no = ${NO_OF}
  AND NOT EXISTS (SELECT 1 FROM events INDEXED BY events_with_files WHERE session_no = ${NO_OF}
    AND instr(data, '"media":"') > 0 AND instr(data, $2) > 0)`

export class ForgettingWriting extends ForgettingReading implements ForgettingWriter {
  readonly #known: WriteDeps['known']

  constructor(deps: WriteDeps) {
    super(deps)
    this.#known = deps.known
  }

  async begin({ id: name, state, plan, counts, askedAt }: Forgetting): Promise<void> {
    const insert = `INSERT INTO forgettings (${COLUMNS}) VALUES ($1, $2, $3, $4, $5)`
    await this.sql.run(insert, [name, state, JSON.stringify(plan), JSON.stringify(counts), askedAt])
    await addRemoval(this.sql)
  }

  async note(name: string, counts: ForgetCounts): Promise<void> {
    await this.sql.run('UPDATE forgettings SET counts = $2 WHERE id = $1', [name, JSON.stringify(counts)])
  }

  async finish(name: string, { plan, counts }: Pick<Forgetting, 'plan' | 'counts'>): Promise<void> {
    const sessions = plan.sessions.map(({ id }) => ({ id, empty: [], cut: [], turns: [], unnamed: 'preview' }))
    const query = "UPDATE forgettings SET state = 'done', plan = $2, counts = $3 WHERE id = $1"
    const { channels } = plan
    await this.sql.run(query, [name, JSON.stringify({ ...NO_PLAN, sessions, channels }), JSON.stringify(counts)])
  }

  async empty(session: SessionId, seqs: readonly number[], what: 'all' | 'quotes'): Promise<ForgetCounts> {
    let counts: ForgetCounts = NOTHING_FORGOTTEN
    if (seqs.length > 0) await noteRemoval(this.sql, session)
    for (const some of inBatches(seqs, AT_ONCE)) {
      await this.#unquote(session, some)
      const among = placeholders(some.length, 2)
      const query = `SELECT CAST($1 AS TEXT) AS session_id, seq, at, type, turn_id, data FROM events
        WHERE session_no = ${NO_OF} AND seq IN (${among})`
      for (const event of readRows(eventCodec, await this.sql.all(query, [session, ...some]), this.logger)) {
        if (event.forgotten) continue
        counts = addCounts(counts, await this.#empty(session, event, what))
        if (what === 'quotes') counts = addCounts(counts, await this.#unquoteIndexed(session, event))
      }
      if (what === 'quotes') continue
      const docs = `session_no = ${NO_OF} AND seq IN (${among})`
      const indexed = await removeWords(this.sql, docs, [session, ...some])
      counts = addCounts(counts, { indexed })
    }
    return counts
  }

  #unquote(session: SessionId, seqs: readonly number[]): Promise<void> {
    return unquoteSent(
      this.sql,
      seqs.map((seq) => quotedEvent(session, seq)),
    )
  }

  async #empty(session: SessionId, event: SessionEvent, what: 'all' | 'quotes'): Promise<Partial<ForgetCounts>> {
    const left = what === 'quotes' ? withoutQuotes(event) : undefined
    const stored = left === undefined ? storedText({ ...emptied(event), forgotten: true }) : storedText(left)
    const update = `UPDATE events SET data = $3 WHERE session_no = ${NO_OF} AND seq = $2`
    await this.sql.run(update, [session, event.seq, stored])
    return left === undefined ? countsOf(event) : { quotes: 1 }
  }

  /** Leaves in the index what a message says itself; a message keeps its name there, or has none. */
  async #unquoteIndexed(session: SessionId, event: SessionEvent): Promise<Partial<ForgetCounts>> {
    if (event.type !== 'user_message' && event.type !== 'message_edited') return {}
    const left = withoutQuoted(event.data)
    const words = left === undefined ? '' : labelledWords(left)
    if (words === labelledWords(event.data)) return {}
    const where = `session_no = ${NO_OF} AND seq = $2`
    const doc = await this.sql.get(`SELECT message FROM search_docs WHERE ${where}`, [session, event.seq])
    if (doc === undefined) return {}
    const indexed = await removeWords(this.sql, where, [session, event.seq])
    const { message } = doc
    const name = typeof message === 'string' ? { message } : {}
    const place = { session: 'SELECT no FROM sessions WHERE id = $1', key: session, seq: event.seq }
    if (words !== '') await addWords(this.sql, { ...place, ...name, words: foldText(words) })
    return { indexed }
  }

  async emptyParts(session: SessionId, parts: readonly EventParts[]): Promise<Partial<ForgetCounts>> {
    let events = 0
    if (parts.length > 0) await noteRemoval(this.sql, session)
    for (const part of parts) {
      const query = `SELECT CAST($1 AS TEXT) AS session_id, seq, at, type, turn_id, data FROM events
        WHERE session_no = ${NO_OF} AND seq = $2`
      const event = readFound(eventCodec, await this.sql.get(query, [session, part.seq]))
      const left = event === undefined || event.forgotten ? undefined : withoutParts(event, part)
      await this.#unquote(session, [part.seq])
      if (left === undefined) continue
      const update = `UPDATE events SET data = $3 WHERE session_no = ${NO_OF} AND seq = $2`
      await this.sql.run(update, [session, part.seq, storedText(left)])
      events++
    }
    return { events }
  }

  async emptyTurns(turns: readonly TurnId[]): Promise<number> {
    let questions = 0
    for (const some of inBatches(turns, AT_ONCE)) {
      const among = `turn_id IN (${placeholders(some.length)})`
      await this.#dropGiven(among, some)
      // Without its arguments a call is none that anybody has allowed.
      questions += await this.sql.run(
        `UPDATE approvals SET args = '{}', decided_by = CASE state WHEN 'allowed' THEN NULL ELSE decided_by END,
            state = CASE state WHEN 'used' THEN 'used' ELSE 'denied' END
          WHERE ${among} AND (args <> '{}' OR state IN ('asked', 'allowed'))`,
        some,
      )
      questions += await this.sql.run(
        `UPDATE questions SET text = '', choices = '[]', free = NULL, answer = NULL, answered_by = NULL, state = 'ended'
          WHERE ${among} AND (text <> '' OR state <> 'ended')`,
        some,
      )
      await this.sql.run(`UPDATE turns SET precheck = NULL WHERE id IN (${placeholders(some.length)})`, some)
    }
    return questions
  }

  /** Nothing follows from a yes that came late, where the call has not begun. */
  async #dropGiven(among: string, turns: readonly TurnId[]): Promise<void> {
    await this.sql.run(
      `UPDATE inbox SET state = 'done', outcome = 'forgotten' WHERE state = 'waiting'
        AND session_id IN (SELECT session_id FROM approvals WHERE ${among})
        AND event_key IN (SELECT 'approval:' || code FROM approvals WHERE ${among})`,
      turns,
    )
  }

  async emptyReceived(
    inboxId: InboxId,
    { dispatch, decision }: Pick<ReceivedRow, 'dispatch' | 'decision'>,
  ): Promise<boolean> {
    const query = 'UPDATE inbox SET dispatch = $2, decision = $3 WHERE id = $1 AND (dispatch <> $2 OR decision <> $3)'
    return (await this.sql.run(query, [inboxId, JSON.stringify(dispatch), JSON.stringify(decision)])) > 0
  }

  async emptySent(source: SourceId): Promise<Pick<ForgetCounts, 'sent' | 'notSent'>> {
    const open = `source = $1 AND op <> 'delete' AND state IN ('planned', 'waiting', 'sending', 'uncertain')`
    const row = await this.sql.get(`SELECT COUNT(*) AS open FROM outbox WHERE ${open}`, [source])
    const notSent = row === undefined ? 0 : integer(row, 'open')
    const blanked = await this.sql.run(
      `UPDATE outbox SET part = $2, earlier = NULL, media = NULL,
        reason = CASE WHEN op = 'delete' THEN reason ELSE ${FORGOTTEN} END,
        state = CASE WHEN op = 'delete' THEN state ELSE ${endedBy('state')} END
        WHERE source = $1 AND (part <> $2 OR earlier IS NOT NULL)`,
      [source, BLANK_PART],
    )
    return { sent: Math.max(0, blanked - notSent), notSent }
  }

  async unname(session: SessionId, what: 'preview' | 'description' | 'all'): Promise<void> {
    const rest = what === 'preview' ? '' : ", description = '', description_source = 'fallback'"
    await this.sql.run(`UPDATE session_activity SET preview = ''${rest} WHERE no = ${NO_OF}`, [session])
    if (what !== 'all') return
    const names = "'$.chat_title', '$.topic_title', '$.person_name'"
    await this.sql.run(`UPDATE sessions SET metadata = json_remove(metadata, ${names}) WHERE id = $1`, [session])
    this.#known.forget(session)
  }

  async unuse(session: SessionId, media: readonly MediaId[]): Promise<number> {
    for (const file of media) await this.sql.run(UNUSE, [session, file])
    return this.forgetTranscripts(media)
  }

  async forgetTranscripts(media: readonly MediaId[]): Promise<number> {
    let removed = 0
    for (const file of media)
      removed += await this.sql.run(
        `DELETE FROM transcripts WHERE media_id = $1
          AND NOT EXISTS (SELECT 1 FROM media_uses WHERE media_uses.media_id = $1)`,
        [file],
      )
    return removed
  }

  async unnameApplicant(key: string): Promise<void> {
    await this.sql.run('UPDATE admissions SET name = key WHERE key = $1', [key])
    await unquoteSent(this.sql, [quotedApplicant(key)])
  }

  async mergeIndex(): Promise<boolean> {
    const before = await this.#changes()
    await this.sql.run('INSERT INTO search_words (search_words, rank) VALUES ($1, $2)', ['merge', -MERGED_PAGES])
    return (await this.#changes()) - before >= 2
  }

  async #changes(): Promise<number> {
    const row = await this.sql.get('SELECT total_changes() AS changes', [])
    return row === undefined ? 0 : integer(row, 'changes')
  }

  async retained(session: number, seq: number): Promise<void> {
    const query = `INSERT INTO retained (session_no, seq) VALUES ($1, $2)
      ON CONFLICT (session_no) DO UPDATE SET seq = excluded.seq`
    await this.sql.run(query, [session, seq])
  }

  async mark({ rule, days, reportedAt, startsAt, seenAt }: RetentionMark): Promise<void> {
    await this.sql.run(
      `INSERT INTO retention_marks (rule, days, reported_at, starts_at, seen_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (rule) DO UPDATE SET days = excluded.days, reported_at = excluded.reported_at,
          starts_at = excluded.starts_at, seen_at = excluded.seen_at`,
      [rule, days, reportedAt, startsAt, seenAt ?? null],
    )
  }

  async unmark(rule: string): Promise<void> {
    await this.sql.run('DELETE FROM retention_marks WHERE rule = $1', [rule])
  }
}

/** Returns a message without the words of others; undefined for one of which nothing is left. */
function withoutQuotes(event: SessionEvent) {
  if (event.type !== 'user_message' && event.type !== 'message_edited') return undefined
  const data = withoutQuoted(event.data)
  return data === undefined ? undefined : { type: event.type, data }
}

function countsOf({ type }: SessionEvent): Partial<ForgetCounts> {
  const said = type === 'user_message' || type === 'message_edited'
  return {
    events: 1,
    ...(said || type === 'assistant_message' || type === 'assistant_posted' ? { messages: 1 } : {}),
    ...(type === 'context_compacted' ? { summaries: 1 } : {}),
    ...(type === 'checkpoint_written' ? { workingMemories: 1 } : {}),
    ...(type === 'tool_result' ? { toolResults: 1 } : {}),
  }
}
