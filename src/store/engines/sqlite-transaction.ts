import { ParleyError } from '../../core/errors.ts'
import type { SqlRow, SqlValue, TransactionSql } from '../sql.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/** A statement that has written. */
export interface Written {
  /** `all` for one that also returned rows. */
  readonly by: 'run' | 'all'
  readonly text: string
  readonly params: readonly SqlValue[]
}

/** The `Sql` of one transaction body: usable until the body has ended, never after. */
export class SqliteTransaction implements TransactionSql {
  readonly #connection: SqliteConnection
  readonly #written: Written[] | undefined
  #ended = false
  #wrote = false
  #told: (() => void)[] | undefined
  #takenBack: (() => void)[] | undefined

  /** `written`, if there is one, is given every statement that wrote, in order. */
  constructor(connection: SqliteConnection, written: Written[] | undefined) {
    this.#connection = connection
    this.#written = written
  }

  async all(text: string, params: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    const rows = this.#usable().all(text, params)
    if (!text.startsWith('SELECT')) this.#keep('all', text, params)
    return rows
  }

  async get(text: string, params: readonly SqlValue[]): Promise<SqlRow | undefined> {
    const row = this.#usable().get(text, params)
    if (!text.startsWith('SELECT')) this.#keep('all', text, params)
    return row
  }

  async run(text: string, params: readonly SqlValue[]): Promise<number> {
    const changed = this.#usable().run(text, params)
    this.#keep('run', text, params)
    return changed
  }

  afterCommit(tell: () => void): void {
    this.#told ??= []
    this.#told.push(tell)
  }

  afterUndo(takeBack: () => void): void {
    this.#takenBack ??= []
    this.#takenBack.push(takeBack)
  }

  /** True once there is something to undo. */
  get wrote(): boolean {
    return this.#wrote
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

  #keep(by: Written['by'], text: string, params: readonly SqlValue[]): void {
    this.#wrote = true
    this.#written?.push({ by, text, params })
  }

  #usable(): SqliteConnection {
    if (this.#ended) throw new ParleyError('internal', 'a transaction was used after its body had ended')
    // A full disk makes the engine roll back by itself; from then on statements would commit one by one.
    if (!this.#connection.inTransaction) throw new ParleyError('unavailable', 'the database gave up this transaction')
    return this.#connection
  }
}
