import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
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
  /** Ends the request wherever it is, and the connection under it. */
  cut(): void
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
 */
export function watchWire(pool: Agent): WatchedWire {
  if (!takesRequests(pool)) throw new TypeError('This version of Node.js has another kind of http.Agent.')
  let left = false
  let over = false
  let current: ClientRequest | undefined
  let written: (() => void) | undefined
  let response: IncomingMessage | undefined
  const onResponse = (message: IncomingMessage): void => {
    response = message
  }
  const onLeft = (): void => {
    left = true
  }
  const onSocket = (socket: Socket): void => {
    if (!socket.connecting) left = true
    else socket.once(isTls(socket) ? 'secureConnect' : 'connect', onLeft)
  }
  const addRequest = (request: ClientRequest, ...rest: readonly unknown[]): void => {
    request.once('socket', onSocket)
    request.once('response', onResponse)
    if (written) request.once('finish', written)
    current = request
    if (over) request.destroy()
    pool.addRequest(request, ...rest)
  }
  return {
    agent: Object.create(pool, { addRequest: { value: addRequest } }),
    begin(onWritten) {
      left = false
      current = undefined
      response = undefined
      written = onWritten
    },
    bytesMayHaveLeft: () => left,
    answer: () => response && { status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '' },
    cut() {
      over = true
      current?.destroy()
    },
  }
}

function takesRequests(agent: Agent): agent is RequestTaker {
  return 'addRequest' in agent && typeof agent.addRequest === 'function'
}

function isTls(socket: Socket): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}
