import { existsSync, linkSync, renameSync } from 'node:fs'
import { ParleyError } from '../../core/errors.ts'
import { failpoint } from '../../core/failpoint.ts'
import type { StoreForm } from '../../core/store-conversion.ts'
import { type PrivateFolder, privateFile } from '../../platform/private-folder.ts'
import { sync, wipe } from '../../platform/wipe.ts'
import { formOf } from './sqlite-form.ts'

/** The part of a conversion that the driver does. Its files are not open before and after each call. */
export interface Recode {
  /** Writes `from` in the form `form` into the empty file `to`, and folds the write-ahead log of `from` into it. */
  copy(from: string, to: string, form: StoreForm): void
  /** Throws `OtherContents` unless `copy`, which has the form `form`, is whole and holds what `original` holds. */
  compare(original: string, copy: string, form: StoreForm): void
}

/** Thrown where the new file does not hold what the old one holds. */
export class OtherContents extends ParleyError {
  constructor(original: string) {
    super('unavailable', `The copy of ${original} does not hold what it holds. It stays as it was.`)
  }
}

const SIDE_FILES = ['-wal', '-shm', '-journal']

/**
 * Brings a database file into another form. At each moment there is a whole database under its name, in the one form
 * or the other, so that a process that is killed anywhere leaves nothing to repair: the next call begins anew or only
 * clears up. What is left in the old form is overwritten, the write-ahead log too. Returns the files that were not
 * overwritten because somebody else has a link to them.
 */
export function convertDatabase(
  path: string,
  form: StoreForm,
  folder: PrivateFolder,
  recode: Recode,
): readonly string[] {
  const linked = clear(path)
  const found = formOf(path)
  if (found === form || found === 'absent' || found === 'empty') return linked
  const { copy, old, oldLog } = namesBeside(path)
  // The engine removes its log; with a second name its pages can be overwritten.
  if (existsSync(`${path}-wal`)) linkSync(`${path}-wal`, oldLog)
  privateFile(copy, folder)
  try {
    recode.copy(path, copy, form)
    recode.compare(path, copy, form)
  } catch (error) {
    // A full disk gets its space back.
    clear(path)
    throw error
  }
  sync(copy)
  failpoint('CP35-store-copied')
  for (const side of SIDE_FILES.filter((suffix) => existsSync(path + suffix)))
    throw new Error(`${path}${side} is still there: the new file would be read with it`)
  linkSync(path, old)
  sync(folder.path)
  failpoint('CP36-store-linked')
  renameSync(copy, path)
  sync(folder.path)
  failpoint('CP37-store-swapped')
  return [...linked, ...clear(path)]
}

/** The first database of the connection that writes a copy: nothing but its key is ever in it. */
export function keyFile(copy: string): string {
  return `${copy}.key`
}

/** Names that nobody gives to a copy by hand: what bears one is overwritten. */
function namesBeside(path: string) {
  return {
    copy: `${path}.conversion-new`,
    old: `${path}.conversion-old`,
    oldLog: `${path}-wal.conversion-old`,
  }
}

/** Overwrites and removes what a conversion, also an interrupted one, has left beside the database. */
function clear(path: string): readonly string[] {
  const { copy, old, oldLog } = namesBeside(path)
  const left = [
    { file: copy, living: path },
    { file: `${copy}-journal`, living: path },
    { file: keyFile(copy), living: path },
    { file: oldLog, living: `${path}-wal` },
    { file: old, living: path },
  ]
  return left.flatMap(({ file, living }) => (wipe(file, living) === 'linked' ? [file] : []))
}
