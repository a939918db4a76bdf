import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LastBackup } from '../core/backup.ts'
import { readJson } from '../core/read-json.ts'
import { privateFolder, replaceFile } from '../platform/private-folder.ts'

/** Stands in the state folder. */
const FILE = 'last-backup'

/** Stands there as long as a copy is made or put back, and is empty. */
export const BACKUPS_LOCK = 'backups.lock'

/** Returns true for the name of the record of the last backup, or of the lock. */
export function isOfBackups(name: string): boolean {
  return [FILE, `${FILE}.partial`, BACKUPS_LOCK].includes(name)
}

const BOUNDS = { bytes: 100_000, values: 100 }

/** Returns the record of the last backup; undefined if none was ever tried. A damaged record says nothing. */
export function readLastBackup(dataDir: string): LastBackup | undefined {
  try {
    const last = Object(readJson(readFileSync(join(dataDir, FILE)), BOUNDS))
    const number = (name: string) => (Number.isSafeInteger(last[name]) ? { [name]: last[name] } : {})
    const text = (name: string) => (typeof last[name] === 'string' ? { [name]: last[name] } : {})
    const found: LastBackup = {
      ...number('at'),
      ...text('path'),
      ...number('bytes'),
      ...number('failedAt'),
      ...text('reason'),
    }
    return found.path === undefined ? found : { ...found, there: existsSync(found.path) }
  } catch {
    return undefined
  }
}

/** Records how an attempt ended; the last whole copy stays on record when a later attempt fails. */
export function recordBackup(dataDir: string, ended: Omit<LastBackup, 'there'>): void {
  const { at, path, bytes } = readLastBackup(dataDir) ?? {}
  const before =
    at === undefined ? {} : { at, ...(path === undefined ? {} : { path }), ...(bytes === undefined ? {} : { bytes }) }
  const folder = privateFolder(dataDir)
  replaceFile(join(folder.path, FILE), `${JSON.stringify({ ...before, ...ended }, null, 1)}\n`, folder)
}
