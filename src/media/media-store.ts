import { randomUUID, webcrypto } from 'node:crypto'
import { constants, existsSync, rmSync } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../core/clock.ts'
import type { MediaPart } from '../core/content.ts'
import { ParleyError } from '../core/errors.ts'
import { digestOf, type MediaId, mediaId } from '../core/ids.ts'
import { type MediaStore, MOST_MEDIA_BYTES } from '../core/media.ts'
import { handOver, type PrivateFolder, privateFolder } from '../platform/private-folder.ts'
import { kindOf } from './media-kind.ts'

export interface MediaStoreDeps {
  /** The folder of the files; it is made when the first one comes. */
  readonly folder: string
  readonly clock: Pick<Clock, 'elapsed'>
  /** Returns those of the files that the store names. */
  used(ids: readonly MediaId[]): Promise<ReadonlySet<MediaId>>
}

/** The store with what its owner calls. */
export interface OwnMediaStore extends MediaStore {
  /**
   * Deletes the files that nothing names, and what an interrupted write left; returns how many. A file that was kept
   * within the last ten minutes stays: the event that names it may not be committed yet.
   */
  sweep(): Promise<number>
}

/** A tool's result is on record at once, a message within seconds. */
const KEPT_MS = 600_000
/** The files looked up in one question to the store. */
const BATCH = 100
const PARTIAL = 'partial-'
const DIGEST = /^[0-9a-f]{64}$/

/**
 * Keeps files as `<folder>/<first two digits>/<sha256>`, readable by their owner alone. A file appears under its name
 * only when it is complete and on disk, so that a crash leaves either the whole of it or none.
 */
export function createMediaStore({ folder, clock, used }: MediaStoreDeps): OwnMediaStore {
  const keptAt = new Map<MediaId, number>()
  const writing = new Set<string>()
  let made: PrivateFolder | undefined
  const home = (): PrivateFolder => {
    made ??= privateFolder(folder)
    return made
  }

  async function write(path: string, bytes: Uint8Array): Promise<void> {
    const partial = join(home().path, `${PARTIAL}${randomUUID()}`)
    writing.add(partial)
    try {
      await writeDurably(partial, bytes)
      await makeFolder(parentOf(path), home())
      handOver(partial, home())
      await clear(path)
      await rename(partial, path)
      await syncFolder(parentOf(path))
    } catch (error) {
      await rm(partial, { force: true })
      throw error
    } finally {
      writing.delete(partial)
    }
  }

  async function sweepSome(ids: readonly MediaId[]): Promise<number> {
    const named = await used(ids)
    let count = 0
    for (const id of ids) {
      if (named.has(id) || keptAt.has(id)) continue
      // Nothing may come between the look and the deletion, hence the synchronous call.
      rmSync(pathIn(home(), id), { force: true, recursive: true })
      count++
    }
    return count
  }

  return {
    async keep(bytes, name) {
      if (bytes.length > MOST_MEDIA_BYTES)
        throw new ParleyError('too_long', `The file has ${bytes.length} bytes; ${MOST_MEDIA_BYTES} are kept at most.`)
      const id = mediaId(await sha256(bytes))
      keptAt.set(id, clock.elapsed())
      const path = pathIn(home(), id)
      if (!(await isIntact(path, id))) await write(path, bytes)
      const part: MediaPart = { ...(await kindOf(bytes)), media: id, size: bytes.length }
      return name === undefined || name === '' ? part : { ...part, name }
    },

    async read(id) {
      const bytes = await readWhole(pathIn(home(), id)).catch((cause: unknown) => {
        throw new ParleyError('not_found', `The file ${id} is not there.`, { cause })
      })
      if ((await sha256(bytes)) === digestOf(id)) return bytes
      throw new ParleyError('unreadable', `The file ${id} has another content than it was kept with.`)
    },

    async sweep() {
      for (const [id, at] of keptAt) if (clock.elapsed() - at > KEPT_MS) keptAt.delete(id)
      if (!existsSync(folder)) return 0
      const { files, partial } = await list(home().path)
      const left = partial.filter((path) => !writing.has(path))
      for (const path of left) await rm(path, { force: true })
      let count = left.length
      for (let at = 0; at < files.length; at += BATCH) count += await sweepSome(files.slice(at, at + BATCH))
      return count
    },
  }
}

function pathIn({ path }: PrivateFolder, id: MediaId): string {
  const digest = digestOf(id)
  return join(path, digest.slice(0, 2), digest)
}

function parentOf(path: string): string {
  return join(path, '..')
}

/** Away from the main thread: a large file would block it. */
async function sha256(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', Uint8Array.from(bytes))).toString('hex')
}

/** A file that rotted on the disk is written again when its content comes again. */
async function isIntact(path: string, id: MediaId): Promise<boolean> {
  const bytes = await readWhole(path).catch(() => undefined)
  return bytes !== undefined && (await sha256(bytes)) === digestOf(id)
}

/**
 * Reads a file of the folder. Somebody may have put another thing in its place: to open a pipe would wait for a writer,
 * and a huge file would fill the memory. Throws what the system says, or that it is no such file.
 */
async function readWhole(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await file.stat()
    if (found.isFile() && found.size <= MOST_MEDIA_BYTES) return await file.readFile()
    throw new ParleyError('unreadable', 'There is no file of this store.')
  } finally {
    await file.close()
  }
}

/** Makes room for a file where something else stands. */
async function clear(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found !== undefined && !found.isFile()) await rm(path, { force: true, recursive: true })
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function makeFolder(path: string, home: PrivateFolder): Promise<void> {
  await mkdir(path, { mode: 0o700, recursive: true })
  handOver(path, home)
  await syncFolder(home.path)
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Returns the ids of the files in the folder, and the paths of those that were not completed. */
async function list(folder: string): Promise<{ readonly files: MediaId[]; readonly partial: string[] }> {
  const files: MediaId[] = []
  const partial: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isFile() && entry.name.startsWith(PARTIAL)) partial.push(join(folder, entry.name))
    if (!entry.isDirectory() || !/^[0-9a-f]{2}$/.test(entry.name)) continue
    for (const name of await readdir(join(folder, entry.name))) if (DIGEST.test(name)) files.push(mediaId(name))
  }
  return { files, partial }
}
