import type { MediaId, SessionId } from '../core/ids.ts'
import { id } from './rows.ts'
import type { MediaUseReader } from './small-port.ts'
import { inBatches, placeholders, type RepositoryDeps, type Sql } from './sql.ts'

const IDS_AT_ONCE = 50
const OF_SESSION = 'session_no = (SELECT no FROM sessions WHERE id = $1)'

/**
 * The files that events name, and those that are still to be sent. Nobody writes them by themselves: they follow the
 * events of a session and the rows of the outbox.
 */
export class MediaUseReading implements MediaUseReader {
  readonly #sql: Sql

  constructor({ sql }: Pick<RepositoryDeps, 'sql'>) {
    this.#sql = sql
  }

  async used(ids: readonly MediaId[]): Promise<ReadonlySet<MediaId>> {
    const found = new Set<MediaId>()
    for (const some of inBatches(ids, IDS_AT_ONCE)) {
      const ids = placeholders(some.length)
      const query = `SELECT media_id FROM media_uses WHERE media_id IN (${ids})
        UNION SELECT media FROM outbox WHERE media IS NOT NULL AND media IN (${ids})
          AND state IN ('planned', 'sending', 'waiting', 'uncertain')`
      for (const row of await this.#sql.all(query, some)) found.add(id<MediaId>(row, 'media_id'))
    }
    return found
  }

  async ofSession(session: SessionId): Promise<readonly MediaId[]> {
    const rows = await this.#sql.all(`SELECT media_id FROM media_uses WHERE ${OF_SESSION}`, [session])
    return rows.map((row) => id<MediaId>(row, 'media_id'))
  }
}

/** Records that events of a session name these files. */
export async function addMediaUses(sql: Sql, sessionNo: number, ids: Iterable<MediaId>): Promise<void> {
  const query = 'INSERT INTO media_uses (media_id, session_no) VALUES ($1, $2) ON CONFLICT DO NOTHING'
  for (const mediaId of ids) await sql.run(query, [mediaId, sessionNo])
}

/** Records for one session what is recorded for another whose events it has copied. */
export async function copyMediaUses(sql: Sql, from: SessionId, to: SessionId): Promise<void> {
  await sql.run(
    `INSERT INTO media_uses (media_id, session_no)
      SELECT media_id, (SELECT no FROM sessions WHERE id = $2) FROM media_uses WHERE ${OF_SESSION}
      ON CONFLICT DO NOTHING`,
    [from, to],
  )
}

/** Forgets what the events of a session named that is gone. */
export async function removeMediaUses(sql: Sql, sessionNo: number): Promise<void> {
  await sql.run('DELETE FROM media_uses WHERE session_no = $1', [sessionNo])
}
