import { existsSync, lstatSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { KeepRule } from '../core/backup.ts'
import { sizeInWords } from '../core/content-words.ts'
import { ParleyError } from '../core/errors.ts'
import { isFull } from '../core/full-disk.ts'
import { surplus } from './keep.ts'
import { COPY_NAME, digestOf, type Manifest, readManifest } from './manifest.ts'

/** A whole copy of a store, in a folder of copies. */
export interface Copy {
  readonly path: string
  readonly madeAt: number
  readonly manifest: Manifest
}

/** Returns the copies of one store in a folder, the newest first; what cannot be read as one is not there. */
export async function copiesIn(folder: string, store?: number): Promise<readonly Copy[]> {
  const names = await readdir(folder).catch(() => [])
  const found: Copy[] = []
  for (const name of names.filter((one) => COPY_NAME.test(one))) {
    const path = join(folder, name)
    // A link may lead to a copy that somebody keeps for good.
    if (!(await lstat(path)).isDirectory()) continue
    const manifest = await readManifest(path).catch(() => undefined)
    if (manifest !== undefined && (store === undefined || manifest.store === store))
      found.push({ path, madeAt: manifest.madeAt, manifest })
  }
  return found.toSorted((one, other) => other.madeAt - one.madeAt)
}

/**
 * Returns the name of a copy that is not whole yet, or no longer: the next backup of the same state folder, whose lock
 * it holds, removes what is left under such a name.
 */
export function partialName(dataDir: string, name: string): string {
  return `.${beginningOf(dataDir)}-${name}.partial`
}

/** Removes what interrupted backups of a state folder have left. */
export async function removePartial(folder: string, dataDir: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  const left = names.filter((one) => one.startsWith(`.${beginningOf(dataDir)}-`) && one.endsWith('.partial'))
  for (const name of left) rmSync(join(folder, name), { recursive: true, force: true })
}

/** Tells state folders apart that keep their copies in one place. */
function beginningOf(dataDir: string): string {
  return digestOf(resolve(dataDir)).slice(0, 12)
}

interface Surplus {
  readonly store: number
  readonly dataDir: string
  readonly rule: KeepRule
  /** When the copy was made that is the newest one. */
  readonly madeAt: number
}

/** Copies by their folders. */
interface Tidied {
  readonly removed: readonly string[]
  /** Those of a clock that was wrong: they are dated after the newest one. */
  readonly ahead: readonly string[]
}

/**
 * Removes the copies of one store that a rule does not keep. One that is dated after the newest and one whose files are
 * not those of its manifest stay, and take the place of no other. One that is only half removed bears the name of one
 * that is not whole.
 */
export async function removeSurplus(folder: string, { store, dataDir, rule, madeAt }: Surplus): Promise<Tidied> {
  const all = await copiesIn(folder, store)
  const old = surplus(
    all.filter((copy) => copy.madeAt <= madeAt && hasItsFiles(copy)),
    rule,
  )
  for (const { path } of old) {
    const leaving = join(folder, partialName(dataDir, basename(path)))
    renameSync(path, leaving)
    rmSync(leaving, { recursive: true, force: true })
  }
  const ahead = all.filter((copy) => copy.madeAt > madeAt)
  return { removed: old.map(({ path }) => path), ahead: ahead.map(({ path }) => path) }
}

function hasItsFiles({ path, manifest }: Copy): boolean {
  return manifest.files.every(
    (file) => lstatSync(join(path, file.path), { throwIfNoEntry: false })?.size === file.bytes,
  )
}

/** Throws `store_broken` unless a disk has room for so many bytes: it is better not begun than a full disk. */
export function needRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder)
  const room = bavail * bsize
  if (room < bytes)
    throw new ParleyError(
      'store_broken',
      `${folder}: the disk of this folder has ${sizeInWords(room)} left, and ${sizeInWords(bytes)} are needed. ${ELSEWHERE}`,
    )
}

/** Returns an error of a full disk with the folder and the remedy; any other unchanged. */
export function fullDisk(folder: string, error: unknown): unknown {
  if (!isFull(error)) return error
  const message = `${folder}: the disk of this folder is full; nothing of it was kept. ${ELSEWHERE}`
  return new ParleyError('store_broken', message, { cause: error })
}

const ELSEWHERE = 'Free some space there, or name a folder on another disk.'

/** Returns a time for a name: its second in UTC. */
export function stampOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z`
}

/** Returns a path at which nothing is: the given one, or the first with a number behind it. */
export function freePath(path: string): string {
  let free = path
  for (let no = 2; existsSync(free); no++) free = `${path}-${no}`
  return free
}
