import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { createChannels } from '../core/channel-traits.ts'
import { systemClock } from '../core/clock.ts'
import { sizeInWords } from '../core/content-words.ts'
import { ParleyError, toError } from '../core/errors.ts'
import { createIdSource, type IdSource, type MediaId } from '../core/ids.ts'
import type { BundleReport, ImportOptions, ImportReport, OldFile } from '../core/import.ts'
import { silentLogger } from '../core/logger.ts'
import type { SessionScope } from '../core/session.ts'
import { createMediaStore } from '../media/media-store.ts'
import { compileRouting } from '../routing/compile-routing.ts'
import { importedPlace, importedSession } from '../routing/imported-session.ts'
import { readBundle } from '../sessions/export/read-bundle.ts'
import { importBundle } from '../sessions/service/import-bundle.ts'
import { importSessions } from '../sessions/service/import-sessions.ts'
import { modelRules } from '../sessions/service/session-rules.ts'
import { copyForTrial } from '../store/engines/copy-for-trial.ts'
import { openSqliteStore } from '../store/engines/sqlite.ts'
import type { Store } from '../store/store.ts'
import { storeKeyOf } from './store-key.ts'
import { textRedactor } from './text-redactor.ts'
import { makeTrialFolder } from './trial-folder.ts'

/** Imports the conversations of an older program into the configured store, which no daemon may hold meanwhile. */
export async function importInto(
  config: Config,
  files: readonly OldFile[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { routing } = compileRouting(config.routing)
  return inStore(config, options.dryRun === true, async (store, ids) => {
    const route = (key: string) => importedSession(routing.sessions, key)
    const redact = textRedactor(config)
    const personOf = directPersons(config.routing.people.flatMap((person) => person.ids))
    return await importSessions({ store, clock: systemClock, ids, route, personOf, redact }, files, options)
  })
}

/** Bytes of a bundle: the engine has no longer texts. */
const MOST_BYTES = 500_000_000

/** Some files of the system, such as the log of the kernel, have no end: what waits for more is an error here. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * Imports a session of another store from its file. Throws `migration_failed` for one that is not whole, or no bundle,
 * and `invalid` for one that cannot be read.
 */
export async function importBundleInto(config: Config, path: string, dryRun: boolean): Promise<BundleReport> {
  if ((await stat(path)).size > MOST_BYTES)
    throw new ParleyError(
      'migration_failed',
      `The file cannot be imported: it is larger than ${sizeInWords(MOST_BYTES)}.`,
    )
  const text = await readFile(path, { encoding: 'utf8', flag: AT_ONCE }).catch((cause: unknown) => {
    throw new ParleyError('invalid', `The file ${path} cannot be read: ${toError(cause).message}`, { cause })
  })
  const bundle = readBundle(text)
  return inStore(config, dryRun, async (store, ids) => {
    const used = (named: readonly MediaId[]) => store.read.media.used(named)
    const [folder, key] = [join(config.dataDir, 'media'), storeKeyOf(config)]
    const media = createMediaStore({ folder, clock: systemClock, key, used })
    const { sessions } = compileRouting(config.routing).routing
    const placeOf = (scope: SessionScope) => importedPlace(sessions, scope)
    const redact = textRedactor(config)
    const deps = { store, clock: systemClock, ids, media, models: modelRules(config), placeOf, redact }
    return importBundle(deps, bundle, dryRun)
  })
}

type Work<Done> = (store: Store, ids: IdSource) => Promise<Done>

/** Opens the store, which no daemon may hold meanwhile; for a trial a copy, since a store that is opened changes. */
async function inStore<Done>(config: Config, trial: boolean, work: Work<Done>): Promise<Done> {
  const { path } = config.store
  if (!trial) return inStoreAt(config, path, work)
  const folder = await makeTrialFolder(systemClock).catch(noRoom)
  try {
    const copy = copyFor(config, folder)
    return await inStoreAt(config, copy, work)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function copyFor(config: Config, folder: string): string {
  try {
    return copyForTrial(config.store.path, storeKeyOf(config) !== undefined, folder)
  } catch (cause) {
    return noRoom(cause)
  }
}

function noRoom(cause: unknown): never {
  if (cause instanceof ParleyError) throw cause
  const message = `the store cannot be copied for a trial: ${toError(cause).message}. TMPDIR names the folder for the copy.`
  throw new ParleyError('unavailable', message, { cause })
}

async function inStoreAt<Done>(config: Config, path: string, work: Work<Done>): Promise<Done> {
  const { caseSensitive } = createChannels(config.routing.traits)
  const key = storeKeyOf(config)
  const store = await openSqliteStore({ path, key, clock: systemClock, logger: silentLogger, caseSensitive })
  try {
    return await work(store, createIdSource({ now: systemClock.now, randomBytes }))
  } finally {
    await store.close()
  }
}

/** Returns the id in the key of a direct chat if a person is configured with exactly this id on this channel. */
function directPersons(ids: readonly string[]): (key: string) => string | undefined {
  const known = new Set(ids.map((id) => id.trim().toLowerCase()))
  return (key) => {
    const [, channel, id] = /^(?:agent:[^:]+:)?([a-z][a-z0-9_-]*):direct:(?:\1:)?([^:]+)$/.exec(key.toLowerCase()) ?? []
    const author = `${channel}:${id}`
    return channel !== undefined && known.has(author) ? author : undefined
  }
}
