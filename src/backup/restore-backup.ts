import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import * as z from 'zod'
import { isProgram } from '../config/program-at.ts'
import type { ForgottenAgain, NeedReport, RestoreReport } from '../core/backup.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import { readJson } from '../core/read-json.ts'
import type { StoreKey } from '../core/store-key.ts'
import { handOver, type PrivateFolder, privateFile, privateFolder, replaceFile } from '../platform/private-folder.ts'
import { tryToRemove } from '../platform/remove-at-end.ts'
import { sync, syncAll } from '../platform/wipe.ts'
import { identify, markRestored, SCHEMA, type StateFacts } from '../store/engines/snapshot.ts'
import { restoringFile } from '../store/engines/sqlite-files.ts'
import { formOf } from '../store/engines/sqlite-form.ts'
import { lockStore } from '../store/engines/sqlite-lock.ts'
import { freePath, fullDisk, needRoom, stampOf } from './copies.ts'
import { DATABASE, type Manifest, readManifest } from './manifest.ts'
import { lockBackups } from './take-backup.ts'
import { verifyBackup } from './verify-backup.ts'

/** The place to which a copy is restored. */
export interface RestoreTarget {
  readonly path: string
  readonly dataDir: string
  readonly key: StoreKey | undefined
  /** The place of the configuration; absent: it stays in the copy. */
  readonly config: string | undefined
  /** True if only the configuration of the copy says where the store belongs. */
  readonly placedByCopy: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Returns true for the name of an entry of a state folder that Parley makes. */
  isOfState(this: void, name: string): boolean
}

export interface RestoreOptions {
  readonly from: string
  readonly confirmed: boolean
  readonly clock: Clock
  /** A state that is newer than the copy; absent: the one that is there. */
  readonly newer?: string
  /** Removes from the restored store, which is `path`, what was forgotten in the newer one since. */
  forgetAgain(this: void, path: string, newer: string): Promise<ForgottenAgain | undefined>
  progress(this: void, done: number, total: number): void
}

/** The folder, in the state folder, in which the new state is made ready. */
const STAGING = 'restoring'

/** Removes what a restore has left that was killed before it changed anything. Called by whoever holds the store. */
export function removeStaged(dataDir: string): void {
  tryToRemove(join(dataDir, STAGING))
}

/** The step of a restore that has begun to change the store; it stands in a file beside the database. */
interface Begun {
  /** `aside`: the old state is moved away; `in`: all of it was, and the new one is moved to its place. */
  readonly step: 'aside' | 'in'
  /** The name of its folder, in the state folder. */
  readonly aside: string
  readonly from: string
}

const ASIDE = /^before-restore-[\dTZ-]+$/

const begunSchema = z.object({
  step: z.enum(['aside', 'in']),
  aside: z.string().regex(ASIDE),
  from: z.string(),
})

/**
 * Puts a copy in the place of a store that no daemon holds. The new state is made ready beside the old one, which is
 * then moved away as a whole: whoever kills this process finds the old state, the new one, or a file that keeps every
 * daemon out until the next call has finished the work. Without `confirmed` nothing is written.
 */
export async function restoreBackup(target: RestoreTarget, options: RestoreOptions): Promise<RestoreReport> {
  const { from, confirmed, progress } = options
  if (confirmed && existsSync(restoringFile(target.path))) {
    const finished = await locked(target, async () => finish(target))
    // Whoever was interrupted has not seen what is missing here, and has no configuration yet.
    return { ...finished, ...(await configAgain(finished.path, target)) }
  }
  const there = confirmed ? undefined : factsThere(target)
  checkPlace(target)
  checkSchema(from, await readManifest(from))
  const { manifest, ...copy } = await verifyBackup(from, target.key, progress)
  const key = manifest.encrypted ? target.key : undefined
  const copied = identify(join(from, DATABASE), key)
  const files = configFiles(from, manifest, target.config)
  const aside = freePath(join(target.dataDir, `before-restore-${stampOf(options.clock.now())}`))
  const planned: RestoreReport = {
    ...{ state: 'planned', path: from, madeAt: copy.madeAt, into: target.dataDir },
    ...(target.placedByCopy ? { placedByCopy: true } : {}),
    ...{ sessions: copy.sessions, events: copy.events, files: copy.files, bytes: copy.bytes },
    needs: needsOf(manifest, target),
    ...(isThere(target) ? { aside } : {}),
    ...newerOf(options.newer === undefined ? there : 'unknown', copied),
    ...{ config: files.map(({ to }) => to), unwritten: [] },
    ...nextOf(manifest, target),
  }
  if (!confirmed) return planned
  return locked(target, async () => {
    const found =
      options.newer === undefined ? factsAt(target.path, target.key) : identifyAny(options.newer, target.key)
    const { newer } = newerOf(found, copied)
    const sources = options.newer === undefined ? [target.path, ...movedAside(target)] : [options.newer]
    const same = sources.filter((path) => newerOf(factsAt(path, target.key), copied).newer === 'same')
    const forgotten = await stage(target, { ...options, manifest, key, sources: same })
    begin(target, { step: 'aside', aside: basename(aside), from })
    finish(target)
    return {
      ...planned,
      state: 'restored',
      ...(newer === undefined ? {} : { newer }),
      ...writeConfig(from, files, target.config),
      ...(forgotten === undefined ? {} : { forgotten }),
    }
  })
}

/** Writes the configuration of a copy whose restore was interrupted before that; a copy that is gone has none. */
async function configAgain(
  from: string,
  target: RestoreTarget,
): Promise<Partial<Pick<RestoreReport, 'config' | 'unwritten' | 'needs'>>> {
  const manifest = await readManifest(from).catch(() => undefined)
  if (manifest === undefined) return {}
  return {
    ...writeConfig(from, configFiles(from, manifest, target.config), target.config),
    needs: needsOf(manifest, target),
  }
}

/** Whoever wrote a copy says where its store lay: a folder of something else is never filled. */
function checkPlace({ placedByCopy, dataDir, path, isOfState }: RestoreTarget): void {
  if (!placedByCopy || !existsSync(dataDir) || existsSync(path)) return
  const other = readdirSync(dataDir).find((name) => !isOfState(name))
  if (other === undefined) return
  const message = `${dataDir}, where the configuration of this copy has the store, holds something else: ${other}. Name a configuration with another store.url: --config <file>`
  throw new ParleyError('config', message)
}

function checkSchema(from: string, { schema, program }: Manifest): void {
  if (schema <= SCHEMA) return
  const message = `${from} was made by Parley ${program}, whose schema ${schema} this program does not know (it knows ${SCHEMA}). Install that version, or a later one`
  throw new ParleyError('store_newer', message)
}

function nextOf({ encrypted }: Manifest, { key }: RestoreTarget): Pick<RestoreReport, 'next'> {
  return !encrypted && key !== undefined ? { next: 'parley store encrypt' } : {}
}

/** Returns what a copy needs, and whether it is there now. */
function needsOf({ needs, config }: Manifest, { env, dataDir, config: own }: RestoreTarget): readonly NeedReport[] {
  const files = needs.files.map((name) => resolve(dirname(own ?? config?.from ?? ''), name))
  const credentials = env.CREDENTIALS_DIRECTORY
  return [
    ...needs.variables.map((name) => ({ kind: 'variable' as const, name, there: Boolean(env[name]?.trim()) })),
    ...files.map((name) => ({ kind: 'file' as const, name, there: existsSync(name) })),
    ...needs.credentials.map((name) => ({
      ...{ kind: 'credential' as const, name },
      there: credentials !== undefined && existsSync(join(credentials, name)),
    })),
    ...needs.programs.map((name) => ({ kind: 'program' as const, name, there: isProgramHere(name, env.PATH) })),
    ...needs.logins.map((name) => ({
      ...{ kind: 'login' as const, name },
      there: existsSync(join(dataDir, 'mcp-logins', `${name}.json`)),
    })),
  ]
}

/** A name alone is looked up in PATH. */
function isProgramHere(name: string, path = ''): boolean {
  const folders = name.includes('/') ? [''] : path.split(':').filter((folder) => folder !== '')
  return folders.some((folder) => isProgram(join(folder, name)))
}

function isThere({ path }: Pick<RestoreTarget, 'path'>): boolean {
  const form = formOf(path)
  return form !== 'absent' && form !== 'empty'
}

/** Judges the state whose deletions are applied to a copy. */
function newerOf(state: StateFacts | 'unknown' | undefined, copied: StateFacts): Pick<RestoreReport, 'newer'> {
  if (state === undefined) return {}
  if (state === 'unknown' || copied.store === undefined) return { newer: 'unknown' }
  return { newer: state.store === copied.store ? 'same' : 'other' }
}

/** SQLite makes files beside what it reads. */
function identifyAny(path: string, key: StoreKey | undefined): StateFacts {
  return identify(path, formOf(path) === 'encrypted' ? key : undefined)
}

/** Returns the databases that earlier restores have moved aside: each may have forgotten what the others have not. */
function movedAside({ path, dataDir }: RestoreTarget): readonly string[] {
  return readdirSync(dataDir)
    .filter((name) => ASIDE.test(name))
    .map((name) => join(dataDir, name, basename(path)))
}

/** Returns which state is there; undefined where none is. */
function factsAt(path: string, key: StoreKey | undefined): StateFacts | 'unknown' | undefined {
  if (!isThere({ path })) return undefined
  try {
    return identifyAny(path, key)
  } catch {
    // It is often because the state is damaged that somebody restores.
    return 'unknown'
  }
}

/** Returns which state is there, and leaves no file. Throws `store_locked` where a daemon holds it. */
function factsThere(target: RestoreTarget): StateFacts | 'unknown' | undefined {
  const { path, dataDir } = target
  if (!existsSync(`${path}.lock`)) return isThere(target) ? 'unknown' : undefined
  const lock = lockStore({ path, folder: privateFolder(dataDir) })
  const made = [`${path}-wal`, `${path}-shm`].filter((file) => !existsSync(file))
  try {
    return factsAt(target.path, target.key)
  } finally {
    for (const file of made) rmSync(file, { force: true })
    lock.release()
  }
}

async function locked<Result>({ path, dataDir }: RestoreTarget, work: () => Promise<Result>): Promise<Result> {
  const folder = privateFolder(dataDir)
  const store = lockStore({ path: join(folder.path, basename(path)), folder }, 'restoring')
  try {
    const release = lockBackups(dataDir)
    try {
      return await work()
    } finally {
      release()
    }
  } catch (error) {
    throw fullDisk(dataDir, error)
  } finally {
    store.release()
  }
}

interface Staged extends RestoreOptions {
  readonly manifest: Manifest
  readonly key: StoreKey | undefined
  /** The databases of the same store, whose deletions are applied. */
  readonly sources: readonly string[]
}

/** Makes the new state ready in a folder of its own. Returns what was forgotten again, where another state is there. */
async function stage(
  target: RestoreTarget,
  { from, manifest, key, sources, forgetAgain }: Staged,
): Promise<ForgottenAgain | undefined> {
  const home = privateFolder(target.dataDir)
  const staging = join(home.path, STAGING)
  rmSync(staging, { recursive: true, force: true })
  const files = manifest.files.filter(({ path }) => path === DATABASE || path.startsWith('media/'))
  needRoom(
    home.path,
    files.reduce((sum, { bytes }) => sum + bytes, 0),
  )
  try {
    const folder = privateFolder(staging)
    const database = join(folder.path, basename(target.path))
    for (const { path } of files)
      copyInto(join(from, path), path === DATABASE ? database : join(folder.path, path), folder)
    markRestored(database, key)
    // The marker of the state that is replaced: the restored database is to be ahead of that one too.
    privateFile(`${target.path}.marker`, home, 'existing')
    if (existsSync(`${target.path}.marker`)) copyInto(`${target.path}.marker`, `${database}.marker`, folder)
    let forgotten: ForgottenAgain | undefined
    for (const source of sources) forgotten = sumOf(forgotten, await forgetAgain(database, source))
    rmSync(`${database}.lock`, { force: true })
    syncAll(folder.path)
    failpoint('CP57-restore-staged')
    return forgotten
  } catch (error) {
    rmSync(staging, { recursive: true, force: true })
    throw error
  }
}

function sumOf(one: ForgottenAgain | undefined, other: ForgottenAgain | undefined): ForgottenAgain | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return {
    messages: one.messages + other.messages,
    events: one.events + other.events,
    memories: one.memories + other.memories,
    reminders: one.reminders + other.reminders,
    files: one.files + other.files,
    sessions: one.sessions + other.sessions,
  }
}

function copyInto(from: string, to: string, home: PrivateFolder): void {
  privateFolder(dirname(to))
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  handOver(to, home)
  const file = openSync(to, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    // It has come with the mode that the disk of the copy gives to all files.
    fchmodSync(file, 0o600)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Writes how far a restore has come, so that it is the one or the other at each moment. */
function begin({ path, dataDir }: RestoreTarget, begun: Begun): void {
  replaceFile(restoringFile(path), JSON.stringify(begun), privateFolder(dataDir), 'synced')
  failpoint('CP58-restore-begun')
}

/** Finishes a restore that has begun to change the store. A step that was interrupted is repeated. */
function finish(target: RestoreTarget): RestoreReport {
  const { path, dataDir } = target
  const begun = readBegun(path)
  const [aside, from] = [join(dataDir, begun.aside), begun.from]
  const [staging, home] = [join(dataDir, STAGING), privateFolder(dataDir)]
  if (!existsSync(join(staging, basename(path))) && !(begun.step === 'in' && existsSync(path)))
    throw nothingStaged(begun, path)
  if (begun.step === 'aside') {
    const old = readdirSync(dataDir).filter((name) => isOfStore(name, path))
    if (old.length > 0) privateFolder(aside)
    for (const name of old) {
      // Somebody may have put another file in the place of one that an interrupted restore had moved.
      renameSync(join(dataDir, name), freePath(join(aside, name)))
      failpoint('CP59-restore-aside')
    }
    if (old.length > 0) sync(aside)
    begin(target, { ...begun, step: 'in' })
  }
  for (const name of existsSync(staging) ? readdirSync(staging) : []) {
    renameSync(join(staging, name), join(dataDir, name))
    failpoint('CP60-restore-moved')
  }
  rmSync(staging, { recursive: true, force: true })
  sync(home.path)
  rmSync(restoringFile(path))
  sync(home.path)
  failpoint('CP61-restore-done')
  return {
    state: 'finished',
    path: from,
    into: dataDir,
    needs: [],
    config: [],
    unwritten: [],
    ...(existsSync(aside) ? { aside } : {}),
  }
}

function nothingStaged({ aside, from }: Begun, path: string): ParleyError {
  return new ParleyError(
    'config',
    `The restore of ${from} was interrupted, and what it had made ready is gone. ` +
      `Remove ${restoringFile(path)}, move the files of ${aside} back if they are there, and restore once more`,
  )
}

/** The record names what is moved, so one that does not parse is refused. */
function readBegun(path: string): Begun {
  const file = restoringFile(path)
  try {
    return begunSchema.parse(readJson(readFileSync(file), { bytes: 100_000, values: 100 }))
  } catch (cause) {
    const message = `${file} was changed by another program. Put the files of ${dirname(path)} in order by hand, and then remove it: rm ${file}`
    throw new ParleyError('config', message, { cause })
  }
}

/** Returns whether an entry of the state folder belongs to the store: its database with all beside it, its files. */
function isOfStore(name: string, path: string): boolean {
  const database = basename(path)
  const stays = [`${database}.lock`, basename(restoringFile(path)), `${basename(restoringFile(path))}.partial`]
  if (stays.includes(name)) return false
  return name === 'media' || name === database || name.startsWith(`${database}-`) || name.startsWith(`${database}.`)
}

interface ConfigFile {
  /** Its path in the copy. */
  readonly path: string
  readonly to: string
  readonly mode: number
}

/** Returns the configuration files that are to be written, and where: what is there already is never overwritten. */
function configFiles(from: string, { files, config }: Manifest, own: string | undefined): readonly ConfigFile[] {
  if (config === undefined || own === undefined) return []
  return files
    .filter(({ path }) => path.startsWith('config/'))
    .flatMap(({ path, isProgram = false }) => {
      const place = path === config.file ? own : join(dirname(own), relative('config', path))
      const to = placeBeside(place, readFileSync(join(from, path)))
      return to === undefined ? [] : [{ path, to, mode: isProgram ? 0o700 : 0o600 }]
    })
}

/** Returns the first name that is free; undefined where the same content is there already. */
function placeBeside(place: string, content: Buffer): string | undefined {
  for (let no = 0; ; no++) {
    const to = no === 0 ? place : `${place}.restored${no === 1 ? '' : `-${no}`}`
    const there = lstatSync(to, { throwIfNoEntry: false })
    if (there === undefined) return to
    const isSame = there.isFile() && there.size === content.length && readFileSync(to).equals(content)
    if (isSame) return undefined
  }
}

/** The store is restored by then: what cannot be written here is named, and lies in the copy. */
function writeConfig(
  from: string,
  files: readonly ConfigFile[],
  own = '',
): Pick<RestoreReport, 'config' | 'unwritten'> {
  const [config, unwritten]: [string[], string[]] = [[], []]
  for (const { path, to, mode } of files) {
    try {
      makeFolders(dirname(own), dirname(to))
      writeFileSync(to, readFileSync(join(from, path)), { mode, flag: 'wx' })
      giveToOwnerOf(dirname(to), to)
      config.push(to)
    } catch {
      unwritten.push(join(from, path))
    }
  }
  return { config, unwritten }
}

/** Makes the folders of a file below that of the configuration. Throws where a link there leads elsewhere. */
function makeFolders(home: string, folder: string): void {
  if (folder !== home) {
    makeFolders(home, dirname(folder))
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true) throw new Error(`${folder} is a link`)
  }
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (made !== undefined) giveToOwnerOf(dirname(folder), folder)
}

function giveToOwnerOf(folder: string, path: string): void {
  const { uid, gid } = statSync(folder)
  handOver(path, { path: folder, owner: { uid, gid } })
}
