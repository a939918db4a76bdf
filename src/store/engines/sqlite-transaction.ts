import { ParleyError } from '../../core/errors.ts'
import type { Sql, SqlRow, SqlValue } from '../sql.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/** The `Sql` of one transaction body: usable until the body has ended, never after. */
export interface SqliteTransaction extends Sql {
  end(): void
}

export function sqliteTransaction(connection: SqliteConnection): SqliteTransaction {
  let ended = false
  const check = (): void => {
    if (ended) throw new ParleyError('internal', 'a transaction was used after its body had ended')
    // A full disk makes the engine roll back by itself; from then on statements would commit one by one.
    if (!connection.inTransaction) throw new ParleyError('unavailable', 'the database gave up this transaction')
  }
  return {
    async all(text: string, params: readonly SqlValue[]): Promise<readonly SqlRow[]> {
      check()
      return connection.all(text, params)
    },
    async get(text: string, params: readonly SqlValue[]): Promise<SqlRow | undefined> {
      check()
      return connection.get(text, params)
    },
    async run(text: string, params: readonly SqlValue[]): Promise<number> {
      check()
      return connection.run(text, params)
    },
    end() {
      ended = true
    },
  }
}
