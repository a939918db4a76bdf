import { existsSync } from 'node:fs'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { MediaId } from '../core/ids.ts'
import type { StoreForm } from '../core/store-conversion.ts'
import type { StoreKey } from '../core/store-key.ts'
import { type PrivateFolder, privateFolder } from '../platform/private-folder.ts'
import { wipe } from '../platform/wipe.ts'
import { type DiskForm, PLAIN_FILES, sealedFiles } from './file-form.ts'
import { listFiles, partialIn, pathIn, putWhole, readWhole } from './media-files.ts'

export interface MediaConversion {
  readonly folder: string
  readonly key: StoreKey
  readonly to: StoreForm
  /** Called after each file. */
  readonly progress?: ((done: number, all: number) => void) | undefined
}

export interface MediaConverted {
  readonly files: number
  /** Files that stay as they are, or were not overwritten, each with the reason. */
  readonly left: readonly string[]
}

/**
 * Brings the files of the media store into a form, one after another. The new file is whole and on disk before the old
 * one is overwritten and removed, and their names differ: called again after a crash, it continues where it was.
 */
export async function convertMedia({ folder, key, to, progress }: MediaConversion): Promise<MediaConverted> {
  if (!existsSync(folder)) return { files: 0, left: [] }
  const home = privateFolder(folder)
  const sealed = sealedFiles(key)
  const [from, into] = to === 'encrypted' ? [PLAIN_FILES, sealed] : [sealed, PLAIN_FILES]
  const { files, partial } = await listFiles(home, from)
  for (const path of partial) wipe(path)
  const left: string[] = []
  for (const [done, id] of files.entries()) {
    left.push(...(await convertFile(id, { from, into, home })))
    progress?.(done + 1, files.length)
  }
  return { files: files.length - left.length, left }
}

interface Forms {
  readonly from: DiskForm
  readonly into: DiskForm
  readonly home: PrivateFolder
}

/**
 * A sealed file that the key does not open stays as it is: it may have been put there, and nothing readable is lost.
 * Throws where the system cannot read the file, which may be sound: the next call continues here.
 */
async function convertFile(id: MediaId, { from, into, home }: Forms): Promise<readonly string[]> {
  const old = pathIn(home, from, id)
  let bytes: Uint8Array
  try {
    bytes = await from.open(id, await readWhole(old, from.more))
  } catch (cause) {
    if (errorCode(cause) === 'unreadable')
      return [`${old}: it was changed, or encrypted with another key, and stays as it is`]
    const message = `${old} cannot be read (${toError(cause).message}). ${AGAIN}`
    throw new ParleyError('unavailable', message, { cause })
  }
  await putWhole(await into.seal(id, bytes), { partial: partialIn(home), path: pathIn(home, into, id), home })
  failpoint('CP38-file-converted')
  return wipe(old) === 'linked'
    ? [`${old}: it is removed and not overwritten, because there is another link to it`]
    : []
}

const AGAIN = 'Check its owner and mode, and the health of the disk, then run the command once more: it goes on here.'
