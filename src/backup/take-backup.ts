import { existsSync, linkSync, lstatSync, readdirSync, realpathSync, renameSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type CopyContext, copyConfig, referencesIn } from '../config/copied-config.ts'
import type { BackupReport, KeepRule } from '../core/backup.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError, toError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { MediaId } from '../core/ids.ts'
import { shellWord } from '../core/machine.ts'
import { MOST_MEDIA_BYTES } from '../core/media.ts'
import type { StoreKey } from '../core/store-key.ts'
import type { DiskForm } from '../media/file-form.ts'
import { isIntact, pathIn } from '../media/media-files.ts'
import { folderIn, handOver, type PrivateFolder, privateFile, privateFolder } from '../platform/private-folder.ts'
import { removeAtEnd } from '../platform/remove-at-end.ts'
import { sync, syncAll } from '../platform/wipe.ts'
import { copySnapshot, filesNamedIn, readSnapshot } from '../store/engines/snapshot.ts'
import { halfRestored, restoringFile } from '../store/engines/sqlite-files.ts'
import { lockFile } from '../store/engines/sqlite-lock.ts'
import {
  type Copy,
  copiesIn,
  freePath,
  fullDisk,
  needRoom,
  partialName,
  removePartial,
  removeSurplus,
  stampOf,
} from './copies.ts'
import { BACKUPS_LOCK, readLastBackup, recordBackup } from './last-backup.ts'
import {
  type CopiedFile,
  checksumOf,
  DATABASE,
  digestOf,
  MANIFEST,
  type Manifest,
  manifestText,
  readPlainFile,
} from './manifest.ts'

/** The store that is copied, and how its files lie on the disk. */
export interface BackedUpStore {
  readonly path: string
  readonly dataDir: string
  readonly key: StoreKey | undefined
  readonly media: DiskForm
  /** The configuration file; absent where the environment is all there is. */
  readonly config: string | undefined
  readonly context: CopyContext
  readonly program: string
}

export interface TakeOptions {
  /** The folder of the copies. */
  readonly to: string
  /** True: where the last copy lay there, it must not be gone with all others, as where a disk is not mounted. */
  readonly goesOn?: boolean
  /** Absent: no older copy is removed. */
  readonly keep: KeepRule | undefined
  readonly clock: Clock
  progress(this: void, done: number, total: number): void
}

/**
 * Makes a copy of a store, whether a daemon writes to it or not. It is written under another name and renamed once it
 * is whole and on disk, so that a half one is never taken for a copy; what fails leaves nothing behind. How it ended is
 * on record (`last-backup.ts`).
 */
export async function takeBackup(store: BackedUpStore, options: TakeOptions): Promise<BackupReport> {
  if (existsSync(restoringFile(store.path))) throw halfRestored(store.path)
  if (!existsSync(store.path))
    throw new ParleyError('not_found', `There is no database ${store.path} yet: there is nothing to back up.`)
  const release = lockBackups(store.dataDir)
  try {
    const report = await take(store, options)
    recordBackup(store.dataDir, { at: report.madeAt, path: report.path, bytes: report.bytes })
    return report
  } catch (thrown) {
    const error = toError(fullDisk(options.to, thrown))
    recordFailure(store.dataDir, { failedAt: options.clock.now(), reason: error.message })
    throw error
  } finally {
    release()
  }
}

/** Keeps backups and restores of one store apart; the system takes the lock back from a process that dies. */
export function lockBackups(dataDir: string): () => void {
  const folder = privateFolder(dataDir)
  const lock = lockFile(join(folder.path, BACKUPS_LOCK), folder)
  if (lock === undefined)
    throw new ParleyError('store_locked', `another backup or restore of ${dataDir} is under way; wait for its end`)
  return lock.release
}

function recordFailure(dataDir: string, failed: { readonly failedAt: number; readonly reason: string }): void {
  try {
    recordBackup(dataDir, failed)
  } catch {
    // The disk of the store may be the one that is full; the failure itself is what is reported.
  }
}

async function checkMounted(to: string, dataDir: string): Promise<void> {
  const { path, there } = readLastBackup(dataDir) ?? {}
  const folder = existsSync(to) ? realpathSync(to) : resolve(to)
  if (path === undefined || there || dirname(path) !== folder || (await copiesIn(folder)).length > 0) return
  const anew = `parley backup ${shellWord(to)}`
  throw new ParleyError('unavailable', `The copies in ${to} are gone: is its disk mounted? To begin anew: ${anew}`)
}

async function take(store: BackedUpStore, options: TakeOptions): Promise<BackupReport> {
  const { to, goesOn, keep, clock, progress } = options
  if (goesOn) await checkMounted(to, store.dataDir)
  const [began, madeAt] = [clock.elapsed(), clock.now()]
  const home = privateFolder(dirname(store.path))
  // A link in the folder of another user could lead root to a database that is not theirs.
  privateFile(store.path, home, 'existing')
  const target = privateFolder(to, 'copies', home.owner.uid)
  await removePartial(target.path, store.dataDir)
  needRoom(target.path, statSync(store.path).size)
  const path = freePath(join(target.path, `parley-${stampOf(madeAt)}`))
  const unfinished = join(target.path, partialName(store.dataDir, basename(path)))
  const remove = removeAtEnd(unfinished)
  try {
    const partial = folderIn(target, unfinished)
    copySnapshot(store.path, store.key, { path: join(partial.path, DATABASE), folder: partial })
    failpoint('CP53-backup-snapshot')
    const facts = readSnapshot(join(partial.path, DATABASE), store.key)
    const [previous] = await copiesIn(target.path, facts.store)
    const media = await copyMedia(store, { partial, previous, progress })
    const copied = await copyConfiguration(store, partial)
    const database = { path: DATABASE, ...(await checksumOf(join(partial.path, DATABASE))) }
    const manifest: Manifest = {
      ...{ format: 1, program: store.program, madeAt, ...facts },
      ...{ files: [database, ...media.files, ...copied.files], lost: media.lost },
      ...(copied.config === undefined ? {} : { config: copied.config }),
      needs: copied.needs,
    }
    await writeDurably(join(partial.path, MANIFEST), manifestText(manifest), partial)
    failpoint('CP54-backup-written')
    syncAll(partial.path)
    renameSync(partial.path, path)
    sync(target.path)
    failpoint('CP55-backup-renamed')
    // A database that only an older program has opened has no number, by which its copies could be known.
    const tidied =
      keep === undefined || facts.store === undefined
        ? { removed: [], ahead: [] }
        : await removeSurplus(target.path, { store: facts.store, dataDir: store.dataDir, rule: keep, madeAt })
    return {
      ...{ path, madeAt, tookMs: Math.round(clock.elapsed() - began) },
      bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
      sharedBytes: media.sharedBytes,
      ...countsOf(manifest),
      damaged: media.damaged,
      ...(target.isOpen ? { readableByOthers: true } : {}),
      ...(store.config === undefined ? {} : { config: store.config }),
      replaced: manifest.config?.replaced ?? [],
      elsewhere: manifest.config?.elsewhere ?? [],
      needs: {
        ...manifest.needs,
        files: manifest.needs.files.map((name) => resolve(dirname(store.config ?? ''), name)),
      },
      ...tidied,
    }
  } finally {
    remove()
  }
}

export function countsOf({ rows, files, encrypted }: Manifest) {
  const media = files.filter(({ path }) => path.startsWith('media/')).length
  return { sessions: rows.sessions ?? 0, events: rows.events ?? 0, files: media, encrypted }
}

interface CopiedMedia {
  readonly files: readonly CopiedFile[]
  /** Files that the snapshot names and the copy lacks. */
  readonly lost: readonly MediaId[]
  /** The lost files that the store still names: the others were forgotten while the copy was made. */
  readonly damaged: readonly MediaId[]
  readonly sharedBytes: number
}

interface MediaParts {
  readonly partial: PrivateFolder
  readonly previous: Copy | undefined
  progress(this: void, done: number, total: number): void
}

/** Copies the files that the snapshot names. A file that the previous copy has too is linked to it. */
async function copyMedia(store: BackedUpStore, { partial, previous, progress }: MediaParts): Promise<CopiedMedia> {
  const ids = filesNamedIn(join(partial.path, DATABASE), store.key)
  const folder = join(store.dataDir, 'media')
  const files: CopiedFile[] = []
  const lost: MediaId[] = []
  let sharedBytes = 0
  for (const [at, id] of ids.entries()) {
    const from = pathIn({ path: folder }, store.media, id)
    const bytes = await readPlainFile(from, MOST_MEDIA_BYTES + store.media.more).catch(() => undefined)
    if (bytes === undefined || !(await isIntact(store.media, id, bytes))) lost.push(id)
    else {
      const file = { path: pathIn({ path: 'media' }, store.media, id), bytes: bytes.length, sha256: digestOf(bytes) }
      if (await linkTo(previous, file, partial)) sharedBytes += file.bytes
      else await writeDurably(join(partial.path, file.path), bytes, partial)
      files.push(file)
    }
    progress(at + 1, ids.length)
    failpoint('CP56-backup-file')
  }
  const named = lost.length === 0 ? new Set() : new Set(filesNamedIn(store.path, store.key))
  return { files, lost, damaged: lost.filter((id) => named.has(id)), sharedBytes }
}

/** Links a file to the one of the previous copy, unless that one is missing or its bytes have changed. */
async function linkTo(previous: Copy | undefined, file: CopiedFile, partial: PrivateFolder): Promise<boolean> {
  if (previous === undefined) return false
  const [from, to] = [join(previous.path, file.path), join(partial.path, file.path)]
  if (lstatSync(from, { throwIfNoEntry: false })?.size !== file.bytes) return false
  const there = await checksumOf(from).catch(() => undefined)
  if (there?.sha256 !== file.sha256) return false
  folderIn(partial, dirname(to))
  try {
    linkSync(from, to)
    return true
  } catch {
    // Some file systems have no links; a full disk fails the copy that follows.
    return false
  }
}

interface CopiedConfiguration {
  readonly files: readonly CopiedFile[]
  readonly config?: Manifest['config']
  readonly needs: Manifest['needs']
}

async function copyConfiguration(store: BackedUpStore, partial: PrivateFolder): Promise<CopiedConfiguration> {
  const { config, context, dataDir } = store
  const needs = { ...referencesIn(config, context), programs: [], logins: loginsIn(dataDir) }
  if (config === undefined) return { files: [], needs }
  const { replaced, elsewhere, programs, ...copied } = copyConfig(config, context)
  const files: CopiedFile[] = []
  for (const [name, { bytes, isProgram }] of copied.files) {
    const path = `config/${name}`
    await writeDurably(join(partial.path, path), bytes, partial, isProgram ? 0o700 : 0o600)
    files.push({ path, bytes: bytes.length, sha256: digestOf(bytes), ...(isProgram ? { isProgram } : {}) })
  }
  const made = replaced.flatMap(({ reference }) => /^\$\{env:(.+)\}$/.exec(reference)?.[1] ?? [])
  return {
    files,
    config: { file: `config/${basename(config)}`, from: config, replaced, elsewhere },
    needs: { ...needs, variables: [...needs.variables, ...made], programs },
  }
}

/** Returns the tool servers with a login. Their tokens are secrets, which are not copied. */
function loginsIn(dataDir: string): string[] {
  const folder = join(dataDir, 'mcp-logins')
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []))
}

/** Resolves once a file is on disk; its folders are made where they are missing. */
async function writeDurably(
  path: string,
  content: string | Uint8Array,
  home: PrivateFolder,
  mode = 0o600,
): Promise<void> {
  folderIn(home, dirname(path))
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  handOver(path, home)
}
