import { ParleyError } from '../../core/errors.ts'
import { privateFile } from '../../platform/private-folder.ts'
import { Database } from './sqlite-driver.ts'
import { isBusy, translate } from './sqlite-error.ts'
import type { DatabasePlace } from './sqlite-files.ts'

/** Keeps the locks of this process reachable: one that the engine collects is given back to the system. */
const held = new Set<object>()

/**
 * One writing process a database. The lock is an exclusive transaction on the sibling file `<path>.lock`: the system
 * takes it back when the process dies, however it dies, so it is never stale. Held: `store_locked`, at once.
 */
export function lockStore({ path, folder }: DatabasePlace): { release(): void } {
  const file = `${path}.lock`
  privateFile(file, folder)
  const lock = new Database(file, { timeout: 0 })
  try {
    lock.pragma('journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw translate(error)
    throw new ParleyError(
      'store_locked',
      `another process uses the database ${path}; stop it first, or give this one its own state folder`,
      { cause: error },
    )
  }
  held.add(lock)
  return {
    release() {
      held.delete(lock)
      lock.close()
    },
  }
}
