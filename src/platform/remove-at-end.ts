import { lstatSync, readdirSync, rmSync, type Stats } from 'node:fs'
import { join } from 'node:path'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const paths = new Set<string>()

/**
 * Removes a file or folder when the process ends by itself or by one of the signals with which people end a command:
 * what was half written holds words of conversations, and nobody looks for it. Returns the function that removes it at
 * once.
 */
export function removeAtEnd(path: string): () => void {
  if (paths.size === 0) {
    process.on('exit', removeAll)
    for (const signal of SIGNALS) process.on(signal, endBy)
  }
  paths.add(path)
  return () => {
    if (!paths.delete(path)) return
    tryToRemove(path)
    if (paths.size === 0) letGo()
  }
}

function removeAll(): void {
  for (const path of paths) tryToRemove(path)
}

/** Removes a file or folder, where that can be done. */
export function tryToRemove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // Its folder may have become read-only, or gone away with its disk; it must not keep the others.
  }
}

/** Ends the process by the same signal, so that its parent learns of that one. */
function endBy(signal: NodeJS.Signals): void {
  removeAll()
  letGo()
  process.kill(process.pid, signal)
}

function letGo(): void {
  process.off('exit', removeAll)
  for (const signal of SIGNALS) process.off(signal, endBy)
}

interface Left {
  /** Its first group is the number of the process that has made it. */
  readonly name: RegExp
  readonly kind: 'file' | 'folder'
  /** Ms since the epoch. */
  readonly now: number
}

/**
 * No writer makes such a pause: until then it may be the work of a process that nobody sees here, as one of
 * another container or machine with which the folder is shared.
 */
const QUIET_MS = 600_000
/** Nothing is written for so long: by then another process may have the number of one that was killed. */
const LONGEST_MS = 86_400_000

/** Removes what processes that were killed have left in a folder under such names. Nothing fails for one that stays. */
export function removeLeft(folder: string, left: Left): void {
  for (const name of namesIn(folder)) {
    const holder = left.name.exec(name)?.[1]
    const path = join(folder, name)
    if (holder !== undefined && isLeft(path, Number(holder), left)) tryToRemove(path)
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Anybody may make a file, or a link to one of ours, of such a name in a folder that all share. */
function isLeft(path: string, holder: number, { kind, now }: Left): boolean {
  const found = statsOf(path)
  if (found === undefined || found.uid !== process.geteuid?.()) return false
  if (!(kind === 'file' ? found.isFile() : found.isDirectory())) return false
  // A clock that was ahead has written a time that is still to come.
  const quiet = Math.abs(now - lastWritten(path, found))
  return quiet > (isRunning(holder) ? LONGEST_MS : QUIET_MS)
}

/** Returns when a file, or one of a folder, was written last. */
function lastWritten(path: string, { mtimeMs }: Stats): number {
  return Math.max(mtimeMs, ...namesIn(path).map((name) => statsOf(join(path, name))?.mtimeMs ?? 0))
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/** True also for a process of another user. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
