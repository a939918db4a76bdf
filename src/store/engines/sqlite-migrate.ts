import { existsSync } from 'node:fs'
import type { Clock } from '../../core/clock.ts'
import { ParleyError, toError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { StoreKey } from '../../core/store-key.ts'
import type { Dialect, Migration } from '../migrations/migration.ts'
import { integer } from '../rows.ts'
import type { SqlRow } from '../sql.ts'
import { openDatabase } from './sqlite-cipher.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { translate } from './sqlite-error.ts'
import { copyDatabase, type DatabasePlace } from './sqlite-files.ts'
import { formOf } from './sqlite-form.ts'

export const SQLITE: Dialect = {
  identity: 'INTEGER PRIMARY KEY',
  clustered: ' WITHOUT ROWID',
  positionOf: (part, text) => `instr(${text}, ${part})`,
  wordIndex: (name) =>
    `CREATE VIRTUAL TABLE ${name} USING fts5(words, tokenize = 'trigram', content = '', contentless_delete = 1)`,
}

/** After as long without a word of it, the log says how far an upgrade is. */
const PROGRESS_MS = 1_000

interface Migrating {
  readonly connection: SqliteConnection
  readonly place: DatabasePlace
  readonly migrations: readonly Migration[]
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Brings the schema up to date: every step with its version row in one transaction, after a copy of a database that
 * holds something. A step that fails is `migration_failed` and leaves the database as it was (K40). A database from a
 * newer program is `store_newer` and stays untouched.
 */
export function migrate({ connection, place, migrations, clock, logger }: Migrating): void {
  const { path, folder } = place
  const from = schemaVersion(connection)
  const to = migrations.length
  checkKnown(path, from, to)
  if (from === to) return
  const copy = from > 0 ? `${path}.before-v${to}` : undefined
  const steps = migrations.slice(from).map((migration) => ({ migration, statements: migration.statements(SQLITE) }))
  const report = progressIn(
    steps.reduce((sum, { statements }) => sum + statements.length, 0),
    { clock, logger },
  )
  if (copy !== undefined) {
    makeCopy(connection, copy, folder)
    report(0)
  }
  connection.exec('BEGIN IMMEDIATE')
  try {
    for (const one of steps) step(connection, one, { at: clock.now(), done: () => report(1) })
    connection.exec('COMMIT')
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK')
    throw error
  }
  if (copy === undefined) logger.info('A new database was made', { path })
  else logger.info('The database was made ready for this version; a copy of it as it was is kept', { from, to, copy })
}

function checkKnown(path: string, from: number, to: number): void {
  if (from <= to) return
  const copy = `${path}.before-v${from}`
  const before = existsSync(copy) ? copy : 'the last backup'
  const message = `the database has schema version ${from}, this program knows ${to}; install the newer program again, or restore ${before}`
  throw new ParleyError('store_newer', message)
}

/**
 * Throws `store_newer` for a database of a newer program, before anybody opens it for writing: that alone would change
 * its journal mode, or bring its log into it. Whatever else keeps it from being read shows when it is opened.
 */
export function refuseNewer(path: string, key: StoreKey | undefined, known: number): void {
  if (!['plain', 'encrypted'].includes(formOf(path))) return
  let schema = 0
  try {
    schema = readSchemaVersion(path, key)
  } catch {
    return
  }
  checkKnown(path, schema, known)
}

/** Returns the schema version of a database, which may be in use, and changes nothing in it. */
export function readSchemaVersion(path: string, key?: StoreKey): number {
  const database = openDatabase(path, key, { readonly: true, fileMustExist: true })
  try {
    const found = database.prepare('SELECT MAX(version) AS version FROM migrations').get() as SqlRow
    return integer(found, 'version')
  } catch (error) {
    throw translate(error)
  } finally {
    database.close()
  }
}

/** A start that takes long is not to look like one that hangs: returns what is called after each part of the work. */
function progressIn(of: number, { clock, logger }: Pick<Migrating, 'clock' | 'logger'>): (more: number) => void {
  let done = 0
  let last = clock.elapsed()
  return (more) => {
    done += more
    const now = clock.elapsed()
    if (now - last < PROGRESS_MS || done === of) return
    last = now
    logger.info('The database is being made ready for this version; nothing is answered before', { done, of })
  }
}

function makeCopy(connection: SqliteConnection, copy: string, folder: DatabasePlace['folder']): void {
  try {
    copyDatabase(connection, copy, folder)
  } catch (cause) {
    const message = `the database must be copied to ${copy} before its schema changes, and cannot be: ${toError(cause).message}`
    throw new ParleyError('migration_failed', message, { cause })
  }
}

function schemaVersion(connection: SqliteConnection): number {
  connection.exec(
    'CREATE TABLE IF NOT EXISTS migrations (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)',
  )
  const row = connection.get('SELECT COALESCE(MAX(version), 0) AS version FROM migrations', [])
  return row === undefined ? 0 : integer(row, 'version')
}

interface Step {
  readonly migration: Migration
  readonly statements: readonly string[]
}

function step(
  connection: SqliteConnection,
  { migration, statements }: Step,
  { at, done }: { readonly at: number; readonly done: () => void },
): void {
  try {
    const row = [migration.version, migration.name, at]
    connection.run('INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)', row)
    for (const statement of statements) {
      connection.exec(statement)
      done()
    }
  } catch (cause) {
    const message = `the schema step ${migration.version} (${migration.name}) failed; the database is as it was before: ${toError(cause).message}`
    throw new ParleyError('migration_failed', message, { cause })
  }
}
