import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const NAME = 'parley-tests-'
/** All folders of a run have a fraction of it at once. */
const ENOUGH_BYTES = 2 * 1024 ** 3
const DAY_MS = 86_400_000

/**
 * Puts the temporary folders of this process and its children into memory, where there is room and programs may run,
 * unless TMPDIR says where they are. On a disk, each commit of a store waits for it, which only a loss of power would
 * show: what a killed process has written is kept here as it is in the cache of a disk.
 */
export function useMemory(): void {
  if (process.env.TMPDIR !== undefined || !isRoomy()) return
  const folder = mkdtempSync(join(MEMORY, NAME))
  // As the system's: tests run programs as other users.
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  removeLeft()
}

function isRoomy(): boolean {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, place]) => place === MEMORY)
    if (mount === undefined) return false
    const [, , type, options = ''] = mount
    const { bavail, bsize } = statfsSync(MEMORY)
    return type === 'tmpfs' && !options.split(',').includes('noexec') && bavail * bsize > ENOUGH_BYTES
  } catch {
    return false
  }
}

/** A run that was killed removes nothing. */
function removeLeft(): void {
  for (const name of readdirSync(MEMORY).filter((one) => one.startsWith(NAME))) {
    const left = join(MEMORY, name)
    const since = statSync(left, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    if (since < Date.now() - DAY_MS) rmSync(left, { recursive: true, force: true })
  }
}
