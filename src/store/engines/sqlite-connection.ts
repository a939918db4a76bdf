import { ParleyError } from '../../core/errors.ts'
import type { StoreKey } from '../../core/store-key.ts'
import type { SqlRow, SqlValue } from '../sql.ts'
import { openDatabase } from './sqlite-cipher.ts'
import type { Database, Statement } from './sqlite-driver.ts'
import { translate } from './sqlite-error.ts'

/** One open database, spoken to synchronously. Every method throws `ParleyError`. */
export interface SqliteConnection {
  all(text: string, params: readonly SqlValue[]): readonly SqlRow[]
  get(text: string, params: readonly SqlValue[]): SqlRow | undefined
  /** Returns the number of rows changed. */
  run(text: string, params: readonly SqlValue[]): number
  /** Several statements at once, without parameters. */
  exec(text: string): void
  /** The number of statements so far that may have written. */
  readonly writes: number
  /** The engine may have ended a transaction by itself, for example on a full disk. */
  readonly inTransaction: boolean
  close(): void
}

/**
 * More distinct statement texts than this are a mistake somewhere; the cache starts anew rather than grow. Preparing a
 * statement costs more than running it, and the driver keeps none (decision 0017).
 */
const MAX_STATEMENTS = 500

/** Milliseconds a statement may block the event loop while a foreign process holds the lock (F-F05). */
export const BUSY_TIMEOUT_MS = 250

const JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024

/**
 * Opens `path`, encrypted where there is a key, and sets the pragmas. All of them are read back, because a WAL file
 * that is opened again silently falls to `synchronous=NORMAL`; a value that did not take is `unavailable`.
 */
export function openConnection(path: string, key?: StoreKey): SqliteConnection {
  const database = attempt(() => openDatabase(path, key, { timeout: BUSY_TIMEOUT_MS }))
  try {
    setPragmas(database)
  } catch (error) {
    database.close()
    throw translate(error)
  }
  return connect(database)
}

const PRAGMAS: readonly { readonly name: string; readonly set: string; readonly read: string | number }[] = [
  { name: 'busy_timeout', set: String(BUSY_TIMEOUT_MS), read: BUSY_TIMEOUT_MS },
  { name: 'journal_mode', set: 'WAL', read: 'wal' },
  { name: 'synchronous', set: 'FULL', read: 2 },
  { name: 'foreign_keys', set: 'ON', read: 1 },
  { name: 'journal_size_limit', set: String(JOURNAL_SIZE_LIMIT), read: JOURNAL_SIZE_LIMIT },
  // 16 MB of log between two checkpoints: a page that changed often is copied into the database once.
  { name: 'wal_autocheckpoint', set: '4000', read: 4000 },
  // Deleted rows leave no bytes on their page (decision 0038).
  { name: 'secure_delete', set: 'ON', read: 1 },
  // Keeps the undo of savepoints out of temporary files.
  { name: 'temp_store', set: 'MEMORY', read: 2 },
]

/** The value of `auto_vacuum` where free pages are given back on request (decision 0011). */
export const INCREMENTAL = 2

/** `auto_vacuum` first: it counts for a database that is empty yet, and changes nothing in another. */
function setPragmas(database: Database): void {
  database.pragma('auto_vacuum = INCREMENTAL')
  for (const { name, set } of PRAGMAS) database.pragma(`${name} = ${set}`)
  for (const { name, read } of PRAGMAS) {
    const value: unknown = database.pragma(name, { simple: true })
    if (value !== read) {
      const message = `the database refuses ${name}=${read} and stays at ${String(value)}; use a local disk that supports it`
      throw new ParleyError('unavailable', message)
    }
  }
}

/** A prepared statement and where its positional parameters come from; no `order`: they are given in order. */
interface Prepared {
  readonly statement: Statement<[SqlValue[]], SqlValue[]>
  readonly writes: boolean
  readonly order: readonly number[] | undefined
  /** The names of what it returns; none if it returns nothing. */
  readonly columns: readonly string[]
}

function connect(database: Database): SqliteConnection {
  const cache = new Map<string, Prepared>()
  let writes = 0
  const prepare = (text: string): Prepared => {
    const known = cache.get(text) ?? make(text)
    if (known.writes) writes++
    return known
  }
  const make = (text: string): Prepared => {
    if (cache.size >= MAX_STATEMENTS) cache.clear()
    const { positional, order } = toPositional(text)
    const statement = database.prepare<[SqlValue[]], SqlValue[]>(positional)
    const columns = statement.reader ? statement.columns().map(({ name }) => name) : []
    // The driver makes arrays faster than objects: 4 µs less for the row of a session.
    if (statement.reader) statement.raw(true)
    const made = { statement, writes: !statement.readonly, order, columns }
    cache.set(text, made)
    return made
  }
  return {
    all(text, params) {
      try {
        const { statement, order, columns } = prepare(text)
        return statement.all(arrange(params, order)).map((values) => toRow(columns, values))
      } catch (error) {
        throw translate(error, text)
      }
    },
    get(text, params) {
      try {
        const { statement, order, columns } = prepare(text)
        const values = statement.get(arrange(params, order))
        return values && toRow(columns, values)
      } catch (error) {
        throw translate(error, text)
      }
    },
    run(text, params) {
      try {
        const { statement, order } = prepare(text)
        return statement.run(arrange(params, order)).changes
      } catch (error) {
        throw translate(error, text)
      }
    },
    exec: (text) => attempt(() => void database.exec(text)),
    get writes() {
      return writes
    },
    get inTransaction() {
      return database.inTransaction
    },
    close: () => attempt(() => void database.close()),
  }
}

/**
 * `$1..$n` as anonymous parameters: to the driver `$1` is a name, not a number, and binding by name is slower. `order`
 * says which given value goes where; it is absent when they are used once each and in order.
 */
export function toPositional(text: string): { positional: string; order: readonly number[] | undefined } {
  const order: number[] = []
  const positional = text.replace(/'[^']*'|\$(\d+)/g, (token, digits: string | undefined) => {
    if (digits === undefined) return token
    order.push(Number(digits) - 1)
    return '?'
  })
  const straight = order.every((from, to) => from === to)
  return { positional, order: straight ? undefined : order }
}

function toRow(columns: readonly string[], values: readonly SqlValue[]): SqlRow {
  const row: Record<string, SqlValue> = {}
  for (let at = 0; at < columns.length; at++) row[columns[at] as string] = values[at] as SqlValue
  return row
}

function arrange(params: readonly SqlValue[], order: readonly number[] | undefined): SqlValue[] {
  if (order === undefined) return params as SqlValue[]
  return order.map((from) => {
    const value = params[from]
    if (value === undefined) throw new ParleyError('internal', `parameter $${from + 1} of a statement is missing`)
    return value
  })
}

function attempt<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw translate(error)
  }
}
