import type { KeptAnswer, KeyedRequest, RequestId } from '../core/keyed-request.ts'
import { defined, id, integer, optional, type RowCodec, readFound, text } from './rows.ts'
import type { KeyedRequestReader, KeyedRequestWriter, MostKept } from './small-port.ts'
import type { RepositoryDeps, Sql, SqlRow } from './sql.ts'

const codec: RowCodec<KeyedRequest> = {
  table: 'keyed_requests',
  key: ['id'],
  decode: (row) => ({
    key: text(row, 'key'),
    id: id(row, 'id'),
    holder: text(row, 'holder'),
    content: text(row, 'content'),
    begunAt: integer(row, 'begun_at'),
    ...defined({ effect: optional(row, 'effect', text), answer: answerOf(row) }),
  }),
}

function answerOf(row: SqlRow): KeptAnswer | undefined {
  const status = optional(row, 'status', integer)
  return status === undefined ? undefined : { status, ...defined({ body: optional(row, 'answer', text) }) }
}

/** Deleted in one transaction beyond those that are kept. */
const AT_ONCE = 20
/** Those of a holder behind the newest; never the one that begins, though others be of a time yet to come. */
const OLDER = 'holder = $1 AND key <> $2 ORDER BY begun_at DESC LIMIT $3 OFFSET $4'

export class KeyedRequestReading implements KeyedRequestReader {
  protected readonly sql: Sql

  constructor({ sql }: RepositoryDeps) {
    this.sql = sql
  }

  async get(key: string): Promise<KeyedRequest | undefined> {
    const columns = 'key, id, holder, content, begun_at, effect, status, answer'
    return readFound(codec, await this.sql.get(`SELECT ${columns} FROM keyed_requests WHERE key = $1`, [key]))
  }

  async effect(request: RequestId): Promise<string | undefined> {
    const row = await this.sql.get('SELECT effect FROM keyed_requests WHERE id = $1', [request])
    return row && optional(row, 'effect', text)
  }
}

export class KeyedRequestWriting extends KeyedRequestReading implements KeyedRequestWriter {
  async begin({ key, id: request, holder, content, begunAt }: KeyedRequest, most: MostKept): Promise<void> {
    await this.sql.run('DELETE FROM keyed_requests WHERE key = $1', [key])
    await this.sql.run('INSERT INTO keyed_requests (key, id, holder, content, begun_at) VALUES ($1, $2, $3, $4, $5)', [
      key,
      request,
      holder,
      content,
      begunAt,
    ])
    await this.#delete(OLDER, [holder, key, AT_ONCE, most.requests - 1])
    for (const older of await this.#keys(OLDER, [holder, key, AT_ONCE, most.bodies - 1]))
      await this.sql.run('UPDATE keyed_requests SET answer = NULL WHERE key = $1 AND answer IS NOT NULL', [older])
  }

  async took(request: RequestId, effect: string): Promise<void> {
    await this.sql.run('UPDATE keyed_requests SET effect = $2 WHERE id = $1', [request, effect])
  }

  async answered(request: RequestId, status: number, body?: string): Promise<void> {
    const query = 'UPDATE keyed_requests SET status = $2, answer = $3 WHERE id = $1'
    await this.sql.run(query, [request, status, body ?? null])
  }

  async drop(request: RequestId): Promise<void> {
    await this.sql.run('DELETE FROM keyed_requests WHERE id = $1', [request])
  }

  async forgetAnswers(): Promise<void> {
    await this.sql.run('UPDATE keyed_requests SET answer = NULL WHERE answer IS NOT NULL', [])
  }

  sweep(before: number, limit: number): Promise<number> {
    return this.#delete('begun_at < $1 ORDER BY begun_at LIMIT $2', [before, limit])
  }

  async #delete(which: string, params: readonly (string | number)[]): Promise<number> {
    const keys = await this.#keys(which, params)
    for (const key of keys) await this.sql.run('DELETE FROM keyed_requests WHERE key = $1', [key])
    return keys.length
  }

  async #keys(which: string, params: readonly (string | number)[]): Promise<readonly string[]> {
    const rows = await this.sql.all(`SELECT key FROM keyed_requests WHERE ${which}`, params)
    return rows.map((row) => text(row, 'key'))
  }
}
