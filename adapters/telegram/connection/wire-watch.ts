import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { DOORS } from '../../../src/core/doors.ts'
import { toError } from '../../../src/core/errors.ts'
import { JsonMeter } from '../../../src/core/read-json.ts'
import type { SeenAnswer } from '../../../src/core/wire-error.ts'

/** One request at a time as seen from below, by an agent of its own on a shared pool of connections. */
export interface WatchedWire {
  readonly agent: Agent
  /**
   * The next request is another one; the last must have been answered.
   *
   * @param onWritten called when the last byte of the request was handed to the operating system
   */
  begin(onWritten?: () => void): void
  /** False as long as it is certain that no byte of the request reached the network. */
  bytesMayHaveLeft(): boolean
  /** The head of the answer; undefined as long as nothing answered. */
  answer(): SeenAnswer | undefined
  /** The error of the request; undefined as long as there is none. */
  failure(): Error | undefined
  /** Why the answer was not read to its end; undefined for one within its bounds. */
  refused(): RefusedAnswer | undefined
  /** Ends the request wherever it is, and the connection under it. */
  cut(): void
}

export interface RefusedAnswer {
  readonly reason: string
  /** The first characters of the answer, among them the id of its first update. */
  readonly head: string
}

/** Declares the method that every ClientRequest calls on its agent; Node does not type it. */
interface RequestTaker extends Agent {
  addRequest(request: ClientRequest, ...rest: readonly unknown[]): void
}

/**
 * Tells "not sent" from "unknown" by watching instead of by error codes: the same ECONNRESET comes from a TLS handshake
 * (nothing left), from an idle connection the server had closed (who knows) and from the middle of an answer.
 * A request gets its socket while that still connects; its bytes wait there until `connect`, or `secureConnect` under
 * TLS. A socket that was connected before may carry bytes from the start.
 * An answer is measured as it comes, because the library parses it by itself once it has ended: one beyond its bounds
 * is broken off. It is asked for uncompressed, or a few of its bytes could be gigabytes.
 */
export function watchWire(pool: Agent): WatchedWire {
  if (!takesRequests(pool)) throw new TypeError('This version of Node.js has another kind of http.Agent.')
  let left = false
  let over = false
  let current: ClientRequest | undefined
  let written: (() => void) | undefined
  let response: IncomingMessage | undefined
  let refused: RefusedAnswer | undefined
  let failure: Error | undefined
  const onFailure = (error: Error): void => {
    failure = error
  }
  const onResponse = (message: IncomingMessage): void => {
    response = message
    measure(message, (answer) => {
      refused = answer
      // It has no end then, at which the library would parse it, and the library learns of the error from its request.
      message.destroy(new Error(answer.reason))
    })
  }
  const onLeft = (): void => {
    left = true
  }
  const onSocket = (socket: Socket): void => {
    if (!socket.connecting) left = true
    else socket.once(isTls(socket) ? 'secureConnect' : 'connect', onLeft)
  }
  const addRequest = (request: ClientRequest, ...rest: readonly unknown[]): void => {
    // The library follows a redirect by a further request, and the path of each has the token.
    const elsewhere = current === undefined || originOf(request) === originOf(current) ? undefined : originOf(request)
    request.once('socket', onSocket)
    request.once('response', onResponse)
    request.once('error', onFailure)
    if (written) request.once('finish', written)
    request.setHeader('accept-encoding', 'identity')
    current = request
    if (elsewhere !== undefined) {
      response = undefined
      const reason = `it redirects to ${elsewhere}, which is not followed; set apiRoot to the address of the server itself`
      request.destroy(new Error(reason))
    } else if (over) request.destroy()
    pool.addRequest(request, ...rest)
  }
  return {
    agent: Object.create(pool, { addRequest: { value: addRequest } }),
    begin(onWritten) {
      left = false
      current = undefined
      response = undefined
      refused = undefined
      failure = undefined
      written = onWritten
    },
    bytesMayHaveLeft: () => left,
    answer: () => response && { status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '' },
    refused: () => refused,
    failure: () => failure,
    cut() {
      over = true
      current?.destroy()
    },
  }
}

function originOf(request: ClientRequest): string {
  return `${request.protocol}//${request.getHeader('host')}`
}

/** Enough for `{"ok":true,"result":[{"update_id":` and a number, also where a server writes spaces. */
const HEAD_BYTES = 200

/** Called before the library listens, so that each piece is measured before the library has it. */
function measure(message: IncomingMessage, refuse: (answer: RefusedAnswer) => void): void {
  const encoding = message.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') refuse({ reason: 'the answer is compressed, which nobody asked for', head: '' })
  const meter = new JsonMeter(DOORS.platformAnswer)
  let head = ''
  const onPiece = (piece: Buffer): void => {
    if (head.length < HEAD_BYTES) head += piece.toString('latin1', 0, HEAD_BYTES)
    try {
      meter.add(piece)
    } catch (error) {
      message.off('data', onPiece)
      refuse({ reason: toError(error).message, head })
    }
  }
  message.on('data', onPiece)
}

function takesRequests(agent: Agent): agent is RequestTaker {
  return 'addRequest' in agent && typeof agent.addRequest === 'function'
}

function isTls(socket: Socket): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}
