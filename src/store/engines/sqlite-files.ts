import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { ParleyError } from '../../core/errors.ts'
import { type FilePlace, filePlace, type PrivateFolder, privateFile } from '../../platform/private-folder.ts'
import { sync } from '../../platform/wipe.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

export type DatabasePlace = FilePlace

/** The ends of the names of the files that stand beside a database while it is used. */
export const LIVE_ENDS = ['-wal', '-shm', '-journal', '.lock', '.marker']

/** Begins where the name of a database ends: every file that this program ever writes beside one. */
const BESIDE =
  /^(?:-wal|-shm|-journal|\.lock|\.marker(?:\.partial)?|\.restoring(?:\.partial)?|\.before-v\d+(?:\.partial(?:-journal)?)?|\.conversion|\.conversion-(?:new(?:-journal|\.key)?|old)|-wal\.conversion-old)$/

/** Returns true for the name of a database, or of a file that this program writes beside it. */
export function isOfDatabase(name: string, database: string): boolean {
  return name === database || (name.startsWith(database) && BESIDE.test(name.slice(database.length)))
}

/**
 * Makes folder and database file where they are missing, for their owner alone whatever the umask; files SQLite adds
 * take mode and owner of the database. Throws `config` for a place that others could change.
 */
export function prepareFiles(path: string): DatabasePlace {
  const { path: file, folder } = filePlace(path)
  // An empty file in the place of the old database would be taken for it.
  if (existsSync(restoringFile(file))) throw halfRestored(file)
  privateFile(file, folder)
  for (const suffix of ['-wal', '-shm', '-journal']) privateFile(file + suffix, folder, 'existing')
  return { path: file, folder }
}

/** The file beside a database that stands there while a backup is put in its place. */
export function restoringFile(path: string): string {
  return `${path}.restoring`
}

export function halfRestored(path: string): ParleyError {
  return new ParleyError('config', `${path}: a restore was interrupted. ${FINISH}`)
}

const FINISH = 'Run the same "parley restore <backup> --yes" once more: it brings the restore to its end.'

/** A whole, consistent copy at `copy`, on disk before this returns. It appears under its name only when complete. */
export function copyDatabase(connection: SqliteConnection, copy: string, folder: PrivateFolder): void {
  const partial = `${copy}.partial`
  rmSync(partial, { force: true })
  privateFile(partial, folder)
  try {
    connection.exec(`VACUUM INTO '${partial.replaceAll("'", "''")}'`)
    sync(partial)
    renameSync(partial, copy)
  } catch (error) {
    // On a full disk it would keep from everybody the space that is missing.
    for (const file of [partial, `${partial}-journal`]) rmSync(file, { force: true })
    throw error
  }
  sync(dirname(copy))
}
