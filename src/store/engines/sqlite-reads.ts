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

  all(text: string, params: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.#group.read(() => this.#connection.all(text, params))
  }

  get(text: string, params: readonly SqlValue[]): Promise<SqlRow | undefined> {
    return this.#group.read(() => this.#connection.get(text, params))
  }

  run(): Promise<never> {
    return Promise.reject(new ParleyError('internal', 'a write outside of a transaction'))
  }
}
