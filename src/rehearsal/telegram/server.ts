import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerThroughFault } from '../answering.ts'
import { FaultBook } from '../faults.ts'
import type { Answer, ListenOptions } from '../http-server.ts'
import { sendBody, startHttpServer } from '../http-server.ts'
import { ApiError } from './api-error.ts'
import type { BotApi } from './bot-api.ts'
import type { BotOptions } from './bot-state.ts'
import { createBot } from './bot-state.ts'
import type { Dispatch, TelegramCall } from './dispatch.ts'
import { errorAnswer, perform, recordSkipped } from './dispatch.ts'
import { fileAt } from './files.ts'
import type { FloodLimits } from './flood.ts'
import { FloodControl } from './flood.ts'
import { TelegramLedger } from './ledger-entries.ts'
import { findMethod } from './methods.ts'
import { readParams } from './read-params.ts'
import type { RedeliveryOptions } from './webhook.ts'
import { TelegramWorld } from './world.ts'

export interface TelegramServerOptions extends ListenOptions {
  /** Default: one bot `@parley_bot` with the token `7000001:rehearsal`, in privacy mode. */
  bots?: readonly BotOptions[]
  /** Flood control; none if absent. `telegramFloodLimits` holds the platform's numbers. */
  flood?: FloodLimits
  /** True to refuse a bare `&` and unknown attributes too, the default. */
  strictHtml?: boolean
  /** The repetition of updates to a webhook. Default: the platform's. */
  redelivery?: RedeliveryOptions
  /** Milliseconds since the epoch. Default Date.now. */
  now?: () => number
}

export interface TelegramServer {
  /** The `telegram.apiRoot` of telegraf. */
  readonly apiRoot: string
  /** The token of the first bot. */
  readonly token: string
  /** The driver: people, chats, and their acts. */
  readonly world: TelegramWorld
  readonly ledger: TelegramLedger
  readonly faults: FaultBook<TelegramCall>
  /** Ends held polls and calls and every connection at once. Idempotent. */
  close(): Promise<void>
}

const defaultBots: readonly BotOptions[] = [{ token: '7000001:rehearsal' }]
/** So few that bots, each with numbers of its own in a group, give different messages the same ones. */
const AHEAD = 2
const maxBodyBytes = 50 * 1024 * 1024

/** Starts a Bot API server on loopback. Nothing is shared between two servers of one process. */
export async function startTelegramServer(options: TelegramServerOptions = {}): Promise<TelegramServer> {
  const rehearsal = new TelegramRehearsal(options)
  const http = await startHttpServer(options, {
    maxBodyBytes,
    handle: (request, response, body) => rehearsal.handle(request, response, body),
  })
  const { world, ledger, faults } = rehearsal
  const close = () => {
    rehearsal.close()
    return http.close()
  }
  return { apiRoot: http.url, token: world.bot().token, world, ledger, faults, close }
}

class TelegramRehearsal {
  readonly ledger = new TelegramLedger()
  readonly world: TelegramWorld
  readonly faults: FaultBook<TelegramCall>
  readonly #apis = new Map<string, BotApi>()
  readonly #closing = new AbortController()

  constructor(options: TelegramServerOptions) {
    // Any number of calls may be delayed or held at a time.
    setMaxListeners(0, this.#closing.signal)
    const now = options.now ?? Date.now
    const { ledger } = this
    const bots = (options.bots ?? defaultBots).map((bot, at) =>
      createBot(
        { ahead: AHEAD * at, ...bot },
        { now, record: (entry) => ledger.append(entry), redelivery: options.redelivery ?? {} },
      ),
    )
    this.world = new TelegramWorld({ bots, ledger, now })
    this.faults = new FaultBook(now)
    const flood = options.flood === undefined ? null : new FloodControl(options.flood, now)
    const unrehearsed = (what: string) => ledger.append({ kind: 'unrehearsed', at: now(), what })
    const textRules = { strictHtml: options.strictHtml ?? true, unrehearsed }
    for (const bot of bots) this.#apis.set(bot.token, { world: this.world, bot, ledger, flood, textRules })
  }

  handle(request: IncomingMessage, response: ServerResponse, body: Buffer | null): void {
    try {
      this.#answer(this.#recognise(request, response, body), response)
    } catch (error) {
      sendBody(response, this.#failure(error))
    }
  }

  close(): void {
    this.#closing.abort()
    this.faults.close()
    for (const { bot } of this.#apis.values()) {
      bot.poller.close()
      bot.webhook.close()
    }
    this.ledger.close()
  }

  #answer(dispatch: Omit<Dispatch, 'fault'>, response: ServerResponse): void {
    const fault = this.faults.take(dispatch.call)
    const faulty = { ...dispatch, fault: fault?.action.kind }
    if (fault === undefined) {
      const answer = perform(faulty)
      if (answer instanceof Promise) void this.#sendLater(response, answer)
      else sendBody(response, answer)
      return
    }
    const effect = () => perform(faulty)
    const skipped = () => recordSkipped(faulty)
    void this.#guard(response, answerThroughFault({ response, fault, closing: this.#closing.signal, effect, skipped }))
  }

  async #sendLater(response: ServerResponse, answer: Promise<Answer>): Promise<void> {
    await this.#guard(
      response,
      answer.then((ready) => {
        if (!this.#closing.signal.aborted) sendBody(response, ready)
      }),
    )
  }

  async #guard(response: ServerResponse, work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => sendBody(response, this.#failure(error)))
  }

  #recognise(request: IncomingMessage, response: ServerResponse, body: Buffer | null): Omit<Dispatch, 'fault'> {
    const { token, method: name, isFile } = splitPath(request.url ?? '')
    const api = this.#apis.get(token)
    if (api === undefined) throw unknownToken(token)
    if (isFile) {
      const call = { botId: api.bot.user.id, method: 'download', params: { path: name } }
      return { api, call, run: () => fileAt(api.world, name), gone: () => goneSignal(response) }
    }
    if (body === null) throw new ApiError(413, 'Request Entity Too Large')
    const method = findMethod(name)
    if (method === undefined) {
      api.textRules.unrehearsed(`method ${name}`)
      throw new ApiError(404, 'Not Found: method not found')
    }
    const params = readParams(request, body)
    const call = { botId: api.bot.user.id, method: method.name, params }
    return { api, call, run: method.run, gone: () => goneSignal(response) }
  }

  /** An error that is no refusal is a mistake of the rehearsal itself: it is answered as 500 so that it is seen. */
  #failure(error: unknown): Answer {
    if (error instanceof ApiError) return errorAnswer(error)
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.ledger.append({ kind: 'unrehearsed', at: this.world.now(), what: `internal error: ${what}` })
    return errorAnswer(new ApiError(500, `Internal Server Error: ${what}`))
  }
}

/** `/bot<token>/<method>?query`, or `/file/bot<token>/<path>` for a file. */
function splitPath(url: string): { token: string; method: string; isFile: boolean } {
  const query = url.indexOf('?')
  const whole = query === -1 ? url : url.slice(0, query)
  const isFile = whole.startsWith('/file/')
  const path = isFile ? whole.slice('/file'.length) : whole
  const slash = path.indexOf('/', 1)
  if (!path.startsWith('/bot') || slash === -1) throw new ApiError(404, 'Not Found')
  const token = path.slice('/bot'.length, slash)
  return { token: token.includes('%') ? decodeURIComponent(token) : token, method: path.slice(slash + 1), isFile }
}

function unknownToken(token: string): ApiError {
  return /^\d+:[\w-]+$/.test(token) ? new ApiError(401, 'Unauthorized') : new ApiError(404, 'Not Found')
}

/** The caller may be gone already: a fault can hold a call for any time. */
function goneSignal(response: ServerResponse): AbortSignal {
  if (response.destroyed) return AbortSignal.abort()
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}
