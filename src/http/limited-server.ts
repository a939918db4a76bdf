import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Clock } from '../core/clock.ts'
import { createInTurn } from '../core/in-turn.ts'
import type { KeyedRequests } from '../core/keyed-request.ts'
import type { Logger } from '../core/logger.ts'
import { tooManyBytes } from '../core/read-bytes.ts'
import type { AppDeps } from './app.ts'
import { answerAt } from './chat-errors.ts'
import type { ApiGuard } from './gate.ts'
import { doorOf } from './read-body.ts'
import { answerUnreadable, unaddressed } from './unreadable-requests.ts'

/** The limits of a connection; times in ms. */
export interface ServerLimits {
  /** The time until the headers of a request are complete, from the connection or the previous answer on. */
  readonly headers: number
  /** The time until a request is complete with its body. */
  readonly request: number
  /** The time between two requests. */
  readonly idle: number
  /**
   * The time without a byte in either direction, also while an answer is awaited: longer than a post may wait for its
   * own.
   */
  readonly silent: number
  readonly connections: number
}

export const LIMITS: ServerLimits = {
  headers: 10_000,
  request: 30_000,
  idle: 5_000,
  silent: 3_700_000,
  connections: 200,
}
const MOST_HEADER_BYTES = 16 * 1024
/** The share of the shortest limit by which a connection may exceed its own. */
const CHECKS_WITHIN = 4
const GRACE_MS = 2000
/** A supervisor that gets no answer from a daemon that resumes would kill it, and it would resume again. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz'])
/** An answer is data: no browser guesses its type, keeps it, runs or frames it, or loads it into a page of others. */
const ON_EVERY_ANSWER = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
] as const

export interface ApiServerDeps {
  readonly guard: ApiGuard
  readonly requests?: KeyedRequests | undefined
  /** Nothing but a probe is answered before it resolves; absent: from the start. */
  readonly ready?: Promise<void> | undefined
  readonly logger: Logger
  readonly clock: Clock
  readonly limits: ServerLimits
}

export interface ApiServer {
  readonly server: Server
  /** Finishes the answers under way (2 s at most) and drops every other connection at once. Idempotent. */
  close(): Promise<void>
}

/** Returns a server of the API that is bound to nothing yet. Its routes are loaded with the first request. */
export function createApiServer({ guard, requests, ready, logger, clock, limits }: ApiServerDeps): ApiServer {
  const load = lazily(() => loadListener({ guard, requests, logger, clock }))
  const active = countActive()
  const server = limitedServer(limits, (request, response) => {
    active.began(response)
    Promise.all([load(), PROBES.has(pathOf(request.url)) ? undefined : ready]).then(
      // A client that has hung up while it waited got no answer, and asks once more.
      ([listener]) => !response.destroyed && listener(request, response),
      (error) => {
        logger.error('The API could not be loaded', { err: error })
        refuse(error, request, response)
      },
    )
  })
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    const cancel = clock.after(GRACE_MS, () => server.closeAllConnections())
    await active.none()
    // The connections that remain are idle; `closeIdleConnections` would wait a minute for one that never sent a byte.
    server.closeAllConnections()
    await closed
    cancel()
  }
  return { server, close: lazily(close) }
}

/** Returns a server that bounds every request before any other code sees it; an answer may take any time. */
function limitedServer(limits: ServerLimits, listener: RequestListener): Server {
  const options: ServerOptions = {
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    keepAliveTimeout: limits.idle,
    connectionsCheckingInterval: Math.min(limits.headers, limits.request) / CHECKS_WITHIN,
    maxHeaderSize: MOST_HEADER_BYTES,
    // It is refused in the same words as a bad one.
    requireHostHeader: false,
  }
  const server = createServer(options)
  const inTurn = createInTurn<IncomingMessage, ServerResponse>()
  const began = answerUnreadable(server, inTurn)
  const answer: RequestListener = (request, response) => {
    began(request, response)
    response.once('finish', () => {
      if (!request.complete) leaveUnread(request)
    })
    for (const [name, value] of ON_EVERY_ANSWER) response.setHeader(name, value)
    if (isTooLong(request)) {
      // Else Node reads all of it without a word of how much that is.
      request.resume()
      return refuse(tooManyBytes(mostBytesAt(request.url)), request, response)
    }
    listener(request, response)
  }
  server.on('request', inTurn(answer))
  // A client that asks before it sends a body is answered before it sends one.
  const invite: RequestListener = (request, response) => {
    if (!isTooLong(request)) response.writeContinue()
    answer(request, response)
  }
  server.on('checkContinue', inTurn(invite))
  server.maxConnections = limits.connections
  server.timeout = limits.silent
  return server
}

function isTooLong({ url, headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > mostBytesAt(url)
}

function mostBytesAt(url: string | undefined): number {
  return doorOf(pathOf(url)).bytes
}

function pathOf(url = ''): string {
  return url.split('?', 1)[0] ?? ''
}

function refuse(error: unknown, { url }: IncomingMessage, response: ServerResponse): void {
  const { status, body, headers } = answerAt(pathOf(url), error)
  const told = JSON.stringify(body)
  const length = Buffer.byteLength(told)
  response.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': length }).end(told)
}

/** The bytes that a piece counts for at least: many small ones cost more than one large. */
const LEAST_UNREAD = 1_024
/** The times that a body's most bytes may come after its answer: many clients send all of it before they read. */
const UNREAD = 2

/**
 * Ends the connection of a request that was answered before it was complete. With bytes in it that nobody reads, the
 * system would reset it, and the client would see that in place of the answer. Node ends one that falls silent.
 */
function leaveUnread(request: IncomingMessage): void {
  const { socket, url } = request
  let left = mostBytesAt(url) * UNREAD
  socket.end()
  request.once('end', () => socket.destroy())
  request.on('data', ({ length }: Buffer) => {
    left -= Math.max(length, LEAST_UNREAD)
    if (left < 0) socket.destroy()
  })
}

/** The router and its web globals cost 30 ms and some megabytes, which a daemon that nobody asks saves. */
async function loadListener(deps: AppDeps): Promise<RequestListener> {
  const [{ createApp }, { getRequestListener }] = await Promise.all([import('./app.ts'), import('@hono/node-server')])
  const listener = getRequestListener(createApp(deps).fetch, {
    overrideGlobalObjects: false,
    errorHandler: unaddressed,
  })
  return (request, response) => void listener(request, response)
}

interface ActiveRequests {
  began(response: ServerResponse): void
  /** Resolves as soon as no request is being answered. */
  none(): Promise<void>
}

function countActive(): ActiveRequests {
  let active = 0
  let idle: (() => void) | undefined
  return {
    began(response) {
      active++
      response.once('close', () => {
        active--
        if (active === 0) idle?.()
      })
    },
    none: () =>
      new Promise((resolve) => {
        if (active === 0) resolve()
        else idle = resolve
      }),
  }
}

/** Returns a function that does `work` on the first call and returns that one result on every call. */
export function lazily<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => (result ??= work())
}
