import { randomUUID, webcrypto } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ParleyError } from '../core/errors.ts'
import { digestOf, type MediaId } from '../core/ids.ts'
import { MOST_MEDIA_BYTES } from '../core/media.ts'
import { handOver, type PrivateFolder } from '../platform/private-folder.ts'
import type { DiskForm } from './file-form.ts'

const PARTIAL = 'partial-'

/** Returns the path of a file in this form. */
export function pathIn({ path }: Pick<PrivateFolder, 'path'>, form: DiskForm, id: MediaId): string {
  const name = form.nameOf(id)
  return join(path, name.slice(0, 2), name)
}

/** Returns true for a path, from the folder of media on, under which only this store keeps files. */
export function isStored(path: string): boolean {
  return /^(?:([0-9a-f]{2})\/\1[0-9a-f]{62}(?:\.sealed)?|partial-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(
    path,
  )
}

/** Returns a name for a file that is not complete yet. */
export function partialIn({ path }: PrivateFolder): string {
  return join(path, `${PARTIAL}${randomUUID()}`)
}

/** Puts a whole file under its name: it is on disk before it appears there, and nothing is left of one that failed. */
export async function putWhole(
  bytes: Uint8Array,
  { partial, path, home }: { readonly partial: string; readonly path: string; readonly home: PrivateFolder },
): Promise<void> {
  const parent = dirname(path)
  try {
    await writeDurably(partial, bytes)
    await makeFolder(parent, home)
    handOver(partial, home)
    await clear(path)
    await rename(partial, path)
    await syncFolder(parent)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

/**
 * Reads a file of the folder. Somebody may have put another thing in its place: to open a pipe would wait for a writer,
 * and a huge file would fill the memory. Throws what the system says, or that it is no such file.
 */
export async function readWhole(path: string, more: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await file.stat()
    if (found.isFile() && found.size <= MOST_MEDIA_BYTES + more) return await file.readFile()
    throw new ParleyError('unreadable', 'There is no file of this store.')
  } finally {
    await file.close()
  }
}

/** Returns true if a file, as it lies on the disk, has the content that its id names. */
export async function isIntact(form: DiskForm, id: MediaId, stored: Uint8Array): Promise<boolean> {
  try {
    return (await sha256(await form.open(id, stored))) === digestOf(id)
  } catch {
    return false
  }
}

/** Away from the main thread: a large file would block it. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', Uint8Array.from(bytes))).toString('hex')
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

/** Returns the ids of the files of this form, and the paths of those that were not completed. */
export async function listFiles(
  { path: folder }: PrivateFolder,
  form: DiskForm,
): Promise<{ readonly files: MediaId[]; readonly partial: string[] }> {
  const files: MediaId[] = []
  const partial: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isFile() && entry.name.startsWith(PARTIAL)) partial.push(join(folder, entry.name))
    if (!entry.isDirectory() || !/^[0-9a-f]{2}$/.test(entry.name)) continue
    files.push(...(await readdir(join(folder, entry.name))).flatMap((name) => form.idOf(name) ?? []))
  }
  return { files, partial }
}
