import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
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

const whole = z.int().exactOptional()
const words = z.string().exactOptional()
const record = z.object({ at: whole, path: words, bytes: whole, failedAt: whole, reason: words })

/** Returns the record of the last backup; undefined if none was ever tried. A damaged record says nothing. */
export function readLastBackup(dataDir: string): LastBackup | undefined {
  try {
    const last = record.parse(readJson(readFileSync(join(dataDir, FILE)), { bytes: 100_000, values: 100 }))
    return last.path === undefined ? last : { ...last, there: existsSync(last.path) }
  } catch {
    return undefined
  }
}

/** Records how an attempt ended; the last whole copy stays on record when a later attempt fails. */
export function recordBackup(dataDir: string, ended: Omit<LastBackup, 'there'>): void {
  const { there: _there, failedAt: _failedAt, reason: _reason, ...before } = readLastBackup(dataDir) ?? {}
  const folder = privateFolder(dataDir)
  replaceFile(join(folder.path, FILE), `${JSON.stringify({ ...before, ...ended }, null, 1)}\n`, folder)
}
