import { rmSync } from 'node:fs'
import { ParleyError } from '../../core/errors.ts'
import type { StoreForm } from '../../core/store-conversion.ts'
import type { StoreKey } from '../../core/store-key.ts'
import { type PrivateFolder, privateFile } from '../../platform/private-folder.ts'
import { keyFile, OtherContents, type Recode } from './convert-database.ts'
import { engineKey, openEither } from './sqlite-cipher.ts'
import type { Database } from './sqlite-driver.ts'
import { translate } from './sqlite-error.ts'

/** Converts with the driver that encrypts: it reads and writes both forms. */
export function createRecode(key: StoreKey, folder: PrivateFolder): Recode {
  const keyOf = (form: StoreForm): StoreKey | undefined => (form === 'encrypted' ? key : undefined)
  const other = (form: StoreForm): StoreForm => (form === 'encrypted' ? 'plain' : 'encrypted')
  return {
    copy(from, to, form) {
      using(openEither(from, keyOf(other(form))), leaveLog)
      // VACUUM INTO writes with the key of the first database of the connection. Nothing is ever written to this one.
      const first = keyFile(to)
      privateFile(first, folder)
      using(openEither(first, keyOf(form)), (database) => {
        database.pragma('temp_store = MEMORY')
        database.prepare('ATTACH ? AS source KEY ?').run(from, form === 'encrypted' ? '' : engineKey(key))
        database.prepare('VACUUM source INTO ?').run(to)
      })
      rmSync(first, { force: true })
    },
    compare(original, copy, form) {
      const [source, target] = [keyOf(other(form)), keyOf(form)]
      const [before, after] = [using(openEither(original, source), contents), using(openEither(copy, target), contents)]
      if (JSON.stringify(before) !== JSON.stringify(after)) throw new OtherContents(original)
      // A row that breaks a rule of its table is copied as it is; a copy has no damage that is not in the original.
      if (using(openEither(copy, target), isSound) || !using(openEither(original, source), isSound)) return
      throw new OtherContents(original)
    },
  }
}

function using<T>(database: Database, use: (database: Database) => T): T {
  try {
    return use(database)
  } catch (error) {
    throw translate(error)
  } finally {
    database.close()
  }
}

/** Folds the write-ahead log into the database and goes without one. */
function leaveLog(database: Database): void {
  const mode: unknown = database.pragma('journal_mode = DELETE', { simple: true })
  if (mode !== 'delete') throw new ParleyError('unavailable', 'another program holds the database; close it')
}

interface SchemaRow {
  readonly type: string
  readonly name: string
  readonly sql: string | null
}

/** The schema, and how many rows each table has. */
function contents(database: Database): readonly unknown[] {
  const schema = database.prepare<[], SchemaRow>('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all()
  const tables = schema.filter(({ type, sql }) => type === 'table' && !/^CREATE VIRTUAL/i.test(sql ?? ''))
  const rows = tables.map(({ name }) => {
    const count: unknown = database
      // An index may be damaged alone; the copy has a new one.
      .prepare(`SELECT count(*) FROM "${name.replaceAll('"', '""')}" NOT INDEXED`)
      .pluck()
      .get()
    return [name, count]
  })
  return [schema, rows]
}

function isSound(database: Database): boolean {
  return database.pragma('integrity_check', { simple: true }) === 'ok'
}
