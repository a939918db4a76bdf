import { ParleyError } from '../../core/errors.ts'
import type { SqlRow, SqlValue, TransactionSql } from '../sql.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/** The `Sql` of one transaction body: usable until the body has ended, never after. */
export class SqliteTransaction implements TransactionSql {
  readonly #connection: SqliteConnection
  #ended = false
  #told: (() => void)[] | undefined
  #takenBack: (() => void)[] | undefined

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  async all(text: string, params: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.#usable().all(text, params)
  }

  async get(text: string, params: readonly SqlValue[]): Promise<SqlRow | undefined> {
    return this.#usable().get(text, params)
  }

  async run(text: string, params: readonly SqlValue[]): Promise<number> {
    return this.#usable().run(text, params)
  }

  afterCommit(tell: () => void): void {
    this.#refuseWhenEnded()
    this.#told ??= []
    this.#told.push(tell)
  }

  afterUndo(takeBack: () => void): void {
    this.#refuseWhenEnded()
    this.#takenBack ??= []
    this.#takenBack.push(takeBack)
  }

  /** The body has ended: from now on every statement is refused. */
  end(): void {
    this.#ended = true
  }

  committed(): void {
    if (this.#told !== undefined) for (const tell of this.#told) tell()
  }

  /** Takes back once, however often it is called. */
  undone(): void {
    const takenBack = this.#takenBack?.toReversed() ?? []
    this.#takenBack = undefined
    for (const takeBack of takenBack) takeBack()
  }

  /** Memory that changes after the end of its body would never be taken back. */
  #refuseWhenEnded(): void {
    if (this.#ended) throw new ParleyError('internal', 'a transaction was used after its body had ended')
  }

  #usable(): SqliteConnection {
    this.#refuseWhenEnded()
    // A full disk makes the engine roll back by itself; from then on statements would commit one by one.
    if (!this.#connection.inTransaction) throw new ParleyError('unavailable', 'the database gave up this transaction')
    return this.#connection
  }
}
