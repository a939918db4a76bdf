import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { ChannelDown } from '../../src/channels/adapter.ts'
import type { Clock } from '../../src/core/clock.ts'
import { toError } from '../../src/core/errors.ts'
import { failpoint } from '../../src/core/failpoint.ts'
import { createInTurn } from '../../src/core/in-turn.ts'
import type { Logger } from '../../src/core/logger.ts'
import { type HttpAnswer, type HttpRequest, readBody, send } from './http-exchange.ts'

/** The address where an account receives requests; a reverse proxy with TLS stands before it. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
  readonly path: string
}

interface ListenerSettings {
  /** Describes the requests for people: `Slack's events`. */
  readonly what: string
  readonly listen: ListenAddress
  readonly account: string
  readonly clock: Clock
  readonly logger: Logger
  /** The most bytes of a body. */
  readonly mostBytes: number
  /** Limits a sender's time for the headers and for the whole request, ms. Default: ten seconds. */
  readonly requestMs?: number
}

interface ListenerPorts {
  /**
   * Returns true if the headers prove the sender; otherwise nothing of the body is read. Absent: `handle` checks both.
   */
  admits?(headers: IncomingHttpHeaders): boolean
  /**
   * Returns the answer to a request; 403 where it is not from who it says. Where this rejects, the sender is cut off.
   */
  handle(request: HttpRequest): Promise<HttpAnswer>
  /**
   * Returns the answer to a sender that `admits` has let in and whose body is longer than is read; its rest is dropped.
   * Absent: 413.
   */
  tooLong?(): HttpAnswer
}

/** A sender that takes longer is not the platform. */
const REQUEST_MS = 10_000
/**
 * Longer than proxies keep a connection, so that it is they who close it and never a request that meets a closed one.
 */
const IDLE_MS = 75_000
/** More than a platform opens at once, and few enough to be held. */
const MOST_CONNECTIONS = 256
/** The most bytes of all bodies together that are not whole yet: more than a platform sends at once. */
const MOST_KEPT = 32 * 1024 * 1024
/** The least time between two reports of rejected requests. */
const TELL_EVERY_MS = 600_000

/**
 * The HTTP entrance of an account. It takes POST at one path, keeps no more than a limit, says nothing of why a request
 * was turned away, and has no opinion on who may come in: that is the platform's signature or secret, and never an
 * address.
 */
export class HttpListener {
  readonly #settings: ListenerSettings
  readonly #ports: ListenerPorts
  readonly #working = new Set<Promise<void>>()
  /** Connections on which nothing came yet that may be from the platform, the oldest first. */
  readonly #unproven = new Set<Socket>()
  #connections = 0
  /** Bytes of bodies that are not whole yet. */
  #kept = 0
  #server: Server | undefined
  #isStopped = false
  /** Requests turned away since that was last said; undefined: nothing is being counted. */
  #turnedAway: { count: number; readonly cancel: () => void } | undefined

  constructor(settings: ListenerSettings, ports: ListenerPorts) {
    this.#settings = settings
    this.#ports = ports
  }

  /** @throws ChannelDown when nothing can listen there */
  async start(): Promise<void> {
    const { listen, what, logger, account, requestMs = REQUEST_MS } = this.#settings
    const limits = {
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: requestMs / 4,
    }
    const take: RequestListener = (request, response) => {
      const work = this.#answer(request, response).finally(() => this.#working.delete(work))
      this.#working.add(work)
    }
    const server = createServer(limits, createInTurn<IncomingMessage, ServerResponse>()(take))
    server.on('connection', (socket) => this.#met(socket))
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        reject(new ChannelDown(notHad(what, listen, error), { permanent: false, cause: error }))
      })
      server.listen(listen.port, listen.host, resolve)
    })
    server.on('error', (err) => logger.warn('The HTTP listener has trouble.', { account, err }))
    this.#server = server
  }

  /** Takes nothing more in, lets what is being stored be answered, closes. The caller bounds the wait. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#server?.close()
    await Promise.allSettled(this.#working)
    this.kill()
  }

  /** Cuts every connection at once. */
  kill(): void {
    this.#isStopped = true
    this.#turnedAway?.cancel()
    this.#server?.close()
    this.#server?.closeAllConnections()
  }

  /**
   * Closes the connection that has been silent longest if there are too many: strangers keep nobody out, however many
   * they hold.
   */
  #met(socket: Socket): void {
    this.#connections++
    this.#unproven.add(socket)
    socket.once('close', () => {
      this.#connections--
      this.#unproven.delete(socket)
    })
    if (this.#connections > MOST_CONNECTIONS) this.#closeOldest()
  }

  #closeOldest(): void {
    const [oldest] = this.#unproven
    if (oldest === undefined) return
    this.#unproven.delete(oldest)
    oldest.destroy()
  }

  /** Never rejects. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.#handle(request)
      if (answer.status === 403) this.#countTurnedAway()
      await send(response, answer)
      if (answer.status === 200) failpoint('CP3-acked')
    } catch {
      // The sender broke off, or nothing is to be said to it.
      response.destroy()
    }
  }

  async #handle(request: IncomingMessage): Promise<HttpAnswer> {
    const { admits, handle, tooLong } = this.#ports
    const { headers, method, url = '' } = request
    if (url.split('?')[0] !== this.#settings.listen.path) return { status: 404 }
    if (method !== 'POST') return { status: 405 }
    if (admits?.(headers) === false) return { status: 403 }
    if (admits) this.#unproven.delete(request.socket)
    const body = await this.#body(request)
    if (body === null) return tooLong?.() ?? { status: 413 }
    this.#unproven.delete(request.socket)
    if (this.#isStopped) return { status: 503 }
    return handle({ headers, body })
  }

  /** Reads a body. Null: it is longer than the limit. */
  async #body(request: IncomingMessage): Promise<Buffer | null> {
    let kept = 0
    const took = (length: number): void => {
      kept += length
      this.#kept += length
      if (this.#kept > MOST_KEPT) this.#closeOldest()
    }
    const { mostBytes: most } = this.#settings
    try {
      return await readBody(request, { most, drops: this.#ports.tooLong !== undefined, took })
    } finally {
      this.#kept -= kept
    }
  }

  /** Says so at once, and then every so often how many there were, however many come. */
  #countTurnedAway(): void {
    if (this.#turnedAway !== undefined) {
      this.#turnedAway.count++
      return
    }
    this.#logTurnedAway(1)
  }

  #logTurnedAway(requests: number): void {
    const { clock, logger, account, what } = this.#settings
    logger.warn('Requests without the right secret were turned away.', { account, at: what, requests })
    const cancel = clock.after(TELL_EVERY_MS, () => {
      const { count } = this.#turnedAway ?? { count: 0 }
      this.#turnedAway = undefined
      if (count > 0) this.#logTurnedAway(count)
    })
    this.#turnedAway = { count: 0, cancel }
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program or account has this port: set listen.port, to one of its own for each account',
  EACCES: 'this user may not listen there: set listen.port above 1023, and let the reverse proxy have the public port',
  EADDRNOTAVAIL: 'this machine has no such address: check listen.host',
  ENOTFOUND: 'no such host is known: check listen.host',
}

function notHad(what: string, { host, port }: ListenAddress, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return `nothing can listen for ${what} at ${host}:${port}: ${REMEDIES[code ?? ''] ?? toError(error).message}`
}
