import { ParleyError } from '../core/errors.ts'
import { foldText } from '../core/fold-text.ts'
import type { AgentId, InboxId, ScopeKey, SessionId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { EntryWriter, MemoryEntry } from '../core/memory.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type { MemoryReader, MemoryWriter, MessageRef, NewMemoryEntry } from './memory-port.ts'
import { noteRemoval } from './removals.ts'
import { id, integer, json, oneOf, type RowCodec, readFound, readRows, text } from './rows.ts'
import { addWords, forgetSession, messageKey, removeWords } from './search.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

const WRITERS: readonly EntryWriter[] = ['checkpoint', 'agent', 'person']
const ENTRIES = `SELECT memory_entries.no, memory_entries.agent_id, sessions.id AS session_id, text, authors, made_by, at
  FROM memory_entries JOIN sessions ON sessions.no = memory_entries.session_no`
const NO_OF = '(SELECT no FROM sessions WHERE id = $1)'

const codec: RowCodec<MemoryEntry> = {
  table: 'memory_entries',
  key: ['no'],
  decode: (row) => ({
    no: integer(row, 'no'),
    agentId: id(row, 'agent_id'),
    sessionId: id(row, 'session_id'),
    text: text(row, 'text'),
    authors: json<AuthorId[]>(row, 'authors'),
    by: oneOf(row, 'made_by', WRITERS),
    at: integer(row, 'at'),
  }),
}

export class MemoryReading implements MemoryReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async get(no: number): Promise<MemoryEntry | undefined> {
    return readFound(codec, await this.sql.get(`${ENTRIES} WHERE memory_entries.no = $1`, [no]))
  }

  async ofCommands(rows: readonly InboxId[]): Promise<readonly MemoryEntry[]> {
    const query = `${ENTRIES} WHERE request IN (SELECT value FROM json_each($1))`
    const requests = JSON.stringify(rows.map((row) => `command ${row}`))
    return readRows(codec, await this.sql.all(query, [requests]), this.#logger)
  }

  async newest(sessions: readonly SessionId[], limit: number): Promise<readonly MemoryEntry[]> {
    const among = 'sessions.id IN (SELECT value FROM json_each($1))'
    const query = `${ENTRIES} WHERE ${among} ORDER BY memory_entries.no DESC LIMIT ($2 + 0)`
    return readRows(codec, await this.sql.all(query, [JSON.stringify(sessions), limit]), this.#logger)
  }

  async sessions(agent: AgentId, scopeKey?: ScopeKey): Promise<readonly SessionId[]> {
    const scoped = scopeKey === undefined ? '' : 'AND sessions.scope_key = $2'
    const rows = await this.sql.all(
      `SELECT id FROM sessions WHERE deleted_at IS NULL ${scoped}
        AND no IN (SELECT session_no FROM memory_entries WHERE memory_entries.agent_id = $1) ORDER BY no DESC`,
      scopeKey === undefined ? [agent] : [agent, scopeKey],
    )
    return rows.map((row) => id(row, 'id'))
  }

  async all(limit: number, before = Number.MAX_SAFE_INTEGER): Promise<readonly MemoryEntry[]> {
    const query = `${ENTRIES} WHERE memory_entries.no < $1 ORDER BY memory_entries.no DESC LIMIT ($2 + 0)`
    return readRows(codec, await this.sql.all(query, [before, limit]), this.#logger)
  }
}

export class MemoryWriting extends MemoryReading implements MemoryWriter {
  async add({ agentId, sessionId, request, authors, by, at, sources, ...entry }: NewMemoryEntry): Promise<MemoryEntry> {
    const known = await this.sql.get(`${ENTRIES} WHERE request = $1`, [request])
    const made = readFound(codec, known)
    if (made !== undefined) return made
    const no = await this.#nextNumber()
    const added = await this.sql.run(
      `INSERT INTO memory_entries (no, agent_id, session_no, request, text, authors, made_by, at)
        SELECT $2, $3, no, $4, $5, $6, $7, $8 FROM sessions WHERE id = $1 AND deleted_at IS NULL`,
      [sessionId, no, agentId, request, entry.text, JSON.stringify(authors), by, at],
    )
    if (added === 0) throw new ParleyError('not_found', `there is no session ${sessionId}`)
    await this.#index(no, entry.text, sources)
    return { no, agentId, sessionId, text: entry.text, authors, by, at }
  }

  async change(
    no: number,
    { text: words, authors, by, at, sources }: Pick<NewMemoryEntry, 'text' | 'authors' | 'by' | 'at' | 'sources'>,
  ): Promise<boolean> {
    const changed = await this.sql.run(
      'UPDATE memory_entries SET text = $2, authors = $3, made_by = $4, at = $5 WHERE no = $1',
      [no, words, JSON.stringify(authors), by, at],
    )
    if (changed === 0) return false
    if (by === 'person') await this.#drop(no)
    else await this.#dropWords(no)
    await this.#index(no, words, sources)
    return true
  }

  async remove(no: number): Promise<boolean> {
    await this.#drop(no)
    const query = `DELETE FROM memory_entries WHERE no = $1
      RETURNING (SELECT id FROM sessions WHERE sessions.no = session_no) AS session`
    const row = await this.sql.get(query, [no])
    if (row !== undefined) await noteRemoval(this.sql, id(row, 'session'))
    return row !== undefined
  }

  async removeOf(session: SessionId, message: MessageRef): Promise<number> {
    const rows = await this.sql.all(
      `SELECT entry_no FROM memory_sources JOIN memory_entries ON memory_entries.no = entry_no
        WHERE message = $2 AND session_no = ${NO_OF}`,
      [session, messageKey(message)],
    )
    for (const row of rows) await this.remove(integer(row, 'entry_no'))
    return rows.length
  }

  async removeAll(session: SessionId): Promise<void> {
    const own = `SELECT no FROM memory_entries WHERE session_no = ${NO_OF}`
    await this.sql.run(`DELETE FROM memory_sources WHERE entry_no IN (${own})`, [session])
    await this.sql.run(`DELETE FROM memory_entries WHERE session_no = ${NO_OF}`, [session])
    await forgetSession(this.sql, session)
  }

  /** A number that was given stays given: people name an entry by it. */
  async #nextNumber(): Promise<number> {
    const row = await this.sql.get(
      `INSERT INTO counters (name, value) VALUES ('memory', 1)
        ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value`,
      [],
    )
    if (row === undefined) throw new ParleyError('internal', 'the number of an entry could not be drawn')
    return integer(row, 'value')
  }

  async #index(no: number, words: string, sources: readonly MessageRef[]): Promise<void> {
    for (const source of sources) {
      const insert = 'INSERT INTO memory_sources (entry_no, message) VALUES ($1, $2) ON CONFLICT DO NOTHING'
      await this.sql.run(insert, [no, messageKey(source)])
    }
    await addWords(this.sql, {
      session: 'SELECT session_no FROM memory_entries WHERE no = $1',
      key: no,
      entry: no,
      words: foldText(words),
    })
  }

  async #drop(no: number): Promise<void> {
    await this.sql.run('DELETE FROM memory_sources WHERE entry_no = $1', [no])
    await this.#dropWords(no)
  }

  async #dropWords(no: number): Promise<void> {
    await removeWords(this.sql, 'entry_no = $1', [no])
  }
}
