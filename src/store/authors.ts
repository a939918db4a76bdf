import type { ChannelId, SessionId } from '../core/ids.ts'
import { type AuthorId, NOBODY } from '../core/platform-id.ts'
import { inATeam, isInATeam } from './participants.ts'
import { text } from './rows.ts'
import type { AuthorReader, AuthorWriter } from './small-port.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

/** More authors than this count as nobody, who may do no more than all of them together. */
const MOST_AUTHORS = 200

/** Participants wrote in the session themselves, so they are not written down twice. One more than count is read. */
const OF_SESSION = `SELECT participant AS author FROM
    (SELECT participant FROM participants WHERE session_id = $1 LIMIT $2) AS those_who_wrote
  UNION SELECT author FROM (SELECT author FROM authors WHERE session_id = $1 LIMIT $2) AS others`

/** Beyond the bound nobody is written down in the place of whoever comes. */
const ADD = `INSERT INTO authors (session_id, author)
  SELECT $1, CASE WHEN COUNT(*) < $3 THEN $2 ELSE $4 END FROM authors WHERE session_id = $1 AND author <> $2
  ON CONFLICT DO NOTHING`

export class AuthorReading implements AuthorReader {
  protected readonly sql: Sql

  constructor({ sql }: RepositoryDeps) {
    this.sql = sql
  }

  async of(sessionId: SessionId): Promise<readonly AuthorId[]> {
    const authors = (await this.sql.all(OF_SESSION, [sessionId, MOST_AUTHORS + 1])).map((row) => text(row, 'author'))
    if (authors.length <= MOST_AUTHORS) return authors
    return [...authors.filter((author) => author !== NOBODY).slice(0, MOST_AUTHORS), NOBODY]
  }

  async inAnyTeam(channel: ChannelId, user: string): Promise<readonly AuthorId[]> {
    const query = `SELECT participant AS author FROM participants WHERE ${isInATeam('participant')}
      UNION SELECT author FROM authors WHERE ${isInATeam('author')}`
    return (await this.sql.all(query, inATeam(channel, user))).map((row) => text(row, 'author'))
  }
}

export class AuthorWriting extends AuthorReading implements AuthorWriter {
  async add(sessionId: SessionId, author: AuthorId): Promise<void> {
    await this.sql.run(ADD, [sessionId, author, MOST_AUTHORS, NOBODY])
  }

  async copy(from: SessionId, to: SessionId, writtenAt = Number.MAX_SAFE_INTEGER): Promise<void> {
    if (from === to) return
    const authors = await this.of(from)
    const known = authors.length <= MOST_AUTHORS && (await this.#wasThere(from, writtenAt))
    for (const author of known ? authors : [NOBODY]) await this.add(to, author)
  }

  /** The authors of a deleted session are gone or on their way, and another session may have its id by now. */
  async #wasThere(sessionId: SessionId, at: number): Promise<boolean> {
    const there = 'SELECT no FROM sessions WHERE id = $1 AND deleted_at IS NULL AND created_at <= $2'
    const row = await this.sql.get(there, [sessionId, at])
    return row !== undefined
  }

  async remove(sessionId: SessionId): Promise<void> {
    await this.sql.run('DELETE FROM authors WHERE session_id = $1', [sessionId])
  }
}
