import { lstatSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { type ApiCall, type Endpoint, errorOf, send } from '../client/call.ts'
import { operationsOf } from '../client/operations.ts'
import { type ErrorCode, ParleyError } from '../core/errors.ts'
import type { OperatorService } from '../core/operator.ts'
import { belongsHere, foreign, privateFolder } from '../platform/private-folder.ts'
import { isAnswer } from './answer-shapes.ts'
import { remoteOperator } from './remote-operator.ts'
import { BASE, nobodyListens, socketFetch, strange, toCallError } from './socket-fetch.ts'

const TIMEOUT_MS = 10_000

/** The codes by HTTP status for errors that the caller can act on. Any other is the daemon's own failure. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'too_long',
  503: 'unavailable',
}

/**
 * Returns the daemon behind a local socket; undefined when none runs (no socket, or one that a killed daemon left).
 * Rejects with `config` for a socket that neither this user nor root has put there, `forbidden` when it may not be
 * opened and `unavailable` when nothing answers in time, or something that is no daemon.
 */
export async function connectLocal(socketPath: string, timeoutMs = TIMEOUT_MS): Promise<OperatorService | undefined> {
  if (!findSocket(socketPath)) return undefined
  const client = operationsOf(async <Answer>(operation: string, asked: ApiCall) => {
    const endpoint = endpointOf(socketPath, timeoutMs + (asked.waitMs ?? 0))
    const { status, value } = await send(endpoint, asked).catch((error) => Promise.reject(whyGone(error)))
    if (status === 200 && (await isAnswer(operation, value))) return value as Answer
    const failed = status === 200 ? undefined : errorOf(value)
    if (failed === undefined) throw strange(socketPath)
    throw new ParleyError(CODES[status] ?? 'internal', failed.message)
  })
  try {
    await client.health.show()
  } catch (error) {
    if (error instanceof Error && nobodyListens(error.cause)) return undefined
    throw error
  }
  return remoteOperator(client)
}

function whyGone(error: unknown): unknown {
  return nobodyListens(error) ? new ParleyError('unavailable', 'The daemon has just stopped.', { cause: error }) : error
}

function endpointOf(socketPath: string, timeoutMs: number): Endpoint {
  return { baseUrl: BASE, fetch: socketFetch({ socketPath, timeoutMs }), timeoutMs }
}

/**
 * Returns true if there is a socket. Whoever answers on it receives everything, so it must be one that only the daemon
 * can have made.
 */
function findSocket(socketPath: string): boolean {
  const found = look(socketPath)
  if (found === undefined) return false
  if (!found.isSocket())
    throw new ParleyError('config', `${socketPath} is in the way and no socket. Move it elsewhere.`)
  const folder = privateFolder(dirname(socketPath), 'ask')
  if (!belongsHere(found, folder, 'usOrRoot')) throw new ParleyError('config', foreign(socketPath, found))
  return true
}

function look(socketPath: string): Stats | undefined {
  try {
    return lstatSync(socketPath, { throwIfNoEntry: false })
  } catch (error) {
    if (nobodyListens(error)) return undefined
    throw toCallError(error, { socketPath, timeoutMs: 0 })
  }
}
