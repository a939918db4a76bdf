import { existsSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Clock } from '../core/clock.ts'
import type { MediaPart } from '../core/content.ts'
import { ParleyError } from '../core/errors.ts'
import { isFull } from '../core/full-disk.ts'
import { digestOf, type MediaId, mediaId } from '../core/ids.ts'
import { type MediaStore, MOST_MEDIA_BYTES } from '../core/media.ts'
import type { StoreKey } from '../core/store-key.ts'
import { type PrivateFolder, privateFolder } from '../platform/private-folder.ts'
import { PLAIN_FILES, sealedFiles } from './file-form.ts'
import { isIntact, listFiles, partialIn, pathIn, putWhole, readWhole, sha256 } from './media-files.ts'
import { kindOf } from './media-kind.ts'

export interface MediaStoreDeps {
  /** The folder of the files; it is made when the first one comes. */
  readonly folder: string
  readonly clock: Pick<Clock, 'elapsed'>
  /** The files are encrypted with it (C48); absent: they are not. */
  readonly key?: StoreKey | undefined
  /** Those that are kept and not named yet; absent: all that this store keeps, for ten minutes. */
  readonly unnamed?: UnnamedFiles
  /** Returns those of the files that the store names. */
  used(ids: readonly MediaId[]): Promise<ReadonlySet<MediaId>>
}

/** The store with what its owner calls. */
export interface OwnMediaStore extends MediaStore {
  /**
   * Deletes the files that nothing names, and what an interrupted write left; returns how many. A file that was kept
   * within the last ten minutes and was not named stays: the event that names it may not be committed yet.
   */
  sweep(): Promise<number>
  /**
   * Deletes those of these files that nothing names, at once; returns how many were there. One that was kept again, for
   * an event that is not committed yet, is left to the sweep.
   */
  forget(ids: readonly MediaId[]): Promise<number>
  /** Deletes files that were kept for no event, each as often as it was kept, unless something else names them. */
  drop(ids: readonly MediaId[]): Promise<void>
}

/** The files looked up in one question to the store. */
const BATCH = 100

/**
 * Keeps files as `<folder>/<first two digits>/<sha256>`, readable by their owner alone; where there is a key, both
 * content and name are encrypted. A file appears under its name only when it is complete and on disk, so that a crash
 * leaves either the whole of it or none.
 */
export function createMediaStore({
  folder,
  clock,
  key,
  unnamed = new UnnamedFiles(clock),
  used,
}: MediaStoreDeps): OwnMediaStore {
  const form = key === undefined ? PLAIN_FILES : sealedFiles(key)
  const writing = new Set<string>()
  let made: PrivateFolder | undefined
  const home = (): PrivateFolder => {
    // Somebody may remove it while the daemon runs.
    if (made === undefined || !existsSync(folder)) made = privateFolder(folder)
    return made
  }

  const pathOf = (id: MediaId): string => pathIn(home(), form, id)

  /** A file that rotted on the disk is written again when its content comes again. */
  async function isThere(id: MediaId, path: string): Promise<boolean> {
    const stored = await readWhole(path, form.more).catch(() => undefined)
    return stored !== undefined && (await isIntact(form, id, stored))
  }

  async function write(path: string, bytes: Uint8Array): Promise<void> {
    const partial = partialIn(home())
    writing.add(partial)
    try {
      await putWhole(bytes, { partial, path, home: home() })
    } finally {
      writing.delete(partial)
    }
  }

  async function keepIntact(id: MediaId, bytes: Uint8Array): Promise<void> {
    const path = pathOf(id)
    if (!(await isThere(id, path))) await write(path, await form.seal(id, bytes))
  }

  async function sweepSome(ids: readonly MediaId[]): Promise<number> {
    const named = await used(ids)
    let count = 0
    for (const id of ids) {
      if (named.has(id) || unnamed.waits(id)) continue
      // Nothing may come between the look and the deletion, hence the synchronous call.
      rmSync(pathOf(id), { force: true, recursive: true })
      count++
    }
    return count
  }

  async function forget(ids: readonly MediaId[]): Promise<number> {
    if (!existsSync(folder)) return 0
    return sweepSome(ids.filter((id) => existsSync(pathOf(id))))
  }

  return {
    forget,

    async drop(ids) {
      unnamed.named(ids)
      await forget([...new Set(ids)])
    },

    async keep(bytes, name) {
      if (bytes.length > MOST_MEDIA_BYTES)
        throw new ParleyError('too_long', `The file has ${bytes.length} bytes; ${MOST_MEDIA_BYTES} are kept at most.`)
      const id = mediaId(await sha256(bytes))
      unnamed.kept(id)
      await keepIntact(id, bytes).catch(notKept)
      const part: MediaPart = { ...(await kindOf(bytes)), media: id, size: bytes.length }
      return name === undefined || name === '' ? part : { ...part, name }
    },

    async read(id) {
      const stored = await readWhole(pathOf(id), form.more).catch((cause: unknown) => {
        throw new ParleyError('not_found', `The file ${id} is not there.`, { cause })
      })
      const bytes = await form.open(id, stored)
      if ((await sha256(bytes)) === digestOf(id)) return bytes
      throw new ParleyError('unreadable', `The file ${id} has another content than it was kept with.`)
    },

    async sweep() {
      unnamed.age()
      if (!existsSync(folder)) return 0
      const { files, partial } = await listFiles(home(), form)
      const left = partial.filter((path) => !writing.has(path))
      for (const path of left) await rm(path, { force: true })
      let count = left.length
      for (let at = 0; at < files.length; at += BATCH) count += await sweepSome(files.slice(at, at + BATCH))
      return count
    },
  }
}

/** The system's own words name a folder of this machine, and a model is shown why its tool has failed. */
function notKept(cause: unknown): never {
  throw new ParleyError(
    'unavailable',
    isFull(cause) ? 'There is no room left for files.' : 'The file could not be kept.',
    {
      cause,
    },
  )
}

/** Far more than lies between keeping a file and the commit of its event: for a message that is seconds. */
const KEPT_MS = 600_000

/**
 * The files that were kept and that no event names yet. To the store they look like files that nobody wants any more,
 * so a sweep asks here too. A file that is kept twice waits for two events. After ten minutes no event will come.
 */
export class UnnamedFiles {
  readonly #clock: Pick<Clock, 'elapsed'>
  /** When each was kept, the earliest first. */
  readonly #kept = new Map<MediaId, readonly number[]>()

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock
  }

  kept(id: MediaId): void {
    this.#put(id, [...this.#young(id), this.#clock.elapsed()])
  }

  /** Called after the commit of events, with each file as often as they name it. */
  readonly named = (ids: readonly MediaId[]): void => {
    for (const id of ids) this.#put(id, this.#young(id).slice(1))
  }

  /** Returns true while an event that names the file may still come. */
  waits(id: MediaId): boolean {
    return this.#young(id).length > 0
  }

  /** Forgets those that waited for too long. */
  age(): void {
    for (const id of this.#kept.keys()) this.#put(id, this.#young(id))
  }

  #young(id: MediaId): readonly number[] {
    const now = this.#clock.elapsed()
    return (this.#kept.get(id) ?? []).filter((at) => now - at <= KEPT_MS)
  }

  #put(id: MediaId, kept: readonly number[]): void {
    if (kept.length === 0) this.#kept.delete(id)
    else this.#kept.set(id, kept)
  }
}
