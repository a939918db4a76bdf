import { deliveryIdFloor, type InboxId, inboxIdFloor, madeAt } from '../core/ids.ts'
import { FORGOTTEN } from './outbox.ts'
import { id, text } from './rows.ts'
import type { AgeingReader, AgeingWriter } from './small-port.ts'
import { inBatches, placeholders, type RepositoryDeps, type Sql } from './sql.ts'

/** The counter that holds the time of the newest record that was deleted for its age. */
const AGED_OUT = 'aged_out'
/** More ids than this are deleted in several statements, so that few statement texts exist. */
const IDS_AT_ONCE = 50
const ENDED = "state IN ('sent', 'resent', 'rejected', 'given_up', 'expired')"

export class AgeingReading implements AgeingReader {
  protected readonly sql: Sql

  constructor({ sql }: RepositoryDeps) {
    this.sql = sql
  }

  async agedOut(): Promise<number | undefined> {
    const row = await this.sql.get('SELECT value FROM counters WHERE name = $1', [AGED_OUT])
    return typeof row?.value === 'number' ? row.value : undefined
  }

  async newest(): Promise<number | undefined> {
    const times: number[] = []
    for (const table of ['inbox', 'outbox']) {
      const row = await this.sql.get(`SELECT id FROM ${table} WHERE no > 0 ORDER BY no DESC LIMIT 1`, [])
      const at = row === undefined ? undefined : madeAt(text(row, 'id'))
      if (at !== undefined) times.push(at)
    }
    return times.length === 0 ? undefined : Math.max(...times)
  }
}

/** Rows that were emptied stay: a platform gives their words again with an edit or a quotation. */
export class AgeingWriting extends AgeingReading implements AgeingWriter {
  async messages(before: number, limit: number): Promise<number> {
    const query = `SELECT id FROM inbox WHERE session_id IS NULL AND state = 'done' AND id < $1
      AND COALESCE(outcome, '') NOT IN ('forgotten', 'aged') ORDER BY id LIMIT $2`
    const ids = (await this.sql.all(query, [inboxIdFloor(before), limit])).map((row) => id<InboxId>(row, 'id'))
    await this.#deleteAll('DELETE FROM inbox WHERE id IN', ids)
    if (ids.length > 0) {
      await this.sql.run(
        `INSERT INTO counters (name, value) VALUES ($1, $2)
          ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE counters.value < excluded.value`,
        [AGED_OUT, before],
      )
    }
    return ids.length
  }

  deliveries(before: number, limit: number): Promise<number> {
    return this.#deliveries('session_id IS NULL', before, limit)
  }

  answers(before: number, limit: number): Promise<number> {
    return this.#deliveries('session_id IS NOT NULL', before, limit)
  }

  async #deliveries(which: string, before: number, limit: number): Promise<number> {
    const query = `SELECT id FROM outbox WHERE ${which} AND id < $1 AND ${ENDED}
      AND COALESCE(reason, '') <> ${FORGOTTEN} ORDER BY id LIMIT $2`
    const ids = (await this.sql.all(query, [deliveryIdFloor(before), limit])).map((row) => id(row, 'id'))
    await this.#deleteAll('DELETE FROM outbox WHERE id IN', ids)
    return ids.length
  }

  async notices(before: number, limit: number): Promise<number> {
    const query = 'SELECT key FROM notices WHERE told_at < $1 ORDER BY told_at LIMIT $2'
    const keys = (await this.sql.all(query, [before, limit])).map((row) => text(row, 'key'))
    await this.#deleteAll('DELETE FROM notices WHERE key IN', keys)
    return keys.length
  }

  async mutes(before: number, limit: number): Promise<number> {
    const query = 'SELECT conversation FROM mutes WHERE until < $1 ORDER BY until LIMIT $2'
    const ids = (await this.sql.all(query, [before, limit])).map((row) => text(row, 'conversation'))
    await this.#deleteAll('DELETE FROM mutes WHERE conversation IN', ids)
    return ids.length
  }

  async #deleteAll(query: string, ids: readonly string[]): Promise<void> {
    for (const some of inBatches(ids, IDS_AT_ONCE)) await this.sql.run(`${query} (${placeholders(some.length)})`, some)
  }
}
