import type { NoticeWriter } from './small-port.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

export class NoticeWriting implements NoticeWriter {
  readonly #sql: Sql

  constructor({ sql }: RepositoryDeps) {
    this.#sql = sql
  }

  async once(key: string, at: number, windowMs: number): Promise<boolean> {
    const added = await this.#sql.run(
      `INSERT INTO notices (key, told_at) VALUES ($1, $2)
        ON CONFLICT (key) DO UPDATE SET told_at = excluded.told_at 
          WHERE notices.told_at <= $3 OR notices.told_at >= $4`,
      // A mark of a time yet to come is left from a clock that was wrong.
      [key, at, at - windowMs, at + windowMs],
    )
    return added > 0
  }

  async known(key: string): Promise<boolean> {
    return (await this.#sql.get('SELECT key FROM notices WHERE key = $1', [key])) !== undefined
  }
}
