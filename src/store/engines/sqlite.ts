import { randomInt } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import { isFull } from '../../core/full-disk.ts'
import type { ChannelId } from '../../core/ids.ts'
import { type Logger, silentLogger } from '../../core/logger.ts'
import type { StoreKey } from '../../core/store-key.ts'
import { KnownSessions } from '../known-sessions.ts'
import { MIGRATIONS } from '../migrations/index.ts'
import type { Migration } from '../migrations/migration.ts'
import { RepositoryWriter, storeReader } from '../repositories.ts'
import { integer } from '../rows.ts'
import type { FilesNamed, Store, StoreWatch } from '../store.ts'
import { createGroupCommit } from './group-commit.ts'
import { cipherDriver } from './sqlite-cipher.ts'
import { INCREMENTAL, openConnection, type SqliteConnection } from './sqlite-connection.ts'
import { isDiskError, isNoDatabase } from './sqlite-error.ts'
import { type DatabasePlace, prepareFiles } from './sqlite-files.ts'
import { checkForm, wrongKey } from './sqlite-form.ts'
import { lockStore } from './sqlite-lock.ts'
import { openMarker } from './sqlite-marker.ts'
import { migrate, refuseNewer } from './sqlite-migrate.ts'
import { SqliteReads } from './sqlite-reads.ts'
import { Scrubber } from './sqlite-scrub.ts'
import { WriteAheadLog } from './write-ahead-log.ts'

export interface SqliteOptions {
  /** Channels whose ids keep their case in the names of sessions; none by default. */
  readonly caseSensitive?: readonly ChannelId[]
  /** The database file; it and its folder are made where they are missing. */
  readonly path: string
  /** The database is encrypted with it (C48); absent: it is not. */
  readonly key?: StoreKey | undefined
  readonly clock: Clock
  readonly logger?: Logger
  /** The steps of the schema, if not all there are. */
  readonly migrations?: readonly Migration[]
  /**
   * Told once when the disk did not confirm a write: from then on every write is refused, and only a new process helps.
   */
  readonly onBroken?: (error: Error) => void
  readonly watch?: StoreWatch | undefined
  readonly named?: FilesNamed | undefined
}

/**
 * Opens the SQLite store. Throws `store_locked` when another process has it open, `store_newer` when a newer program
 * wrote it, `config` for a place that others could change or that this user cannot use and for a key that does not fit,
 * `no_driver` for want of the driver that encrypts, `store_broken` when the disk is full, and `unavailable` when files
 * or pragmas do not do.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { key } = options
  // Without it nothing is touched.
  if (key !== undefined) cipherDriver()
  const place = naming(options.path, () => prepareFiles(options.path))
  const { path } = place
  const lock = naming(path, () => lockStore(place))
  try {
    checkForm(path, key !== undefined)
    refuseNewer(path, key, (options.migrations ?? MIGRATIONS).length)
    const connection = openWith(path, key)
    try {
      return prepare({ ...options, place }, connection, lock.release)
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (error) {
    lock.release()
    throw named(error, path)
  }
}

function naming<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw named(error, path)
  }
}

function openWith(path: string, key: StoreKey | undefined): SqliteConnection {
  try {
    return openConnection(path, key)
  } catch (error) {
    throw key !== undefined && isNoDatabase(error) ? wrongKey(path, error) : error
  }
}

/** Adds the file to an error that keeps a store from opening, or the folder where its disk does. */
function named(error: unknown, path: string): unknown {
  if (error instanceof ParleyError && error.code !== 'unavailable') return error
  const folder = dirname(path)
  if (isFull(error) || (isDiskError(error) && hasNoRoom(folder)))
    return new ParleyError('store_broken', `${folder}: the disk of this folder is full; free some space there`, {
      cause: error,
    })
  if (!(error instanceof ParleyError)) return error
  return new ParleyError(error.code, `${path}: ${error.message}`, { cause: error.cause })
}

/** The bytes that the engine writes into memory it shares, at once, before it reads a database. */
const LEAST_ROOM = 32 * 1024

/** The engine does not always say that a full disk was the reason. */
function hasNoRoom(folder: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder)
    return bavail * bsize < LEAST_ROOM || (files > 0 && ffree === 0)
  } catch {
    return false
  }
}

function prepare(
  options: SqliteOptions & { place: DatabasePlace },
  connection: SqliteConnection,
  unlock: () => void,
): Store {
  const { place, clock, logger = silentLogger, migrations = MIGRATIONS, caseSensitive = [] } = options
  const { onBroken, watch, named } = options
  migrate({ connection, place, migrations, clock, logger })
  const marker = openMarker({ connection, place, clock, logger })
  const epoch = raiseEpoch(connection)
  nameStore(connection)
  const group = createGroupCommit(connection, clock, onBroken)
  const known = new KnownSessions()
  const log = new WriteAheadLog(connection, `${place.path}-wal`)
  const reopen = () => openConnection(place.path, options.key)
  const scrubber = new Scrubber({ connection, group, log, path: place.path, reopen })
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await group.drain()
    await scrubber.stop()
    try {
      marker.seal()
      log.truncate()
    } finally {
      connection.close()
      scrubber.close()
      unlock()
    }
  }
  return {
    epoch,
    read: storeReader({ sql: new SqliteReads(group, connection), logger, epoch, caseSensitive }),
    write(body) {
      log.writes++
      marker.touch(group.write)
      return group.write((sql) =>
        body(new RepositoryWriter({ sql, logger, epoch, caseSensitive, known, watch, named })),
      )
    },
    shrink: () => group.read(() => giveBack(connection)),
    emptyLog: () => group.read(() => log.truncateIfIdle()),
    scrub: () => scrubber.scrub(),
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

/** Pages that are given back at a time: 1 MB, some milliseconds. */
const PAGES_AT_ONCE = 256

/** Called between two groups: the pragma commits by itself. */
function giveBack(connection: SqliteConnection): number {
  if (pragma(connection, 'auto_vacuum') !== INCREMENTAL || pragma(connection, 'freelist_count') === 0) return 0
  connection.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`)
  return pragma(connection, 'freelist_count')
}

function pragma(connection: SqliteConnection, name: 'auto_vacuum' | 'freelist_count'): number {
  return Number(connection.get(`PRAGMA ${name}`, [])?.[name] ?? 0)
}

function raiseEpoch(connection: SqliteConnection): number {
  const row = connection.get(
    `INSERT INTO counters (name, value) VALUES ('epoch', 1)
      ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value`,
    [],
  )
  if (row === undefined) throw new ParleyError('internal', 'the epoch cannot be raised')
  return integer(row, 'value')
}

/** The most that `randomInt` gives. */
const MOST_STORES = 2 ** 48 - 1

/** Gives a store its number, by which its copies are known: no rule of keeping removes those of another one. */
function nameStore(connection: SqliteConnection): void {
  const insert = "INSERT INTO counters (name, value) VALUES ('store', $1) ON CONFLICT (name) DO NOTHING"
  connection.run(insert, [randomInt(1, MOST_STORES)])
}
