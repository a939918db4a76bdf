import { existsSync, statSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { type Address, formatAddress } from '../../core/address.ts'
import { errorCode, toError } from '../../core/errors.ts'
import { readJson } from '../../core/read-json.ts'
import type { StoreKey } from '../../core/store-key.ts'
import { addressTitle } from '../../core/titles.ts'
import { MIGRATIONS } from '../migrations/index.ts'
import { openDatabase } from './sqlite-cipher.ts'
import type { Database } from './sqlite-driver.ts'
import { isNoDatabase, translate } from './sqlite-error.ts'
import { halfRestored, restoringFile } from './sqlite-files.ts'
import { checkForm, formOf, wrongKey } from './sqlite-form.ts'

/** A database as a look from outside finds it, while a daemon has it open or not. */
export interface DatabaseFacts {
  readonly bytes: number
  /** Bytes of the log beside it. */
  readonly logBytes: number
  /** Absent where there is no database yet. */
  readonly content?: DatabaseContent
}

export interface DatabaseContent {
  /** `foreign`: a database of another program. */
  readonly kind: 'ours' | 'foreign'
  /** The version of its schema, and the one that this program writes. */
  readonly schema: number
  readonly known: number
  readonly sqlite: string
  /** The damage that was found, a line each. */
  readonly damage: readonly string[]
  /** Tables that were checked for damage, and all there are: they differ where the time was over. */
  readonly checked: number
  readonly tables: number
  /** True while a restored database owes messages that wait for the operator's choice. */
  readonly waits: boolean
}

/** A group or channel in which something was said. */
export interface KnownPlace {
  readonly address: Address
  readonly title?: string
}

export interface DatabaseLook {
  readonly path: string
  readonly key?: StoreKey | undefined
  /** The check for damage ends once it aborts, after the table it is at; absent: it takes as long as it takes. */
  readonly signal: AbortSignal | undefined
}

/** Lines of damage that are read of one table. */
const MOST_DAMAGE = 20
const BUSY_MS = 1_000

/**
 * Opens a database for reading alone, beside whoever writes it, and reads its kind and its damage. Takes no lock, and
 * changes neither a row nor the schema. Throws `config` for a key that does not fit and for a file that is no database,
 * `unavailable` for one that cannot be read at all; `config` also in the midst of a restore.
 */
export async function examineDatabase({ path, key, signal }: DatabaseLook): Promise<DatabaseFacts> {
  if (existsSync(restoringFile(path))) throw halfRestored(path)
  checkForm(path, key !== undefined)
  const form = formOf(path)
  const sizes = storeSizes(path)
  if (form === 'absent' || (form === 'empty' && sizes.logBytes === 0)) return sizes
  const database = openToRead(path, key)
  try {
    return { ...sizes, content: await contentOf(database, signal) }
  } catch (error) {
    const damage = damageIn(error)
    if (damage === undefined) throw translate(error)
    return { ...sizes, content: { ...UNREAD, damage: [damage] } }
  } finally {
    database.close()
  }
}

const UNREAD = {
  kind: 'ours',
  schema: 0,
  known: MIGRATIONS.length,
  sqlite: '',
  checked: 0,
  tables: 0,
  waits: false,
} as const

/** Returns the bytes of a database and of the log beside it; 0 for one that is not there. */
export function storeSizes(path: string): { readonly bytes: number; readonly logBytes: number } {
  return { bytes: sizeOf(path), logBytes: sizeOf(`${path}-wal`) }
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}

/** Opens a database for reading alone, beside whoever writes it. Throws as `examineDatabase` does. */
export function openToRead(path: string, key: StoreKey | undefined): Database {
  try {
    const database = openDatabase(path, key, { readonly: true, fileMustExist: true, timeout: BUSY_MS })
    if (key === undefined) return database
    try {
      database.prepare('SELECT COUNT(*) FROM sqlite_schema').get()
    } catch (error) {
      database.close()
      throw isNoDatabase(error) ? wrongKey(path, error) : error
    }
    return database
  } catch (error) {
    throw translate(error)
  }
}

async function contentOf(database: Database, signal: AbortSignal | undefined): Promise<DatabaseContent> {
  const sqlite = String(database.prepare('SELECT sqlite_version()').pluck().get())
  const tables = names(database, "SELECT name FROM sqlite_schema WHERE type = 'table'")
  const isOurs = tables.length === 0 || hasOurTables(tables)
  const schema = isOurs && tables.length > 0 ? Number(value(database, 'SELECT MAX(version) FROM migrations')) : 0
  const waits = isOurs && tables.includes('restorations') && WAITING.includes(String(value(database, RESTORED)))
  const facts = { schema, known: MIGRATIONS.length, sqlite, tables: tables.length, waits }
  if (!isOurs) return { ...facts, kind: 'foreign', damage: [], checked: 0 }
  return { ...facts, kind: 'ours', ...(await damageOf(database, tables, signal)) }
}

const RESTORED = 'SELECT state FROM restorations ORDER BY at DESC LIMIT 1'
const WAITING = ['found', 'held']

function hasOurTables(tables: readonly string[]): boolean {
  return ['migrations', 'counters', 'outbox'].every((name) => tables.includes(name))
}

/** Returns true for a database that this program made, by its tables; an empty one is nobody's. Throws as above. */
export function isOurDatabase({ path, key }: Omit<DatabaseLook, 'signal'>): boolean {
  if (!['plain', 'encrypted'].includes(formOf(path))) return false
  checkForm(path, key !== undefined)
  const database = openToRead(path, key)
  try {
    return hasOurTables(names(database, "SELECT name FROM sqlite_schema WHERE type = 'table'"))
  } catch (error) {
    throw translate(error)
  } finally {
    database.close()
  }
}

function names(database: Database, query: string): readonly string[] {
  return database.prepare(query).pluck().all().map(String)
}

function value(database: Database, query: string): unknown {
  return database.prepare(query).pluck().get()
}

/** Checks table by table, so that others have their turn in between, and that the time can be over. */
async function damageOf(database: Database, tables: readonly string[], signal: AbortSignal | undefined) {
  const damage: string[] = []
  let checked = 0
  for (const table of ['sqlite_schema', ...tables]) {
    await setImmediate()
    if (signal?.aborted) break
    const quoted = `'${table.replaceAll("'", "''")}'`
    const lines = linesOf(database, `integrity_check(${quoted})`).filter((line) => line !== 'ok')
    damage.push(...lines.slice(0, MOST_DAMAGE).map((line) => line.replace(/\s+/g, ' ').trim()))
    if (table !== 'sqlite_schema') checked++
  }
  const orphans = signal?.aborted ? [] : linesOf(database, 'foreign_key_check')
  if (orphans.length > 0) damage.push(`${orphans.length} rows name rows that are not there`)
  return { damage, checked }
}

function linesOf(database: Database, pragma: string): readonly string[] {
  try {
    return (database.pragma(pragma) as readonly object[]).map((row) => String(Object.values(row)[0]))
  } catch (error) {
    const damage = damageIn(error)
    if (damage === undefined) throw error
    return [damage]
  }
}

/** Returns the words of an error that is about what stands in the file; undefined for any other. */
function damageIn(error: unknown): string | undefined {
  const { message } = toError(error)
  return errorCode(error) === 'internal' && /malformed|corrupt|not a database|disk image/i.test(message)
    ? message
    : undefined
}

/** Newest deliveries and messages that are looked through for places: some ten milliseconds. */
const LOOKED_THROUGH = 5_000
const PLACES = `SELECT address FROM (
    SELECT address, no FROM (SELECT address, no FROM outbox ORDER BY no DESC LIMIT ${LOOKED_THROUGH})
    UNION ALL
    SELECT json_extract(dispatch, '$.event.address'), no FROM (
      SELECT dispatch, no FROM inbox WHERE json_valid(dispatch) ORDER BY no DESC LIMIT ${LOOKED_THROUGH})
  ) WHERE address IS NOT NULL GROUP BY address ORDER BY MAX(no) DESC`

/** Returns the groups and channels in which something was said, the newest first. Throws as `examineDatabase` does. */
export function placesIn({ path, key }: Omit<DatabaseLook, 'signal'>): readonly KnownPlace[] {
  if (!['plain', 'encrypted'].includes(formOf(path))) return []
  const database = openToRead(path, key)
  try {
    return placesOf(database)
  } finally {
    database.close()
  }
}

/** An address, and the metadata of a session, are small. */
const ROW = { bytes: 64_000, values: 1_000 }

function placesOf(database: Database): readonly KnownPlace[] {
  const places = new Map<string, KnownPlace>()
  for (const text of names(database, PLACES)) {
    const { topic: _topic, post: _post, ...chat } = readJson(text, ROW) as Address
    if (chat.chatType === 'direct' || places.has(formatAddress(chat)) || hasMoved(database, chat)) continue
    const title = titleOf(database, chat)
    places.set(formatAddress(chat), { address: chat, ...(title === undefined ? {} : { title }) })
  }
  return [...places.values()]
}

function hasMoved(database: Database, { channel, chat }: Address): boolean {
  const moved = database.prepare('SELECT 1 FROM chat_moves WHERE channel = ? AND from_chat = ?')
  return moved.get(channel, chat) !== undefined
}

function titleOf(database: Database, address: Address): string | undefined {
  const key = formatAddress(address)
  const newest = database.prepare<[string, string], string>(
    'SELECT metadata FROM sessions WHERE display_key IN (?, ?) ORDER BY no DESC LIMIT 1',
  )
  const metadata = newest.pluck().get(key, key.toLowerCase())
  return metadata === undefined ? undefined : addressTitle(address, readJson(metadata, ROW) as Record<string, string>)
}
