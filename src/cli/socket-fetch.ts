import { existsSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import type { Fetch } from '../client/call.ts'
import { DOORS } from '../core/doors.ts'
import { ParleyError } from '../core/errors.ts'
import { readFirstBytes } from '../core/read-bytes.ts'

/** More than any answer of the daemon; a page of a history holds 200 events. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024

/** The address before the path of each request; nobody looks it up. */
export const BASE = 'http://parley'

interface LocalSocket {
  readonly socketPath: string
  readonly timeoutMs: number
}

/** Returns a `fetch` that sends requests below `BASE` over a unix socket. Rejects in words for people. */
export function socketFetch(socket: LocalSocket): Fetch {
  return async (url, { method, body = '' }) =>
    send(socket, { path: url.slice(BASE.length), method, body }).catch((error) =>
      Promise.reject(toCallError(error, socket)),
    )
}

interface LocalRequest {
  readonly path: string
  readonly method: string
  readonly body: string
}

function send({ socketPath, timeoutMs }: LocalSocket, { path, method, body }: LocalRequest): Promise<Response> {
  const length = Buffer.byteLength(body)
  const most = DOORS.api.bytes
  if (length > most)
    throw new ParleyError('too_long', `That is too long: ${length} bytes, and the daemon takes ${most}.`)
  const headers = { 'content-type': 'application/json', 'content-length': length }
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, path, method, headers, agent: false, signal: AbortSignal.timeout(timeoutMs) },
      (response) => read(response, socketPath).then(resolve, reject),
    )
    call.on('error', reject)
    call.on('upgrade', (_response, socket) => {
      socket.destroy()
      reject(strange(socketPath))
    })
    call.end(body)
  })
}

/** Returns the error for an answer that no daemon of this version gives. */
export function strange(socketPath: string, cause?: unknown): ParleyError {
  const message = `What answers on ${socketPath} is no Parley daemon, or one of another version: restart the daemon.`
  return new ParleyError('unavailable', message, { cause })
}

async function read(response: IncomingMessage, socketPath: string): Promise<Response> {
  const { bytes, cut } = await readFirstBytes(response, MOST_ANSWER_BYTES)
  if (cut) throw new ParleyError('unavailable', "The answer is too long to be a daemon's.")
  const status = response.statusCode ?? 0
  if (status < 200 || status > 599) throw strange(socketPath)
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status })
}

export function toCallError(error: unknown, { socketPath, timeoutMs }: LocalSocket): unknown {
  const code = systemCode(error)
  switch (code) {
    case 'ABORT_ERR':
      return new ParleyError('unavailable', `The daemon did not answer within ${timeoutMs / 1000} s on ${socketPath}.`)
    case 'EACCES':
      return new ParleyError(
        'forbidden',
        `${socketPath} belongs to another user: run this as the user the daemon runs as.`,
      )
    case 'ECONNRESET':
    case 'EPIPE':
      return new ParleyError('unavailable', `The daemon hung up on ${socketPath}; ${whyHungUp(socketPath)}`, {
        cause: error,
      })
    default:
      // The HTTP parser names the part that it cannot read.
      return code.startsWith('HPE_') ? strange(socketPath, error) : error
  }
}

/** A daemon that stops removes its socket first. */
function whyHungUp(socketPath: string): string {
  return !existsSync(socketPath)
    ? 'it is stopping.'
    : 'more programs are connected to it than it answers at once, or it was killed: try again in a moment.'
}

const NOT_LISTENING = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR', 'ENAMETOOLONG'])

export function nobodyListens(error: unknown): boolean {
  return NOT_LISTENING.has(systemCode(error))
}

function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
