import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ParleyError } from '../../core/errors.ts'
import { systemctlOf } from '../../core/service-unit.ts'
import { type PrivateFolder, privateFile } from '../../platform/private-folder.ts'
import { Database } from './sqlite-driver.ts'
import { isBusy, translate } from './sqlite-error.ts'
import { type DatabasePlace, halfRestored, restoringFile } from './sqlite-files.ts'

/** Keeps the locks of this process reachable: one that the engine collects is given back to the system. */
const held = new Set<object>()

export interface FileLock {
  release(): void
}

/**
 * Takes a lock that one process has at a time: an exclusive transaction on a file of its own. The system takes it back
 * when the process dies, however it dies, so it is never stale. Returns undefined if it is held.
 */
export function lockFile(file: string, folder: PrivateFolder): FileLock | undefined {
  privateFile(file, folder)
  const lock = new Database(file, { timeout: 0 })
  try {
    lock.pragma('journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw translate(error)
  }
  held.add(lock)
  return {
    release() {
      held.delete(lock)
      lock.close()
    },
  }
}

/**
 * Keeps a database for one writing process, by the lock `<path>.lock` beside it. Throws `store_locked` at once, which
 * names the process that has it and how to stop that, and `config` where a restore was interrupted: only `restoring`,
 * which finishes it, comes by.
 */
export function lockStore({ path, folder }: DatabasePlace, use: 'open' | 'restoring' = 'open'): FileLock {
  const lock = lockFile(`${path}.lock`, folder)
  if (lock !== undefined) {
    if (use === 'restoring' || !existsSync(restoringFile(path))) return lock
    lock.release()
    throw halfRestored(path)
  }
  const pid = holderOf(`${path}.lock`)
  if (pid !== undefined)
    throw new ParleyError(
      'store_locked',
      `Process ${pid} uses this store: ${dirname(path)}\nStop it first: ${stopOf(pid)}`,
    )
  const remedy = 'stop it first, or give this one its own state folder'
  throw new ParleyError('store_locked', `another process uses the database ${path}; ${remedy}`)
}

/** Returns the process that holds a lock file, as the kernel lists it; undefined where it lists none. */
export function holderOf(file: string): number | undefined {
  try {
    const { ino } = lstatSync(file)
    const lines = readFileSync('/proc/locks', 'utf8').split('\n')
    const line = lines.find((one) => one.includes('WRITE') && one.includes(`:${ino} `))
    const pid = Number(line?.trim().split(/\s+/)[4])
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

function stopOf(pid: number): string {
  let group = ''
  try {
    group = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    // It has just ended, or this is no Linux.
  }
  return stopCommand(pid, group)
}

/** Pure: returns how to stop a process, by the control group into which the system has put it. */
export function stopCommand(pid: number, group: string): string {
  const systemctl = systemctlOf(group)
  return systemctl === undefined ? `Ctrl-C in its terminal, or: kill ${pid}` : `${systemctl} stop parley`
}
