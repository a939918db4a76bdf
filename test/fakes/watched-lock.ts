import type { LockFile } from '../../src/mcp/login/logins.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { lockFile } from '../../src/store/engines/sqlite-lock.ts'

/** A lock as the daemon has, with the moment at which it was first held by another. */
export function watchedLock(): { readonly lock: LockFile; readonly refused: Promise<void> } {
  const refused = deferred<void>()
  const lock: LockFile = (file, folder) => {
    const taken = lockFile(file, folder)
    if (taken === undefined) refused.resolve()
    return taken
  }
  return { lock, refused: refused.promise }
}
