import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import type { FetchFunction } from '@slack/web-api'
import { DOORS } from '../../../src/core/doors.ts'
import { errorCode } from '../../../src/core/errors.ts'
import { readBytes } from '../../../src/core/read-bytes.ts'
import { measureJson, readJson } from '../../../src/core/read-json.ts'
import type { SeenAnswer } from '../../../src/core/wire-error.ts'
import { PlainAgent, SecureAgent } from '../../../src/platform/way-out.ts'

/** One call as seen from below. */
export interface WatchedCall {
  /** For the client; made for this call alone. */
  readonly fetch: FetchFunction
  /** Sends the content of a file. */
  send(address: string, upload: { readonly content: Buffer; readonly signal: AbortSignal }): Promise<FetchResponse>
  /** False as long as it is certain that no byte of the request reached the network. */
  bytesMayHaveLeft(): boolean
  /** The head of the answer; undefined as long as nothing answered. */
  answer(): SeenAnswer | undefined
  /** The answer is larger than is read of one. */
  isTooLong(): boolean
}

type FetchResponse = Awaited<ReturnType<FetchFunction>>

/** A pool of connections of one client. */
export interface Wire {
  /** @param onWritten called when the last byte of the request was handed to the operating system */
  watch(onWritten: () => void): WatchedCall
  /** Ends idle and busy connections. */
  close(): void
}

/** An idle connection older than this is not reused: what it would break by being closed already is a send. */
const IDLE_CONNECTION_MS = 20_000
const MAX_CONNECTIONS = 50

/**
 * The client's transport, over node:http: only there can "not sent" be distinguished from "unknown" by watching instead
 * of by error codes. The same ECONNRESET comes from a TLS handshake (nothing left), from an idle connection the server
 * had closed (who knows) and from the middle of an answer.
 */
export function createWire(): Wire {
  const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_CONNECTION_MS }
  const plain = new PlainAgent(options)
  const secure = new SecureAgent(options)
  return {
    watch(onWritten) {
      let left = false
      let answer: SeenAnswer | undefined
      let isTooLong = false
      const send = async (url: URL, body: string | Buffer, options: RequestOptions): Promise<FetchResponse> => {
        const ask = url.protocol === 'http:' ? requestHttp : requestHttps
        const agent = url.protocol === 'http:' ? plain : secure
        const request = ask(url, { ...options, agent })
        noteDeparture(request, () => (left = true))
        request.once('finish', onWritten)
        const message = await answerTo(request, body)
        answer = { status: message.statusCode ?? 0, type: message.headers['content-type'] ?? '' }
        return toResponse(message).catch((error: unknown) => {
          isTooLong = errorCode(error) === 'too_long'
          throw error
        })
      }
      const fetch: FetchFunction = async (input, init = {}) => {
        const { method = 'POST', headers = {}, body, signal } = init
        const options = { method, headers, ...(signal ? { signal } : {}) }
        return send(new URL(String(input)), String(body ?? ''), options)
      }
      return {
        send: (address, { content, signal }) => {
          const headers = { 'content-type': 'application/octet-stream', 'content-length': String(content.length) }
          return send(new URL(address), content, { method: 'POST', headers, signal })
        },
        fetch,
        bytesMayHaveLeft: () => left,
        answer: () => answer,
        isTooLong: () => isTooLong,
      }
    },
    close() {
      plain.destroy()
      secure.destroy()
    },
  }
}

/** A request gets its socket while that still connects; its bytes wait there until `connect`, or `secureConnect`. */
function noteDeparture(request: ClientRequest, departed: () => void): void {
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting) departed()
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', departed)
  })
}

function answerTo(request: ClientRequest, body: string | Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
    request.end(body)
  })
}

/**
 * Returns the little of a Response that the client reads; the platform's own class would load another HTTP stack. The
 * client parses the text by itself, so that a body beyond its bounds never reaches it: rejects with `too_long`.
 */
async function toResponse(message: IncomingMessage): Promise<FetchResponse> {
  const body = await readBytes(message, DOORS.platformAnswer.bytes)
  measureJson(body, DOORS.platformAnswer)
  const text = () => body.toString('utf8')
  const headers = new Map(Object.entries(message.headers).map(([name, value]) => [name, String(value)]))
  const status = message.statusCode ?? 0
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText: message.statusMessage ?? '',
    url: message.url ?? '',
    headers: { get: (name) => headers.get(name.toLowerCase()) ?? null, entries: () => headers.entries() },
    text: () => Promise.resolve(text()),
    json: async () => readJson(body, DOORS.platformAnswer),
    arrayBuffer: () => Promise.resolve(new Uint8Array(body).buffer),
  }
}
