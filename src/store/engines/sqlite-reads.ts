import { ParleyError } from '../../core/errors.ts'
import type { Sql, SqlRow, SqlValue } from '../sql.ts'
import type { GroupCommit } from './group-commit.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/** Reads wait for an open group, so they see committed data only; a body that reads this way is caught waiting. */
export class SqliteReads implements Sql {
  readonly #group: GroupCommit
  readonly #connection: SqliteConnection

  constructor(group: GroupCommit, connection: SqliteConnection) {
    this.#group = group
    this.#connection = connection
  }

  all(text: string, params: readonly SqlValue[]): Promise<readonly SqlRow[]>
  all<T>(text: string, params: readonly SqlValue[], read: (rows: readonly SqlRow[]) => T | Promise<T>): Promise<T>
  all<T>(text: string, params: readonly SqlValue[], read?: (rows: readonly SqlRow[]) => T | Promise<T>) {
    return this.#group.read(() => {
      const rows = this.#connection.all(text, params)
      return read === undefined ? rows : read(rows)
    })
  }

  get(text: string, params: readonly SqlValue[]): Promise<SqlRow | undefined>
  get<T>(text: string, params: readonly SqlValue[], read: (row: SqlRow | undefined) => T | Promise<T>): Promise<T>
  get<T>(text: string, params: readonly SqlValue[], read?: (row: SqlRow | undefined) => T | Promise<T>) {
    return this.#group.read(() => {
      const row = this.#connection.get(text, params)
      return read === undefined ? row : read(row)
    })
  }

  run(): Promise<never> {
    return Promise.reject(new ParleyError('internal', 'a write outside of a transaction'))
  }
}
