import type { SessionId } from '../core/ids.ts'
import { type AuthorId, NOBODY } from '../core/platform-id.ts'
import { text } from './rows.ts'
import type { AuthorReader, AuthorWriter } from './small-port.ts'
import type { Ground, Sql } from './sql.ts'

/** Participants wrote in the session themselves, so they are not written down twice. */
const OF_SESSION = `SELECT participant AS author FROM participants WHERE session_id = $1
  UNION SELECT author FROM authors WHERE session_id = $1`

/** More than this many authors to copy count as nobody, who may do no more than all of them together. */
const MOST_COPIED = 200

export class AuthorReading implements AuthorReader {
  protected readonly sql: Sql

  constructor({ sql }: Ground) {
    this.sql = sql
  }

  async of(sessionId: SessionId): Promise<readonly AuthorId[]> {
    return (await this.sql.all(OF_SESSION, [sessionId])).map((row) => text(row, 'author'))
  }
}

export class AuthorWriting extends AuthorReading implements AuthorWriter {
  async add(sessionId: SessionId, author: AuthorId): Promise<void> {
    await this.sql.run('INSERT INTO authors (session_id, author) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      sessionId,
      author,
    ])
  }

  async copy(from: SessionId, to: SessionId): Promise<void> {
    if (from === to) return
    const authors = await this.of(from)
    for (const author of authors.length > MOST_COPIED ? [NOBODY] : authors) await this.add(to, author)
  }

  async remove(sessionId: SessionId): Promise<void> {
    await this.sql.run('DELETE FROM authors WHERE session_id = $1', [sessionId])
  }
}
