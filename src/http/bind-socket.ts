import { once } from 'node:events'
import { chmod, lstat, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { connect, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { ParleyError } from '../core/errors.ts'

/** What the kernel takes in `sun_path`, without the closing zero. */
const LONGEST_PATH = 107
/** Longest name `mkdtemp` and the socket in it add to the folder. */
const PRIVATE_NAME = '/.XXXXXX/s'

/**
 * Binds `server` to a unix socket that only its user can open, whatever the umask: made in a private folder, narrowed
 * to 0600, and only then moved to its name, which also replaces what a killed daemon left there.
 *
 * Throws `config` for a path that cannot hold a socket and `store_locked` if a daemon answers there.
 */
export async function bindSocket(server: Server, socketPath: string): Promise<void> {
  const folder = dirname(socketPath)
  const longest = Math.max(Buffer.byteLength(socketPath), Buffer.byteLength(folder + PRIVATE_NAME))
  if (longest > LONGEST_PATH) {
    const most = `the system takes ${LONGEST_PATH} bytes`
    throw new ParleyError(
      'config',
      `dataDir: the path of the local socket is too long (${most}): ${socketPath}\nSet a shorter dataDir.`,
    )
  }
  await onDisk(socketPath, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await refuseTaken(socketPath)
    const hidden = await mkdtemp(`${folder}/.`)
    try {
      const listening = once(server, 'listening')
      server.listen(join(hidden, 's'))
      await listening
      await chmod(join(hidden, 's'), 0o600)
      await rename(join(hidden, 's'), socketPath)
    } catch (error) {
      server.close()
      throw error
    } finally {
      await rm(hidden, { recursive: true, force: true })
    }
  })
}

/** Nothing but a dead socket may be replaced. */
async function refuseTaken(socketPath: string): Promise<void> {
  const found = await lstat(socketPath).catch(() => undefined)
  if (!found) return
  if (!found.isSocket()) {
    throw new ParleyError('config', `dataDir: ${socketPath} is in the way and no socket. Move it elsewhere.`)
  }
  if (await answers(socketPath)) {
    throw new ParleyError('store_locked', `Another daemon answers on ${socketPath}. Stop it, or set another dataDir.`)
  }
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Faults an operator mends by moving or opening a folder; the rest (a full disk) passes as it is. */
const MENDABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG', 'ENOTSUP'])

async function onDisk(socketPath: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (error instanceof ParleyError || !MENDABLE.has(code)) throw error
    const message = `dataDir: the local socket cannot be made at ${socketPath} (${code}). Choose a folder this user owns.`
    throw new ParleyError('config', message, { cause: error })
  }
}
