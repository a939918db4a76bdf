import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerThroughFault } from '../answering.ts'
import { FaultBook } from '../faults.ts'
import type { Answer, ListenOptions } from '../http-server.ts'
import { sendBody, startHttpServer } from '../http-server.ts'
import { ApiError, noRoute, unauthorized } from './api-error.ts'
import type { ApiUser } from './api-types.ts'
import { Gateway } from './gateway.ts'
import { DiscordLedger } from './ledger-entries.ts'
import { NonceBook } from './nonces.ts'
import { type RateLimit, RateLimits } from './rate-limits.ts'
import { readBody } from './read-body.ts'
import type { ApplicationState, RestApi, RestCall } from './rest-api.ts'
import { findRoute, type Route } from './routes.ts'
import { DiscordWorld } from './world.ts'

export interface DiscordServerOptions extends ListenOptions {
  /** Default `rehearsal.discord.token`. */
  token?: string
  /** The bot's name. */
  username?: string
  /** Default `900000000000000001`. */
  botId?: string
  /** The switch "Message Content Intent" of the application. Default true. */
  messageContent?: boolean
  /** Default 41,250, the platform's own. */
  heartbeatIntervalMs?: number
  /** The REST buckets; none if absent. */
  rateLimit?: RateLimit
  /** Milliseconds since the epoch. Default Date.now. */
  now?: () => number
}

export interface DiscordServer {
  /** The `rest.api` of discord.js; it finds the gateway through this. */
  readonly apiRoot: string
  /** The token that the platform accepts now; a change revokes the old one. */
  token: string
  messageContent: boolean
  /** The switches of its application; may be changed at any time. */
  readonly application: ApplicationState
  readonly world: DiscordWorld
  readonly gateway: Gateway
  readonly ledger: DiscordLedger
  readonly faults: FaultBook<RestCall>
  /** Ends held calls and every connection at once. Idempotent. */
  close(): Promise<void>
}

const BOT_ID = '900000000000000001'
const MAX_BODY_BYTES = 25 * 1024 * 1024

/** Starts a Discord server on loopback: REST on one port, the gateway on another. */
export async function startDiscordServer(options: DiscordServerOptions = {}): Promise<DiscordServer> {
  const rehearsal = new DiscordRehearsal(options)
  const http = await startHttpServer(options, {
    maxBodyBytes: MAX_BODY_BYTES,
    handle: (request, response, body) => rehearsal.handle(request, response, body),
  })
  const gateway = await rehearsal.openGateway(options)
  rehearsal.world.filesUrl = http.url
  const { world, ledger, faults, settings } = rehearsal
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    rehearsal.close()
    await Promise.all([gateway.stop(), http.close()])
  }
  return {
    apiRoot: `${http.url}/api`,
    world,
    gateway,
    ledger,
    faults,
    get token() {
      return settings.token
    },
    set token(token) {
      settings.token = token
    },
    get messageContent() {
      return settings.messageContent
    },
    set messageContent(on) {
      settings.messageContent = on
    },
    application: settings,
    close: () => (closing ??= close()),
  }
}

interface Recognised {
  readonly call: RestCall
  readonly run: Route
}

class DiscordRehearsal {
  readonly ledger = new DiscordLedger()
  readonly faults: FaultBook<RestCall>
  readonly world: DiscordWorld
  readonly settings: ApplicationState & { token: string }
  readonly #api: RestApi
  readonly #limits: RateLimits
  readonly #closing = new AbortController()
  #gateway: Gateway | undefined

  constructor(options: DiscordServerOptions) {
    // Any number of calls may be delayed or held at a time.
    setMaxListeners(0, this.#closing.signal)
    const now = options.now ?? Date.now
    const { ledger } = this
    this.settings = {
      token: options.token ?? 'rehearsal.discord.token',
      messageContent: options.messageContent ?? true,
      isPublic: true,
      requiresCodeGrant: false,
    }
    this.faults = new FaultBook(now)
    this.#limits = new RateLimits(options.rateLimit, now)
    const bot = botUser(options)
    this.world = new DiscordWorld({ bot, ledger, now }, (type, data) => this.#gateway?.publish(type, data))
    const gatewayUrl = () => this.#gateway?.url ?? ''
    this.#api = {
      world: this.world,
      ledger,
      nonces: new NonceBook(now),
      interactions: this.world.interactions,
      gatewayUrl,
      sessionLimit: () => this.#gateway?.sessionLimit ?? { total: 0, remaining: 0, resetAfterMs: 0 },
      application: () => this.settings,
    }
  }

  async openGateway(options: DiscordServerOptions): Promise<Gateway> {
    this.#gateway = await Gateway.open({
      host: options.host ?? '127.0.0.1',
      heartbeatIntervalMs: options.heartbeatIntervalMs ?? 41_250,
      token: () => this.settings.token,
      messageContent: () => this.settings.messageContent,
      world: () => this.world,
      ledger: this.ledger,
      now: this.world.now,
    })
    return this.#gateway
  }

  handle(request: IncomingMessage, response: ServerResponse, body: Buffer | null): void {
    try {
      this.#answer(this.#recognise(request, body), response)
    } catch (error) {
      sendBody(response, this.#failure(error))
    }
  }

  close(): void {
    this.#closing.abort()
    this.faults.close()
    this.ledger.close()
  }

  #recognise(request: IncomingMessage, body: Buffer | null): Recognised {
    const url = new URL(request.url ?? '', 'http://rehearsal')
    if (url.pathname.startsWith('/attachments/')) return this.#download(url)
    const path = /^\/api\/v10(\/.*)$/.exec(url.pathname)?.[1]
    if (path === undefined) throw noRoute()
    if (request.headers.authorization !== `Bot ${this.settings.token}`) throw unauthorized()
    if (body === null) throw new ApiError(413, 40_005, 'Request entity too large')
    const route = findRoute(request.method ?? '', path)
    if (route === undefined) {
      this.#unrehearsed(`${request.method} ${path}`)
      throw noRoute()
    }
    const { name, ids, run } = route
    return { run, call: { method: name, path, ids, query: url.searchParams, ...readBody(request, body) } }
  }

  /** The servers of files ask for no token: the link is the proof. */
  #download(url: URL): Recognised {
    const call = { method: 'download', path: url.pathname, ids: [], query: url.searchParams, body: {}, files: [] }
    return {
      call,
      run: (api) => {
        const file = api.world.fileOf(url)
        if (file === undefined) throw new ApiError(404, 0, 'This content is no longer available.')
        return Buffer.from(file.bytes)
      },
    }
  }

  #answer({ call, run }: Recognised, response: ServerResponse): void {
    const fault = this.faults.take(call)
    const kind = fault?.action.kind
    const effect = () => this.#perform(call, run, kind)
    if (fault === undefined) {
      sendBody(response, effect())
      return
    }
    const skipped = () => this.#record(call, kind)
    void answerThroughFault({ response, fault, closing: this.#closing.signal, effect, skipped }).catch(
      (error: unknown) => sendBody(response, this.#failure(error)),
    )
  }

  #perform(call: RestCall, run: Route, fault: string | undefined): Answer {
    try {
      const headers = this.#limits.take(`${call.method} ${call.ids[0] ?? ''}`)
      const result = run(this.#api, call)
      const isFile = Buffer.isBuffer(result)
      const body = isFile ? result : JSON.stringify(result)
      const answer = result === undefined ? NOTHING : { status: 200, body, headers: {} }
      this.#record(call, fault, { status: answer.status, answer: isFile ? { bytes: result.length } : result })
      return { ...answer, headers: { ...answer.headers, ...headers } }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.#record(call, fault, { status: error.status, answer: error.body() })
      return refusal(error)
    }
  }

  #record(
    { method, path, body, files }: RestCall,
    fault?: string,
    answer: { status?: number; answer?: unknown } = {},
  ): void {
    const sent = files.length === 0 ? {} : { files }
    const entry = { kind: 'call', at: this.world.now(), method, path, body, ...sent, ...answer } as const
    this.ledger.append(fault === undefined ? entry : { ...entry, fault })
  }

  /** An error that is no refusal is a mistake of the rehearsal itself: it is answered as 500 so that it is seen. */
  #failure(error: unknown): Answer {
    if (error instanceof ApiError) return refusal(error)
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#unrehearsed(`internal error: ${what}`)
    return { status: 500, body: JSON.stringify({ message: '500: Internal Server Error', code: 0 }) }
  }

  #unrehearsed(what: string): void {
    this.ledger.append({ kind: 'unrehearsed', at: this.world.now(), what })
  }
}

/** The platform's empty answer: without a body, and not declared as JSON. */
const NOTHING = { status: 204, body: '', headers: { 'content-type': 'text/html; charset=utf-8' } } as const

function refusal(error: ApiError): Answer {
  const { retryAfterSeconds: wait } = error
  const headers = wait === undefined ? {} : { 'retry-after': String(wait), 'x-ratelimit-scope': 'user' }
  return { status: error.status, body: JSON.stringify(error.body()), headers }
}

function botUser({ username = 'parley', botId: id = BOT_ID }: DiscordServerOptions): ApiUser {
  return { id, username, discriminator: '0', global_name: null, avatar: null, bot: true }
}
