import { foldText, searchWords } from '../core/fold-text.ts'
import type { SessionId } from '../core/ids.ts'
import type { MessageRef, SearchHit, SearchQuery, SearchReader, SearchWriter } from './memory-port.ts'
import { id, integer } from './rows.ts'
import type { RepositoryDeps, Sql, SqlRow, SqlValue } from './sql.ts'

/*
 * The SQLite form of the search: an FTS5 index of three characters each (trigram), which finds any part of a word. It
 * has no text: the words lie, folded, beside it in `search_docs`, where those of one or two characters are looked for.
 */

/** The index has parts of three characters. */
const SHORTEST_INDEXED = 3
/** Further short words are left out of account. */
const MOST_SHORT = 3
const ANYTHING = '%'
const NO_OF = '(SELECT no FROM sessions WHERE id = $1)'

const WHERE = `sessions.deleted_at IS NULL AND (docs.entry_no IS NULL) = $1
  AND ($2 = '' OR sessions.id IN (SELECT value FROM json_each($2)))`
const HITS = 'SELECT sessions.id AS session_id, docs.seq, docs.entry_no'
const shortWords = (from: number): string =>
  [0, 1, 2].map((at) => `docs.words LIKE $${from + at} ESCAPE '\\'`).join(' AND ')
const INDEXED = `FROM search_words JOIN search_docs AS docs ON docs.no = search_words.rowid
  JOIN sessions ON sessions.no = docs.session_no WHERE search_words MATCH $4 AND ${WHERE}`
const ALL_WORDS = `${HITS} ${INDEXED} AND ${shortWords(5)} ORDER BY search_words.rowid DESC LIMIT ($3 + 0)`
const SOME_WORDS = `${HITS} ${INDEXED} ORDER BY rank LIMIT ($3 + 0)`
/** Looks at every text: an index of two characters would be as large as the texts. */
const SHORT_WORDS = `${HITS} FROM search_docs AS docs JOIN sessions ON sessions.no = docs.session_no
  WHERE ${WHERE} AND ${shortWords(4)} ORDER BY docs.no DESC LIMIT ($3 + 0)`

export class SearchReading implements SearchReader {
  protected readonly sql: Sql

  constructor({ sql }: RepositoryDeps) {
    this.sql = sql
  }

  async find({ words, of, sessions, limit }: SearchQuery): Promise<readonly SearchHit[]> {
    const asked = searchWords(words)
    if (asked.length === 0 || sessions?.length === 0) return []
    const among = sessions === undefined ? '' : JSON.stringify(sessions)
    const place = [of === 'messages' ? 1 : 0, among, limit]
    const long = asked.filter((word) => [...word].length >= SHORTEST_INDEXED)
    const short = asked.filter((word) => [...word].length < SHORTEST_INDEXED).slice(0, MOST_SHORT)
    const parts = Array.from({ length: MOST_SHORT }, (_, at) => likePart(short[at]))
    if (long.length === 0) return eachOnce(await this.sql.all(SHORT_WORDS, [...place, ...parts]))
    const all = await this.sql.all(ALL_WORDS, [...place, matching(long, ' '), ...parts])
    if (all.length >= limit || asked.length === 1) return eachOnce(all)
    const some = await this.sql.all(SOME_WORDS, [...place, matching(long, ' OR ')])
    return eachOnce([...all, ...some]).slice(0, limit)
  }

  async indexedTo(session: SessionId): Promise<number> {
    const row = await this.sql.get(`SELECT seq FROM search_progress WHERE session_no = ${NO_OF}`, [session])
    return row === undefined ? 0 : integer(row, 'seq')
  }

  async behind(since: number, limit: number): Promise<readonly SessionId[]> {
    const rows = await this.sql.all(
      `SELECT sessions.id FROM session_activity AS activity JOIN sessions ON sessions.no = activity.no
        LEFT JOIN search_progress AS progress ON progress.session_no = activity.no
        WHERE last_activity_at >= $1 AND last_seq > COALESCE(progress.seq, 0)
        ORDER BY last_activity_at DESC, activity.no DESC LIMIT ($2 + 0)`,
      [since, limit],
    )
    return rows.map((row) => id(row, 'id'))
  }
}

export class SearchWriting extends SearchReading implements SearchWriter {
  async index(
    session: SessionId,
    to: number,
    {
      added,
      gone,
      copied = false,
    }: {
      readonly added: readonly { readonly seq: number; readonly words: string; readonly message?: MessageRef }[]
      readonly gone: readonly MessageRef[]
      readonly copied?: boolean
    },
  ): Promise<void> {
    for (const message of gone)
      await removeWords(this.sql, `session_no = ${NO_OF} AND message = $2`, [session, messageKey(message)])
    for (const { seq, words, message } of added) {
      const place = { session: `SELECT no FROM sessions WHERE id = $1`, key: session, seq }
      await addWords(this.sql, {
        ...place,
        words: foldText(words),
        ...(message ? { message: messageKey(message) } : {}),
      })
    }
    const unname = `UPDATE search_docs SET message = NULL WHERE session_no = ${NO_OF} AND message IS NOT NULL`
    if (copied) await this.sql.run(unname, [session])
    await this.sql.run(
      `INSERT INTO search_progress (session_no, seq) SELECT no, $2 FROM sessions WHERE id = $1 AND deleted_at IS NULL
        ON CONFLICT (session_no) DO UPDATE SET seq = excluded.seq`,
      [session, to],
    )
  }
}

interface Words {
  /** A query of the number of the session, and its parameter. */
  readonly session: string
  readonly key: SqlValue
  readonly entry?: number
  readonly seq?: number
  readonly message?: string
  readonly words: string
}

/** Adds a text to the index. */
export async function addWords(sql: Sql, { session, key, entry, seq, message, words }: Words): Promise<void> {
  const row = await sql.get(
    `INSERT INTO search_docs (session_no, seq, entry_no, message, words) VALUES ((${session}), $2, $3, $4, $5) RETURNING no`,
    [key, seq ?? null, entry ?? null, message ?? null, words],
  )
  if (row !== undefined)
    await sql.run('INSERT INTO search_words (rowid, words) VALUES ($1, $2)', [integer(row, 'no'), words])
}

/** Takes texts out of the index; returns how many. */
export async function removeWords(sql: Sql, where: string, params: readonly SqlValue[]): Promise<number> {
  await sql.run(`DELETE FROM search_words WHERE rowid IN (SELECT no FROM search_docs WHERE ${where})`, params)
  return sql.run(`DELETE FROM search_docs WHERE ${where}`, params)
}

/** Takes everything of a session out of the index. */
export async function forgetSession(sql: Sql, session: SessionId): Promise<void> {
  await removeWords(sql, `session_no = ${NO_OF}`, [session])
  await sql.run(`DELETE FROM search_progress WHERE session_no = ${NO_OF}`, [session])
}

/** Returns the name of a message inside its session. */
export function messageKey({ messageId, chat }: MessageRef): string {
  return `${chat ?? ''} ${messageId}`
}

/** Returns the hits of rows: what is written with a voice note and what is said in it are of one message. */
function eachOnce(rows: readonly SqlRow[]): readonly SearchHit[] {
  const hits = new Map<string, SearchHit>()
  for (const hit of rows.map(hitOf)) {
    const key = `${hit.sessionId} ${hit.seq} ${hit.entry}`
    if (!hits.has(key)) hits.set(key, hit)
  }
  return [...hits.values()]
}

function hitOf(row: SqlRow): SearchHit {
  const sessionId = id<SessionId>(row, 'session_id')
  return row.entry_no === null
    ? { sessionId, seq: integer(row, 'seq') }
    : { sessionId, entry: integer(row, 'entry_no') }
}

/** Each word is a quoted string, in which nothing is an operator. */
function matching(words: readonly string[], joint: ' ' | ' OR '): string {
  return words.map((word) => `"${word.replaceAll('"', '""')}"`).join(joint)
}

function likePart(word: string | undefined): string {
  return word === undefined ? ANYTHING : `%${word.replace(/[\\%_]/g, '\\$&')}%`
}
