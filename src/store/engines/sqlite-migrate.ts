import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Dialect, Migration } from '../migrations/migration.ts'
import { integer } from '../rows.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { copyDatabase } from './sqlite-files.ts'

const SQLITE: Dialect = { identity: 'INTEGER PRIMARY KEY', clustered: ' WITHOUT ROWID' }

interface Migrating {
  readonly connection: SqliteConnection
  readonly path: string
  readonly migrations: readonly Migration[]
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Brings the schema up to date, each step in its own transaction together with its version row, after a copy of a
 * database that holds something. A step that fails leaves the schema before it. A database from a newer program is
 * `store_newer` and stays untouched.
 */
export function migrate({ connection, path, migrations, clock, logger }: Migrating): void {
  const from = schemaVersion(connection)
  const to = migrations.length
  if (from > to) {
    const message = `the database has schema version ${from}, this program knows ${to}; install the newer program again, or restore ${path}.before-v${from}`
    throw new ParleyError('store_newer', message)
  }
  if (from === to) return
  if (from > 0) copyDatabase(connection, `${path}.before-v${to}`)
  for (const migration of migrations.slice(from)) step(connection, migration, clock.now())
  logger.info('the database schema was brought up to date', { from, to })
}

function schemaVersion(connection: SqliteConnection): number {
  connection.exec(
    'CREATE TABLE IF NOT EXISTS migrations (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)',
  )
  const row = connection.get('SELECT COALESCE(MAX(version), 0) AS version FROM migrations', [])
  return row === undefined ? 0 : integer(row, 'version')
}

function step(connection: SqliteConnection, migration: Migration, at: number): void {
  connection.exec('BEGIN IMMEDIATE')
  try {
    const row = [migration.version, migration.name, at]
    connection.run('INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)', row)
    for (const statement of migration.statements(SQLITE)) connection.exec(statement)
    connection.exec('COMMIT')
  } catch (cause) {
    if (connection.inTransaction) connection.exec('ROLLBACK')
    const message = `the schema step ${migration.version} (${migration.name}) failed; the database is as it was before`
    throw new ParleyError('unavailable', message, { cause })
  }
}
