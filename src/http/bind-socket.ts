import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { lstatSync, renameSync } from 'node:fs'
import { connect, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { ParleyError } from '../core/errors.ts'
import {
  belongsHere,
  foreign,
  handOver,
  type PrivateFolder,
  privateFolder,
  toFolderError,
} from '../platform/private-folder.ts'

/** The longest path that `sun_path` of the kernel holds, without the closing zero. */
const LONGEST_PATH = 107
/** The mask that leaves a new socket to its user alone. */
const OWNER_ONLY = 0o177

/**
 * Binds `server` to a unix socket that only its user can open, whatever the umask: made under a name of its own, then
 * moved to the final one, which also replaces the socket of a killed daemon. Throws `config` for a path that cannot
 * hold a socket or that others could change, and `store_locked` if a daemon answers there.
 */
export async function bindSocket(server: Server, socketPath: string): Promise<void> {
  const fresh = join(dirname(socketPath), `.${randomBytes(3).toString('hex')}`)
  if (Math.max(Buffer.byteLength(socketPath), Buffer.byteLength(fresh)) > LONGEST_PATH) {
    const most = `the system takes ${LONGEST_PATH} bytes`
    const message = `The path of the local socket is too long (${most}): ${socketPath}\nSet a shorter folder by store.url.`
    throw new ParleyError('config', message)
  }
  const folder = privateFolder(dirname(socketPath))
  await refuseTaken(socketPath, folder)
  try {
    await listen(server, fresh)
    handOver(fresh, folder)
    renameSync(fresh, socketPath)
  } catch (error) {
    // Closing also removes the file that the server has made.
    server.close()
    throw toFolderError(socketPath, error)
  }
}

/** The system makes the file while `listen` is called, so the mask of the process is its mode for just that long. */
async function listen(server: Server, path: string): Promise<void> {
  const listening = once(server, 'listening')
  const mask = process.umask(OWNER_ONLY)
  try {
    server.listen(path)
  } finally {
    process.umask(mask)
  }
  await listening
}

/** Only a dead socket of the same owner may be replaced. */
async function refuseTaken(socketPath: string, folder: PrivateFolder): Promise<void> {
  const found = lstatSync(socketPath, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isSocket())
    throw new ParleyError('config', `${socketPath} is in the way and no socket. Move it elsewhere.`)
  if (!belongsHere(found, folder)) throw new ParleyError('config', foreign(socketPath, found))
  if (await answers(socketPath))
    throw new ParleyError(
      'store_locked',
      `Another daemon answers on ${socketPath}. Stop it, or set another folder by store.url.`,
    )
}

/** Errors of a connection to a socket that nobody holds; a busy daemon may refuse in other ways. */
const DEAD = new Set(['ECONNREFUSED', 'ENOENT'])

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(!DEAD.has(String(error.code))))
  })
}
