import { ParleyError } from '../../core/errors.ts'
import type { MediaId } from '../../core/ids.ts'
import type { StoreKey } from '../../core/store-key.ts'
import { MIGRATIONS } from '../migrations/index.ts'
import { openDatabase } from './sqlite-cipher.ts'
import { openConnection } from './sqlite-connection.ts'
import type { Database, Statement } from './sqlite-driver.ts'
import { isNoDatabase, isOfTheFile, translate } from './sqlite-error.ts'
import { copyDatabase, type DatabasePlace } from './sqlite-files.ts'
import { checkForm, formOf, wrongKey } from './sqlite-form.ts'

/** The facts about a database that a backup states and its verification counts again. */
export interface SnapshotFacts {
  readonly schema: number
  /** The number of the store, which all its copies share; absent where only an older program has opened it. */
  readonly store?: number
  /** Its progress, see `sqlite-marker.ts`. */
  readonly mark: number
  readonly encrypted: boolean
  /** The number of rows, by table. */
  readonly rows: Readonly<Record<string, number>>
}

/**
 * Copies a database as it is at one moment, while a daemon may write to it. Neither waits for the other; the log of the
 * database grows meanwhile. Throws `config` for a key that does not fit.
 */
export function copySnapshot(path: string, key: StoreKey | undefined, to: DatabasePlace): void {
  checkForm(path, key !== undefined)
  const connection = keyed(path, key, () => openConnection(path, key))
  try {
    copyDatabase(connection, to.path, to.folder)
  } finally {
    connection.close()
  }
}

/**
 * Reads a copy without changing it, and checks every page of it. Throws `unreadable` for one that is damaged, `config`
 * for a key that does not fit.
 */
export function readSnapshot(path: string, key: StoreKey | undefined): SnapshotFacts {
  return inCopy(path, key, (database) => {
    const state: unknown = database.pragma('integrity_check(1)', { simple: true })
    if (state !== 'ok') throw damaged(path, state)
    const encrypted = formOf(path) === 'encrypted'
    return { ...identity(database), encrypted, rows: countRows(database) }
  })
}

const NAMED_FILES = `SELECT media_id FROM media_uses UNION SELECT media FROM outbox
  WHERE media IS NOT NULL AND state IN ('planned', 'sending', 'waiting', 'uncertain') ORDER BY 1`

/** Returns the files of conversations that a database names, be it a copy or the one in use. */
export function filesNamedIn(path: string, key: StoreKey | undefined): readonly MediaId[] {
  return inCopy(path, key, (database) => database.prepare<[], MediaId>(NAMED_FILES).pluck().all())
}

/** The rows of a database that nobody writes to. */
export interface SnapshotRows {
  all<Row>(query: string): IterableIterator<Row>
  get<Row>(query: string, params: readonly unknown[]): Row | undefined
}

/** Has rows of a copy, or of a store whose lock is held, read as lists of values. */
export function withRows<Result>(path: string, key: StoreKey | undefined, use: (rows: SnapshotRows) => Result): Result {
  return inCopy(path, key, (database) => {
    const prepared = new Map<string, Statement<unknown[], unknown>>()
    const prepare = (query: string) => {
      const statement = prepared.get(query) ?? database.prepare<unknown[], unknown>(query).raw(true)
      prepared.set(query, statement)
      return statement
    }
    return use({
      all: <Row>(query: string) => prepare(query).iterate() as IterableIterator<Row>,
      get: <Row>(query: string, params: readonly unknown[]) => prepare(query).get(...params) as Row | undefined,
    })
  })
}

/** The place of a state in the history of its store. */
export type StateFacts = Pick<SnapshotFacts, 'schema' | 'store' | 'mark'>

/** Returns which state of which store a database is, without a look at its rows. */
export function identify(path: string, key: StoreKey | undefined): StateFacts {
  return inCopy(path, key, identity)
}

function identity(database: Database): Pick<SnapshotFacts, 'schema' | 'store' | 'mark'> {
  const store = counterOf(database, 'store')
  const schema = Number(database.prepare('SELECT COALESCE(MAX(version), 0) FROM migrations').pluck().get())
  return { schema, mark: counterOf(database, 'mark') ?? 0, ...(store === undefined ? {} : { store }) }
}

/** The schema that this program knows. */
export const SCHEMA = MIGRATIONS.length

/** Records in a copy that it was put back: its next opening holds what it had queued (decision 0013). */
export function markRestored(path: string, key: StoreKey | undefined): void {
  const connection = openConnection(path, key)
  try {
    connection.run("INSERT OR REPLACE INTO counters (name, value) VALUES ('restored', 1)", [])
  } finally {
    connection.close()
  }
}

function inCopy<Result>(path: string, key: StoreKey | undefined, use: (database: Database) => Result): Result {
  const form = formOf(path)
  if (form !== 'plain' && form !== 'encrypted') throw damaged(path, form)
  if (form === 'encrypted' && key === undefined)
    throw new ParleyError('config', `${path} is encrypted, and no key is configured. Set store.key to its key.`)
  return keyed(path, key, () => {
    const database = openDatabase(path, form === 'encrypted' ? key : undefined, { readonly: true, fileMustExist: true })
    try {
      return use(database)
    } catch (error) {
      if (form === 'plain' && isOfTheFile(error)) throw damaged(path, error)
      throw error
    } finally {
      database.close()
    }
  })
}

function keyed<Result>(path: string, key: StoreKey | undefined, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (key !== undefined && isNoDatabase(error)) throw wrongKey(path, error)
    throw translate(error)
  }
}

function damaged(path: string, cause: unknown): ParleyError {
  return new ParleyError('unreadable', `the database ${path} is damaged`, { cause })
}

function countRows(database: Database): Readonly<Record<string, number>> {
  const tables = database
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
        AND name NOT LIKE 'sqlite%' ORDER BY name`,
    )
    .pluck()
    .all()
  const count = (name: string) =>
    database
      .prepare(`SELECT count(*) FROM "${name.replaceAll('"', '""')}"`)
      .pluck()
      .get()
  return Object.fromEntries(tables.map((name) => [name, Number(count(name))]))
}

function counterOf(database: Database, name: string): number | undefined {
  const value: unknown = database.prepare('SELECT value FROM counters WHERE name = ?').pluck().get(name)
  return value === undefined ? undefined : Number(value)
}
