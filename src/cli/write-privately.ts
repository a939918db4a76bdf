import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { link, lstat, open, rename, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ParleyError, toError } from '../core/errors.ts'
import { removeAtEnd, removeLeft } from '../platform/remove-at-end.ts'

/** Throws `conflict` if something is there that may not be replaced, before anything is read for it. */
export async function checkWritable(path: string, force: boolean): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isDirectory()) throw new ParleyError('invalid', `${path} is a folder; name a file.`)
  if (found !== undefined && !force) throw taken(path)
  // In its place it would be a file from then on, for every program of the machine.
  if (found !== undefined && !(await isPlain(path, found)))
    throw new ParleyError('invalid', `${path} is no plain file and stays as it is; name another.`)
  const folder = dirname(path)
  const inside = await lstat(folder).catch(() => undefined)
  if (inside === undefined) throw new ParleyError('invalid', `There is no folder ${folder}; make it first.`)
}

/** Returns true also for a link to nothing. */
async function isPlain(path: string, found: Stats): Promise<boolean> {
  return found.isFile() || (found.isSymbolicLink() && ((await stat(path).catch(() => undefined))?.isFile() ?? true))
}

interface Writing {
  readonly force: boolean
  readonly now: number
  /** By default its owner alone can read it. */
  readonly mode?: number
  /** By default this user. */
  readonly owner?: Pick<Stats, 'uid' | 'gid'> | undefined
}

/** The end of the name of a file that is not complete, with the number of the process that writes it. */
const PARTIAL = /^\..+\.parley-(\d+)-[0-9a-f]{12}$/

/**
 * Writes a file, and returns its bytes. It appears under its name, with its mode and owner, when it is complete and on
 * disk, and never in the place of another file unless `force` is true. Removes what was half written there by a
 * process that was killed a while ago: it is hidden, and holds words that may be forgotten here since.
 */
export async function writePrivately(
  path: string,
  pieces: AsyncIterable<string | Uint8Array>,
  { force, now, mode = 0o600, owner }: Writing,
): Promise<number> {
  removeLeft(dirname(path), { name: PARTIAL, kind: 'file', now })
  const partial = join(dirname(path), `.${basename(path)}.parley-${process.pid}-${randomBytes(6).toString('hex')}`)
  const file = await open(partial, 'wx', 0o600).catch((cause: unknown) => {
    throw unwritable(path, cause)
  })
  const remove = removeAtEnd(partial)
  try {
    let bytes = 0
    try {
      for await (const piece of pieces) {
        const data = Buffer.from(piece)
        await file.writeFile(data)
        bytes += data.length
      }
      if (owner !== undefined) await file.chown(owner.uid, owner.gid)
      if (mode !== 0o600) await file.chmod(mode)
      await file.sync()
    } finally {
      await file.close()
    }
    await appear(partial, path, force)
    return bytes
  } catch (error) {
    throw error instanceof ParleyError || codeOf(error) === '' ? error : unwritable(path, error)
  } finally {
    remove()
  }
}

async function appear(partial: string, path: string, force: boolean): Promise<void> {
  if (force) return rename(partial, path)
  try {
    await link(partial, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw taken(path)
    // Some file systems have no links.
    await checkWritable(path, force)
    await rename(partial, path)
  }
}

/** A full disk, for example. */
function unwritable(path: string, cause: unknown): ParleyError {
  return new ParleyError('invalid', `${path} cannot be written: ${toError(cause).message}`, { cause })
}

function taken(path: string): ParleyError {
  return new ParleyError('conflict', `${path} is there already and stays as it is; --force replaces it.`)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
