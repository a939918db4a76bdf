import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, parse, resolve } from 'node:path'
import { ParleyError } from '../core/errors.ts'
import type { Fix, Mode } from '../core/finding.ts'
import { shellWord } from '../core/machine.ts'
import { sync } from './wipe.ts'

/** A folder in which nobody but its owner and root can change anything. */
export interface PrivateFolder {
  /** The real path, without links. */
  readonly path: string
  readonly owner: Owner
  /** True for a folder of copies on a file system without modes, as of USB disks: others may read what lies there. */
  readonly isOpen?: true
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/**
 * The purpose of a folder. `data` holds files and is made if missing. `ask` is searched for the socket of a daemon and
 * never made. `code` holds code that is run, is made if missing, and is closed to readers too. `copies` is one that
 * somebody has chosen for backups, also on a file system without modes, and is made if missing.
 */
export type FolderUse = 'data' | 'ask' | 'code' | 'copies'

const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600
const OTHERS_WRITE = 0o022
const GROUP_WRITES = 0o020
const OTHERS = 0o077
const STICKY = 0o1000
const MOST_LINKS = 40
const ROOT = 0

/**
 * Returns the folder at `path` if nobody else can change its files or replace it: it belongs to the user of this
 * process, only its owner may write to it, and the same holds for every folder and link on the way. Root may also use
 * the folder of another user, whose files it then keeps (a volume, the state folder of a service), but never runs code
 * from there. With `whose`, root uses no folder but its own and that of this user: anybody else may have made one for
 * root to fill it. Throws `config` with the remedy.
 */
export function privateFolder(path: string, use: FolderUse = 'data', whose?: number): PrivateFolder {
  return named(
    path,
    () => {
      for (;;) {
        const found = nextStep(path, use, whose)
        if (found !== undefined) return found
      }
    },
    use,
  )
}

/** Returns the folder once it is there; until then makes the first one that is missing on the way. */
function nextStep(path: string, use: FolderUse, whose: number | undefined): PrivateFolder | undefined {
  const way = follow(path)
  const owner = ownerOf(way)
  checkOwner(way.real, owner, whose)
  const home: PrivateFolder = {
    ...{ path: way.real, owner },
    ...(use === 'copies' && !keepsModes(way.real) ? { isOpen: true } : {}),
  }
  const doubts = doubtsAbout(way, home, use)
  if (doubts.length > 0) throw new ParleyError('config', doubts.map(inWords).join('\n'))
  if (way.missing.length === 0) {
    if (use !== 'ask' && !home.isOpen) accessSync(way.real, constants.W_OK)
    return home
  }
  if (use === 'ask') throw new ParleyError('config', `There is no folder ${path}.`)
  makeFolder(join(way.real, String(way.missing[0])), home)
  return undefined
}

/** Returns a folder in a private one, made if it is missing, with all that are missing on the way. */
export function folderIn(home: PrivateFolder, path: string): PrivateFolder {
  if (home.isOpen === undefined) return privateFolder(path)
  mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER })
  return { ...home, path }
}

/** A way in which another user could change a file or folder, with its remedy. */
export interface Doubt {
  readonly says: string
  readonly remedy: string
  /** The mode that ends it, of a place that is this user's to close. */
  readonly fix?: Fix
}

/** Returns a doubt as a sentence. */
export function inWords({ says, remedy }: Doubt): string {
  return `${says}. ${remedy}`
}

/** Returns the doubts for which `privateFolder` would refuse a folder; undefined where it is not there. */
export function folderDoubts(path: string): readonly Doubt[] | undefined {
  return named(path, () => {
    const way = follow(path)
    const doubts = doubtsAbout(way, { path: way.real, owner: ownerOf(way) }, 'ask')
    return doubts.length === 0 && way.missing.length > 0 ? undefined : doubts
  })
}

function checkOwner(path: string, { uid }: Owner, whose: number | undefined): void {
  if (whose === undefined || self() !== ROOT || uid === ROOT || uid === whose) return
  throw new ParleyError(
    'config',
    `${path} belongs to user ${uid}, who could read what is put there. ${elsewhere('copies')}`,
  )
}

/** Returns false where nobody can be kept out of a folder, since its file system keeps no modes. */
function keepsModes(folder: string): boolean {
  let trial: string
  try {
    trial = mkdtempSync(join(folder, '.parley-'))
  } catch {
    // The check that follows says why nothing can be made there.
    return true
  }
  const made = openSync(trial, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    fchmodSync(made, PRIVATE_FOLDER)
    return (fstatSync(made).mode & OTHERS) === 0
  } catch (error) {
    if (NO_MODES.has(codeOf(error))) return false
    throw error
  } finally {
    closeSync(made)
    rmdirSync(trial)
  }
}

/** The answers of CIFS, exFAT and FUSE to a change of modes; others change nothing and do not say so. */
const NO_MODES = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/**
 * Makes `path` in `folder` a file that only its owner can open, whatever the umask; with `existing`, only if it exists.
 * Throws `config` for anything but a file of the owner that nobody else could write to.
 */
export function privateFile(path: string, folder: PrivateFolder, which: 'made' | 'existing' = 'made'): void {
  named(path, () => {
    if (which === 'made' && makeFile(path, folder)) return
    const found = ownFile(path, folder)
    if (found === undefined) return
    if ((found.mode & OTHERS_WRITE) !== 0)
      throw new ParleyError(
        'config',
        `Others may write to ${path} (${modeOf(found)}). Run: chmod 600 ${shellWord(path)}`,
      )
    makePrivate(path, found)
  })
}

/** Returns what stands at a path, undefined for nothing. Throws `config` for anything but a file of the owner. */
function ownFile(path: string, folder: PrivateFolder): Stats | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if (!found.isFile()) throw new ParleyError('config', `${path} is in the way and no plain file. Move it elsewhere.`)
  if (!belongsHere(found, folder)) throw new ParleyError('config', foreign(path, found))
  // A folder's owner who may hard-link files of others could link one of root's files there.
  if (found.nlink > 1 && found.uid !== folder.owner.uid)
    throw new ParleyError('config', `${path} is a file that stands elsewhere too. Move it elsewhere.`)
  return found
}

/**
 * Replaces a file of a private folder as a whole: a process that is killed leaves the old text or the new one. With
 * `synced`, so does a power cut, and the new text is on disk before this returns.
 */
export function replaceFile(path: string, text: string, folder: PrivateFolder, how?: 'synced'): void {
  const partial = `${path}.partial`
  rmSync(partial, { force: true })
  privateFile(partial, folder)
  writeFileSync(partial, text)
  if (how === 'synced') sync(partial)
  renameSync(partial, path)
  if (how === 'synced') sync(folder.path)
}

/** The place of a file, without links: two names of one file have the same one. */
export interface FilePlace {
  readonly path: string
  readonly folder: PrivateFolder
}

/**
 * Returns the file to which a path leads, in a private folder, which is made where it is missing; each link and each
 * folder on the way is looked at. Throws `config` where another user could change it, or has put something there for
 * root to change.
 */
export function filePlace(path: string, linksLeft = MOST_LINKS): FilePlace {
  const folder = privateFolder(dirname(path))
  const file = join(folder.path, basename(path))
  if (linksLeft > 0 && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    return filePlace(followFrom(folder, file), linksLeft - 1)
  ownFile(file, folder)
  return { path: file, folder }
}

/**
 * Returns the target of a link in `folder`. Throws `config` if the link lies in another user's folder and leads root to
 * a file that is not that user's: it may have been put there for root to change its target.
 */
function followFrom({ path: folder, owner }: PrivateFolder, link: string): string {
  const target = resolve(folder, readlinkSync(link))
  if (owner.uid === self() || privateFolder(dirname(target), 'ask').owner.uid === owner.uid) return target
  const message = `${link} leads to ${target}, in a folder that is not of user ${owner.uid}. Remove it, or run parley as user ${owner.uid}.`
  throw new ParleyError('config', message)
}

/**
 * Returns each way in which another user could change the file at `path`: itself, its folder, and every folder and link
 * on the way. Root is judged as in a private folder.
 */
export function writersOf(path: string | undefined): readonly Doubt[] {
  if (path === undefined) return []
  const { steps, missing } = follow(path)
  if (missing.length > 0) return []
  const us = self()
  const home = steps.findLast(({ stats }) => stats.isDirectory())?.stats.uid ?? ROOT
  const trusted = [ROOT, us, ...(us === ROOT ? [home] : [])]
  return steps.flatMap(({ path: step, stats }) => {
    if (!trusted.includes(stats.uid))
      return {
        says: `${step} belongs to user ${stats.uid}, who could change ${path}`,
        remedy: `Run: chown ${us} ${shellWord(step)}`,
      }
    return othersReplace(stats, trusted)
      ? openToWriters(step, `Others may write to ${step} (${modeOf(stats)}) and could change ${path}`)
      : []
  })
}

function openToWriters(path: string, says: string): Doubt {
  return { says, remedy: `Run: chmod go-w ${shellWord(path)}`, fix: { kind: 'mode', path, mode: 'go-w' } }
}

/**
 * Changes the mode of a file or folder of this user that lies in one of `folders`, or is one of them, and of nothing
 * else: neither of the target of a link nor of a folder that all users share. Throws `forbidden`, or what the system
 * says.
 */
export function closeToOthers(path: string, mode: Mode, folders: readonly string[]): void {
  const homes = folders.map((folder) => realpathSync(folder))
  const real = join(realpathSync(dirname(path)), basename(path))
  if (!homes.some((home) => real === home || real.startsWith(`${home}/`)))
    throw new ParleyError('forbidden', 'it lies in no folder of Parley')
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(file)
    if (stats.uid !== self()) throw new ParleyError('forbidden', `it belongs to user ${stats.uid}`)
    if (!stats.isFile() && !stats.isDirectory()) throw new ParleyError('forbidden', 'it is no file and no folder')
    if ((stats.mode & STICKY) !== 0) throw new ParleyError('forbidden', 'it is a folder that all users share')
    if (stats.isFile() && stats.nlink > 1) throw new ParleyError('forbidden', 'it has another name elsewhere')
    fchmodSync(file, mode === 'go-w' ? stats.mode & 0o777 & ~OTHERS_WRITE : Number.parseInt(mode, 8))
  } finally {
    closeSync(file)
  }
}

/** Returns true where nothing is at a path; what this user may not see can be there. */
export function isGone(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

/** Gives a file that root made in somebody's folder to the owner of that folder. Does not follow links. */
export function handOver(path: string, { owner, isOpen }: PrivateFolder): void {
  if (isOpen === undefined && self() === ROOT && owner.uid !== ROOT) lchownSync(path, owner.uid, owner.gid)
}

/** Returns true if a file in `folder` was put there by this user, by root, or, for root, by the owner of the folder. */
export function belongsHere(
  { uid }: Pick<Stats, 'uid'>,
  { owner }: PrivateFolder,
  by: 'us' | 'usOrRoot' = 'us',
): boolean {
  if (uid === self() || (by === 'usOrRoot' && uid === ROOT)) return true
  return self() === ROOT && uid === owner.uid
}

/** Returns the sentence about a file of another user, with the remedy. */
export function foreign(path: string, stats: Pick<Stats, 'uid'>): string {
  return inWords(foreignDoubt(path, stats))
}

function foreignDoubt(path: string, { uid }: Pick<Stats, 'uid'>): Doubt {
  const us = self()
  return {
    says: `${path} belongs to user ${uid}, and this runs as user ${us}`,
    remedy: `Run parley as user ${uid}, or give it what is yours: chown -R ${us} ${shellWord(path)}`,
  }
}

interface Way {
  /** The real path of the part that exists. */
  readonly real: string
  /** The names below it that do not exist. */
  readonly missing: readonly string[]
  /** Every folder and link on the way, from the root on. */
  readonly steps: readonly { readonly path: string; readonly stats: Stats }[]
}

/** Follows a path like the system, and examines each link. */
function follow(path: string): Way {
  const { root } = parse(resolve(path))
  const ahead = resolve(path).slice(root.length).split('/')
  const steps = [{ path: root, stats: lstatSync(root) }]
  let real = root
  for (let links = 0; ahead.length > 0; ) {
    const name = String(ahead.shift())
    const next = resolve(real, name)
    if (next === real || name === '..') {
      real = next
      continue
    }
    const stats = lstatSync(next, { throwIfNoEntry: false })
    if (stats === undefined) return { real, missing: [name, ...ahead], steps }
    steps.push({ path: next, stats })
    if (!stats.isSymbolicLink()) {
      real = next
      continue
    }
    if (++links > MOST_LINKS) throw new ParleyError('config', `${path}: there are too many links on the way.`)
    const target = readlinkSync(next)
    ahead.unshift(...target.split('/'))
    if (isAbsolute(target)) real = root
  }
  return { real, missing: [], steps }
}

/** Returns the owner of the folder; for one that does not exist yet, the owner of its parent. */
function ownerOf({ real, steps }: Way): Owner {
  const { stats } = steps.findLast(({ path }) => path === real) ?? { stats: lstatSync(real) }
  return { uid: stats.uid, gid: stats.gid }
}

function doubtsAbout(
  { real, missing, steps }: Way,
  { owner, isOpen }: PrivateFolder,
  use: FolderUse,
): readonly Doubt[] {
  const us = self()
  const trusted = [ROOT, us, ...(us === ROOT && use !== 'code' ? [owner.uid] : [])]
  const wanted = join(real, ...missing)
  const device = isOpen ? steps.findLast(({ path }) => path === real)?.stats.dev : undefined
  const onTheWay = steps.flatMap(({ path, stats }): Doubt | readonly Doubt[] => {
    // Without modes, the owner says nothing either.
    if ((path === real && missing.length === 0) || stats.dev === device) return []
    const way = `${path}, on the way to ${wanted},`
    if (!trusted.includes(stats.uid))
      return {
        says: `${way} belongs to user ${stats.uid}, who could put something else there`,
        remedy: elsewhere(use),
      }
    if (!othersReplace(stats, trusted)) return []
    const says = `Others may write to ${path} (${modeOf(stats)}), on the way to ${wanted}`
    return use === 'copies' ? { says, remedy: elsewhere(use) } : openToWriters(path, says)
  })
  return missing.length > 0 || isOpen ? onTheWay : [...doubtsAt(real, owner, use), ...onTheWay]
}

function elsewhere(use: FolderUse): string {
  return use === 'copies'
    ? 'Name another folder, where nobody else can write: parley backup <folder>, or backup.to.'
    : 'Choose another folder: store.url, STATE_DIRECTORY or XDG_STATE_HOME.'
}

function doubtsAt(path: string, owner: Owner, use: FolderUse): readonly Doubt[] {
  const stats = lstatSync(path)
  if (!stats.isDirectory()) return [{ says: `${path} is no folder`, remedy: elsewhere(use) }]
  const us = self()
  const ours = owner.uid === us || (us === ROOT && use !== 'code') || (owner.uid === ROOT && use === 'ask')
  const kept = use === 'code' ? OTHERS : OTHERS_WRITE
  const what = use === 'copies' ? 'folder of copies' : 'data folder'
  const says = `Others may write to the ${what} ${path} (${modeOf(stats)})`
  const remedy = `Look at what is in it, then run: chmod 700 ${shellWord(path)}`
  // A folder that all share, or one of copies that holds more, would be taken from whoever else uses it.
  const isShared = use === 'copies' || (stats.mode & STICKY) !== 0
  const open: Doubt = isShared
    ? { says, remedy: elsewhere(use) }
    : { says, remedy, fix: { kind: 'mode', path, mode: '700' } }
  const theirs =
    use === 'copies'
      ? { says: `${path} belongs to user ${owner.uid}`, remedy: elsewhere(use) }
      : foreignDoubt(path, owner)
  return [...(ours ? [] : [theirs]), ...((stats.mode & kept) === 0 ? [] : [open])]
}

/**
 * Returns true if others than its owner could replace an entry: in a sticky folder nobody can replace entries of
 * others.
 */
function othersReplace(stats: Stats, trusted: readonly number[]): boolean {
  if (stats.isSymbolicLink() || (stats.mode & STICKY) !== 0) return false
  // A group with the number of a user is that user's own, by the convention of the systems that give each one a group.
  const open = trusted.includes(stats.gid) ? OTHERS_WRITE & ~GROUP_WRITES : OTHERS_WRITE
  return (stats.mode & open) !== 0
}

/** Another process may be making it at the same time; its folder is checked like any other that exists. */
function makeFolder(path: string, home: PrivateFolder): void {
  if (!madeHere(() => mkdirSync(path, { mode: PRIVATE_FOLDER }))) return
  settle(openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW), PRIVATE_FOLDER, home)
}

function makeFile(path: string, home: PrivateFolder): boolean {
  return madeHere(() => settle(openSync(path, 'wx', PRIVATE_FILE), PRIVATE_FILE, home))
}

function madeHere(make: () => unknown): boolean {
  try {
    make()
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function makePrivate(path: string, { mode }: Stats): void {
  if ((mode & 0o777) === PRIVATE_FILE) return
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    fchmodSync(file, PRIVATE_FILE)
  } finally {
    closeSync(file)
  }
}

function settle(made: number, mode: number, { owner, isOpen }: PrivateFolder): void {
  try {
    if (isOpen) return
    fchmodSync(made, mode)
    if (self() === ROOT && owner.uid !== ROOT) fchownSync(made, owner.uid, owner.gid)
  } finally {
    closeSync(made)
  }
}

function modeOf({ mode }: Stats): string {
  return `mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`
}

/** Returns the user whose rights this process has. */
function self(): number {
  return process.geteuid?.() ?? ROOT
}

/** Errors an operator fixes by moving, opening or giving away a folder; any other (a full disk) passes unchanged. */
const MENDABLE = new Set([
  'EACCES',
  'ENOENT',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'EEXIST',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOTSUP',
  'EISDIR',
])

function named<Result>(path: string, work: () => Result, use: FolderUse = 'data'): Result {
  try {
    return work()
  } catch (error) {
    throw toFolderError(path, error, use)
  }
}

/** Returns a system error about `path` as `config` if an operator can fix it; any other unchanged. */
export function toFolderError(path: string, error: unknown, use: FolderUse = 'data'): unknown {
  const code = codeOf(error)
  if (error instanceof ParleyError || !MENDABLE.has(code)) return error
  return new ParleyError('config', `${path} cannot be used by user ${self()} (${code}). ${elsewhere(use)}`, {
    cause: error,
  })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
