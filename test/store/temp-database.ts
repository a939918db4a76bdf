import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { Database } from '../../src/store/engines/sqlite-driver.ts'

/** A folder of its own for each call, removed after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-store-'))
  folders.push(folder)
  return folder
}

const folders: string[] = []

/** Called once by each suite that uses `tempFolder`. */
export function removeTempFolders(): void {
  afterEach(() => {
    for (const folder of folders.splice(0)) {
      chmodSync(folder, 0o700)
      rmSync(folder, { recursive: true, force: true })
    }
  })
}

/** Runs `use` on a plain connection of its own, past the store. */
export function withDatabase<T>(path: string, use: (database: Database) => T): T {
  const database = new Database(path)
  try {
    return use(database)
  } finally {
    database.close()
  }
}
