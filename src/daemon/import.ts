import { randomBytes } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { systemClock } from '../core/clock.ts'
import { createIdSource } from '../core/ids.ts'
import type { ImportReport, OldFile } from '../core/import.ts'
import { silentLogger } from '../core/logger.ts'
import { compileRouting } from '../routing/compile-routing.ts'
import { importedSession } from '../routing/imported-session.ts'
import { importSessions } from '../sessions/service/import-sessions.ts'
import { openSqliteStore } from '../store/engines/sqlite.ts'
import { textRedactor } from './text-redactor.ts'

/** Imports the conversations of an older program into the configured store, which no daemon may hold meanwhile. */
export async function importInto(config: Config, files: readonly OldFile[]): Promise<ImportReport> {
  const { routing } = compileRouting(config.routing)
  const { caseSensitive } = routing.channels
  const store = await openSqliteStore({
    path: config.store.path,
    clock: systemClock,
    logger: silentLogger,
    caseSensitive,
  })
  try {
    const ids = createIdSource({ now: systemClock.now, randomBytes })
    const route = (key: string) => importedSession(routing.sessions, key)
    const redact = textRedactor(config)
    const clean = files.map(({ text, ...file }) => ({ ...file, text: redact(text) }))
    return await importSessions({ store, clock: systemClock, ids, route }, clean)
  } finally {
    await store.close()
  }
}
