import { constants, copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { prepareFiles } from './sqlite-files.ts'
import { checkForm } from './sqlite-form.ts'
import { lockStore } from './sqlite-lock.ts'

/**
 * Copies a database that nobody has open into a folder, as it is; returns where it is to be found, also if there is
 * none yet. Throws `store_locked` and `config` as opening it does.
 */
export function copyForTrial(path: string, keyed: boolean, folder: string): string {
  const copy = join(folder, 'trial.db')
  if (!existsSync(path)) return copy
  const place = prepareFiles(path)
  const lock = lockStore(place)
  try {
    checkForm(place.path, keyed)
    for (const suffix of ['', '-wal'])
      if (existsSync(place.path + suffix)) copyFileSync(place.path + suffix, copy + suffix, constants.COPYFILE_FICLONE)
  } finally {
    lock.release()
  }
  return copy
}
