import { readFileSync } from 'node:fs'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import { privateFile, replaceFile } from '../../platform/private-folder.ts'
import { integer } from '../rows.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { DatabasePlace } from './sqlite-files.ts'
import type { SqliteTransaction } from './sqlite-transaction.ts'

/**
 * The progress of the database as a number that only rises: in a row of its own, and after the commit of that row in
 * the file beside it. A number that is higher in the file than in the database belongs to a later state: the database
 * was restored. No clock decides, and neither a stop of any length nor a crash leaves the file ahead (decision 0013).
 */
export interface Marker {
  /** Called at each write; has it carried further along at most once a second. */
  touch(write: (body: (sql: SqliteTransaction) => Promise<number>) => Promise<number>): void
  /** Called once, between the last write and the end. */
  seal(): void
}

const PACE_MS = 1_000
const RAISE = `INSERT INTO counters (name, value) VALUES ('mark', 1)
  ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value`
const MARK_AHEAD = `INSERT INTO counters (name, value) VALUES ('mark', $1)
  ON CONFLICT (name) DO UPDATE SET value = MAX(counters.value, excluded.value)`
const MARKED_AT = `INSERT INTO counters (name, value) VALUES ('marked_at', $1)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

interface MarkerDeps {
  readonly connection: SqliteConnection
  readonly place: DatabasePlace
  readonly clock: Clock
  readonly logger: Logger
}

/** Records a restoration where the database is older than its marker or says so itself, and marks it as it is now. */
export function openMarker(deps: MarkerDeps): Marker {
  const { connection, place, clock, logger } = deps
  const ahead = markIn(place)
  const markedAt = counter(connection, 'marked_at')
  if (isOlderCopy(connection, ahead)) {
    const lastAt = markedAt ?? 0
    recordFound(connection, { at: clock.now(), lastAt, ahead })
    logger.warn('The database is an older copy: nothing it had queued is sent until an owner chooses', { lastAt })
  } else if (markedAt !== undefined) {
    // It was found before the last write: a later time came from a clock that was wrong and has been set since.
    connection.run('UPDATE restorations SET at = $1 WHERE at > $1', [markedAt])
  }
  let touched = false
  let paceFrom = clock.elapsed()
  const file = createFile(place, logger)
  const mark = (): void => {
    const row = connection.get(RAISE, [])
    connection.run(MARKED_AT, [clock.now()])
    if (row !== undefined) file.write(integer(row, 'value'))
  }
  mark()
  return {
    touch(write) {
      touched = true
      const elapsed = clock.elapsed()
      if (elapsed - paceFrom < PACE_MS) return
      paceFrom = elapsed
      touched = false
      const at = clock.now()
      write(async (sql) => {
        const row = await sql.get(RAISE, [])
        await sql.run(MARKED_AT, [at])
        return row === undefined ? 0 : integer(row, 'value')
      }).then(file.write, (err: unknown) => {
        touched = true
        logger.debug('The marker of the database was not raised', { err })
      })
    },
    seal() {
      if (touched) mark()
    },
  }
}

/**
 * Only the newest restoration counts, whatever the clock said at an earlier one. The number goes beyond the file's: a
 * later copy, put back next because the first was the wrong one, is older than what was there as well.
 */
function recordFound(
  connection: SqliteConnection,
  { at, lastAt, ahead = 0 }: { readonly at: number; readonly lastAt: number; readonly ahead: number | undefined },
): void {
  connection.run('BEGIN IMMEDIATE', [])
  try {
    connection.run('DELETE FROM restorations', [])
    connection.run("INSERT INTO restorations (at, last_at, state) VALUES ($1, $2, 'found')", [at, lastAt])
    connection.run("DELETE FROM counters WHERE name = 'restored'", [])
    connection.run(MARK_AHEAD, [ahead])
    connection.run('COMMIT', [])
  } catch (error) {
    if (connection.inTransaction) connection.run('ROLLBACK', [])
    throw error
  }
}

/** A database that was never opened before is a new one, whatever an earlier one of this name has left. */
function isOlderCopy(connection: SqliteConnection, inFile: number | undefined): boolean {
  if ((counter(connection, 'restored') ?? 0) > 0) return true
  if (inFile === undefined || counter(connection, 'epoch') === undefined) return false
  return (counter(connection, 'mark') ?? 0) < inFile
}

function counter(connection: SqliteConnection, name: string): number | undefined {
  const row = connection.get('SELECT value FROM counters WHERE name = $1', [name])
  return row === undefined ? undefined : integer(row, 'value')
}

function markerPath({ path }: DatabasePlace): string {
  return `${path}.marker`
}

/** A file that holds no number says nothing. */
function markIn(place: DatabasePlace): number | undefined {
  const path = markerPath(place)
  privateFile(path, place.folder)
  const mark = Number.parseInt(readFileSync(path, 'utf8'), 10)
  return Number.isSafeInteger(mark) ? mark : undefined
}

/** It is a witness and not a promise: where it cannot be written, the store works on. */
function createFile(place: DatabasePlace, logger: Logger): { write(mark: number): void } {
  const path = markerPath(place)
  let written = 0
  let failed = false
  return {
    write(mark) {
      if (mark <= written) return
      try {
        replaceFile(path, `${mark}\n`, place.folder)
        written = mark
        failed = false
      } catch (err) {
        if (!failed) logger.warn('The marker beside the database cannot be written', { err })
        failed = true
      }
    },
  }
}
