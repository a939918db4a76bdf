import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { ParleyError, toError } from '../../core/errors.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700

/**
 * Makes folder and database file where they are missing, for their owner alone whatever the umask; files SQLite adds
 * take the mode of the database. Returns the real path, so that two names of one file share one lock.
 */
export function prepareFiles(path: string): string {
  try {
    const made = mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER })
    if (made !== undefined) chmodSync(dirname(path), PRIVATE_FOLDER)
    makePrivateFile(path)
    for (const suffix of ['-wal', '-shm']) if (existsSync(path + suffix)) chmodSync(path + suffix, PRIVATE_FILE)
    return realpathSync(path)
  } catch (cause) {
    const reason = toError(cause).message
    throw new ParleyError('unavailable', `the database ${path} cannot be written: ${reason}`, { cause })
  }
}

export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', PRIVATE_FILE))
  chmodSync(path, PRIVATE_FILE)
}

/** A whole, consistent copy at `copy`, on disk before this returns. It appears under its name only when complete. */
export function copyDatabase(connection: SqliteConnection, copy: string): void {
  const partial = `${copy}.partial`
  rmSync(partial, { force: true })
  makePrivateFile(partial)
  connection.exec(`VACUUM INTO '${partial.replaceAll("'", "''")}'`)
  sync(partial)
  renameSync(partial, copy)
  sync(dirname(copy))
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
