import { existsSync, lstatSync, readdirSync, realpathSync, rmdirSync, unlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isOfBackups } from '../backup/last-backup.ts'
import type { Config } from '../config/config.ts'
import { ParleyError, toError } from '../core/errors.ts'
import type { DataPlaces, OwnData } from '../core/machine.ts'
import { isOfLogin } from '../mcp/login/logins.ts'
import { isStored } from '../media/media-files.ts'
import { filePlace } from '../platform/private-folder.ts'
import { isOurDatabase } from '../store/engines/examine-database.ts'
import { halfRestored, isOfDatabase, restoringFile } from '../store/engines/sqlite-files.ts'
import { lockStore } from '../store/engines/sqlite-lock.ts'
import { storeKeyOf } from './store-key.ts'

/**
 * Finds what Parley itself has written, by exact names: the state folder may be any folder, a home among them. Where
 * the database is not recognisably Parley's, nothing beside it is. No link is followed. Copies are never among it.
 */
export function findOwnData({ path, dataDir, cache }: DataPlaces, store: Config['store']): OwnData {
  const unknown = whyUnknown(path, store)
  const data = unknown === undefined ? findIn(dataDir, dataNames(basename(path))) : foreign(dataDir)
  const code = cache === undefined ? NOTHING : findCache(cache)
  // The database goes last: a removal that was interrupted is continued by the same command.
  const inOrder = data.files.toSorted((one, other) => rank(one.path, path) - rank(other.path, path))
  return {
    files: [
      ...code.files.map((one) => ({ ...one, of: 'cache' as const })),
      ...inOrder.map((one) => ({ ...one, of: 'data' as const })),
    ],
    folders: [...code.folders, ...data.folders],
    left: [...code.left, ...data.left],
    ...(unknown === undefined ? {} : { unknown }),
  }
}

/**
 * Removes the data while no daemon can have the store: one file after the other, and a folder only once it is empty.
 * Throws `forbidden` at a file that cannot be removed; the same command then continues.
 */
export function removeOwnData(places: DataPlaces, store: Config['store']): void {
  const lock = existsSync(places.path) ? lockStore(filePlace(places.path), 'restoring') : undefined
  try {
    const { files, folders } = findOwnData(places, store)
    for (const { path } of files) attempt(path, () => unlinkSync(path), ['ENOENT'])
    for (const path of folders)
      attempt(path, () => rmdirSync(path), ['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EBUSY'])
  } finally {
    lock?.release()
  }
}

function attempt(path: string, remove: () => void, harmless: readonly string[]): void {
  try {
    remove()
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (harmless.includes(code)) return
    throw new ParleyError('forbidden', `${path} cannot be removed (${code}).\nRun it as its owner, once more.`, {
      cause,
    })
  }
}

function rank(path: string, database: string): number {
  return path === database ? 1 : 0
}

/** Returns why a database is not known as Parley's; undefined where it is. */
function whyUnknown(path: string, store: Config['store']): string | undefined {
  try {
    if (existsSync(restoringFile(path))) return halfRestored(path).message
    if (isOurDatabase({ path, key: storeKeyOf({ store }) })) return undefined
    return `There is no database of Parley at ${path}.`
  } catch (error) {
    return toError(error).message
  }
}

/** The names, from a folder on, of the files that are ours and of the folders in which they lie. */
interface Names {
  file(this: void, name: string): boolean
  readonly folder: RegExp
}

function dataNames(database: string): Names {
  const media = 'media/'
  const stored = (name: string) =>
    isOfDatabase(name, database) || (name.startsWith(media) && isStored(name.slice(media.length)))
  return {
    folder: /^(?:(?:restoring\/)?media(?:\/[0-9a-f]{2})?|restoring|mcp-logins)$/,
    // A restore that was killed leaves what it had made ready.
    file: (name) =>
      stored(name.replace(/^restoring\//, '')) || isOfBackups(name) || name === 'parley.sock' || isOfLogin(name),
  }
}

/** Returns true for the name of an entry of a state folder that Parley makes, copies and old states among them. */
export function isOfState(name: string, database: string): boolean {
  const { file, folder } = dataNames(database)
  return file(name) || folder.test(name) || KEPT.test(name)
}

const KEPT = /^(?:backups|before-restore-.*|parley-\d.*\.tgz)$/

/** Node makes a folder for each of its versions, and names each file by a number. */
const COMPILED: Names = {
  folder: /^compiled(?:\/v\d[\w.-]*)?$/,
  file: (name) => /^compiled\/v\d[\w.-]*\/[0-9a-f]{1,16}$/.test(name),
}

interface Found {
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
  readonly folders: readonly string[]
  readonly left: readonly string[]
}

const NOTHING: Found = { files: [], folders: [], left: [] }

function findCache(cache: string): Found {
  const stats = lstatSync(cache, { throwIfNoEntry: false })
  return stats?.isSymbolicLink() ? fileAt(cache) : findIn(cache, COMPILED)
}

function findIn(root: string, names: Names, below = ''): Found {
  const entries = entriesOf(join(root, below))
  if (entries === undefined) return NOTHING
  const found = entries.map((entry): Found => {
    const name = join(below, entry.name)
    if (entry.isDirectory()) return names.folder.test(name) ? findIn(root, names, name) : leaving(join(root, name))
    return names.file(name) ? fileAt(join(root, name)) : leaving(join(root, name))
  })
  return {
    files: found.flatMap(({ files }) => files),
    folders: [...found.flatMap(({ folders }) => folders), join(root, below)],
    left: found.flatMap(({ left }) => left),
  }
}

/** A link is ours, and the file to which it leads stays. */
function fileAt(path: string): Found {
  const stats = lstatSync(path)
  return {
    files: [{ path, bytes: stats.size }],
    folders: [],
    left: stats.isSymbolicLink() ? targetOf(path) : [],
  }
}

function targetOf(link: string): readonly string[] {
  try {
    return [realpathSync(link)]
  } catch {
    return []
  }
}

function foreign(folder: string): Found {
  return { ...NOTHING, left: (entriesOf(folder) ?? []).map(({ name }) => join(folder, name)) }
}

function leaving(path: string): Found {
  return { ...NOTHING, left: [path] }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return undefined
  }
}
