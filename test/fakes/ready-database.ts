import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { openConnection } from '../../src/store/engines/sqlite-connection.ts'
import { prepareFiles } from '../../src/store/engines/sqlite-files.ts'
import { migrate } from '../../src/store/engines/sqlite-migrate.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'

/**
 * Puts an empty database with the schema at `path`, and returns `path`. It is a copy of one that went through all steps
 * of the schema, which are an eighth of the time of the tests that start a daemon where each store takes them itself.
 */
export function readyDatabase(path: string): string {
  ready ??= make()
  writeFileSync(path, ready, { mode: 0o600, flag: 'wx' })
  return path
}

let ready: Buffer | undefined

function make(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'parley-ready-'))
  const path = join(folder, 'parley.db')
  try {
    const place = prepareFiles(path)
    const connection = openConnection(path)
    migrate({ connection, place, migrations: MIGRATIONS, clock: systemClock, logger: silentLogger })
    connection.close()
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
