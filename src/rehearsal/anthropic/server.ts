import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FaultyCall } from '../answering.ts'
import { meet } from '../answering.ts'
import type { Interruption } from '../faults.ts'
import { FaultBook } from '../faults.ts'
import type { ListenOptions } from '../http-server.ts'
import { sendBody, startHttpServer } from '../http-server.ts'
import { parseStrictly } from '../parse-strictly.ts'
import { errorJson, invalid, MessagesError } from './api-error.ts'
import { IMITATIONS, type Imitator } from './imitations.ts'
import { type EndedEntry, MessagesLedger } from './ledger-entries.ts'
import { playStream, playWhole } from './play-reply.ts'
import { PromptCache } from './prompt-cache.ts'
import { buildReply } from './reply-message.ts'
import type { MessagesRequest } from './request.ts'
import type { ErrorReply, Script } from './script.ts'
import { echoScript } from './script.ts'
import { SentMessages, type ThinkingType } from './thinking.ts'
import { validateRequest } from './validate.ts'

export interface AnthropicServerOptions extends ListenOptions {
  /** Default `rehearsal-key`. */
  apiKey?: string
  /** Keys of other organisations, which share no cached prompt with anybody. */
  otherApiKeys?: readonly string[]
  /** Default: echo of the last user text. Can be changed while the server runs. */
  script?: Script
  /** The models that exist; if absent, every name does. */
  models?: readonly string[]
  /** Another vendor's server that speaks this API, with less care for it. Default: Anthropic's own. */
  imitates?: Imitator
  /** The kinds of thinking that each model here refuses, besides those that its name says it does. */
  refusesThinking?: readonly ThinkingType[]
  /** Milliseconds since the epoch. Default Date.now. */
  now?: () => number
}

/** The call as the `where` of a fault sees it: the parsed body, before validation. */
export interface MessagesCall {
  readonly method: 'messages'
  readonly body: unknown
}

export interface AnthropicServer {
  /** The SDK's `baseURL`. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly ledger: MessagesLedger
  /** Faults around a whole request; a fault inside a stream belongs to the reply. */
  readonly faults: FaultBook<MessagesCall, Interruption>
  setScript(script: Script): void
  /**
   * Ends stalls, holds and every connection at once. Idempotent.
   * @throws AggregateError of what a script threw: a test that passes with the 500 would prove nothing.
   */
  close(): Promise<void>
}

const maxBodyBytes = 32 * 1024 * 1024

/** Starts a Messages API server on loopback. Nothing is shared between two servers of one process. */
export async function startAnthropicServer(options: AnthropicServerOptions = {}): Promise<AnthropicServer> {
  const rehearsal = new MessagesRehearsal(options)
  const http = await startHttpServer(options, {
    maxBodyBytes,
    handle: (request, response, body) => void rehearsal.handle(request, response, body),
  })
  const { apiKey, ledger, faults } = rehearsal
  const close = async () => {
    rehearsal.close()
    await http.close()
    const { mistakes } = rehearsal
    if (mistakes.length > 0) throw new AggregateError(mistakes, `The model's script threw ${String(mistakes[0])}`)
  }
  return { baseUrl: http.url, apiKey, ledger, faults, setScript: (script) => rehearsal.setScript(script), close }
}

class MessagesRehearsal {
  readonly apiKey: string
  readonly ledger = new MessagesLedger()
  readonly faults: FaultBook<MessagesCall, Interruption>
  readonly mistakes: unknown[] = []
  readonly #options: AnthropicServerOptions
  readonly #sent = new SentMessages()
  readonly #now: () => number
  readonly #apiKeys: ReadonlySet<string>
  readonly #cache = new PromptCache()
  readonly #closing = new AbortController()
  #script: Script
  #requests = 0
  #turns = 0

  constructor(options: AnthropicServerOptions) {
    // Any number of calls may be delayed or held at a time.
    setMaxListeners(0, this.#closing.signal)
    this.apiKey = options.apiKey ?? 'rehearsal-key'
    this.#apiKeys = new Set([this.apiKey, ...(options.otherApiKeys ?? [])])
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#script = options.script ?? echoScript
    this.faults = new FaultBook(this.#now)
  }

  setScript(script: Script): void {
    this.#script = script
  }

  async handle(request: IncomingMessage, response: ServerResponse, body: Buffer | null): Promise<void> {
    const requestId = `req_rehearsal${String(this.#requests++).padStart(6, '0')}`
    try {
      await this.#serve({ request, response, body, requestId })
    } catch (error) {
      this.#refuse(response, error, requestId)
    }
  }

  close(): void {
    this.#closing.abort()
    this.faults.close()
    this.ledger.close()
  }

  async #serve(call: Received): Promise<void> {
    checkPath(call.request)
    const apiKey = this.#authenticate(call.request)
    if (call.body === null) throw new MessagesError(413, 'request_too_large', 'Request exceeds the maximum size')
    const body = parseJson(call.body)
    const { response } = call
    const fault = this.faults.take({ method: 'messages', body })
    const faulty = fault === undefined ? undefined : { response, fault, closing: this.#closing.signal }
    if (faulty !== undefined && !(await meet(faulty, 'before'))) {
      return this.ledger.append({ kind: 'skipped', at: this.#now(), fault: faulty.fault.action.kind })
    }
    await this.#answer(call, { body, apiKey }, faulty)
  }

  async #answer(
    { response, requestId }: Received,
    { body, apiKey }: { body: unknown; apiKey: string },
    faulty: Pick<FaultyCall, 'response' | 'fault' | 'closing'> | undefined,
  ): Promise<void> {
    const request = this.#validate(body)
    const turn = this.#turns++
    const at = this.#now()
    this.ledger.append({ kind: 'accepted', at, turn, request })
    const { usage: input, begin } = this.#cache.count({ request, apiKey, at })
    const reply = await this.#script(request, turn)
    if (faulty !== undefined && !(await meet(faulty, 'after'))) return this.#ended(turn, { how: 'cut', deltas: 0 })
    if ('error' in reply) return this.#answerError(response, reply, requestId)
    const { imitates } = this.#options
    const quirks = { ...(imitates && IMITATIONS[imitates].quirks), ...reply.quirks }
    const message = buildReply(reply, { model: request.model, turn, input, quirks })
    this.#sent.add(message)
    const playing = { response, message, reply, requestId, begin, quirks, closing: this.#closing.signal }
    const ending = await (request.stream === true ? playStream(playing) : playWhole(playing))
    this.#ended(turn, { ...ending, usage: message.usage })
  }

  #validate(body: unknown): MessagesRequest {
    const { imitates, refusesThinking, models } = this.#options
    const request = validateRequest(body, { sent: this.#sent, imitates, refusesThinking })
    if (models !== undefined && !models.includes(request.model)) {
      throw new MessagesError(404, 'not_found_error', `model: ${request.model}`)
    }
    return request
  }

  #ended(turn: number, ending: Pick<EndedEntry, 'how' | 'deltas' | 'usage'>): void {
    this.ledger.append({ kind: 'ended', at: this.#now(), turn, ...ending })
  }

  #answerError(response: ServerResponse, { error }: ErrorReply, requestId: string): void {
    const { status, type, message = type, retryAfterSeconds, body = errorJson(type, message, requestId) } = error
    this.ledger.append({ kind: 'refused', at: this.#now(), status, type, message })
    const headers: Record<string, string> = { 'request-id': requestId, ...error.headers }
    if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
    sendBody(response, { status, body: typeof body === 'string' ? body : JSON.stringify(body), headers })
  }

  /** Returns the key of the caller. */
  #authenticate({ headers }: IncomingMessage): string {
    const given = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /i, '')
    if (given === undefined || given === '') throw unauthorized('x-api-key header is required')
    if (!this.#apiKeys.has(String(given))) throw unauthorized('invalid x-api-key')
    const version = headers['anthropic-version']
    if (version === undefined || version === '') throw invalid('anthropic-version: header is required')
    if (!/^\d{4}-\d\d-\d\d$/.test(String(version))) {
      throw invalid(`anthropic-version: "${version}" is not a valid version`)
    }
    return String(given)
  }

  /** An error that is no refusal is a mistake of the script or the rehearsal: it is answered as 500 and kept. */
  #refuse(response: ServerResponse, error: unknown, requestId: string): void {
    const known = error instanceof MessagesError
    if (!known) this.mistakes.push(error)
    const message = error instanceof Error ? error.message : String(error)
    const { status, type } = known ? error : { status: 500, type: 'api_error' }
    this.ledger.append({ kind: 'refused', at: this.#now(), status, type, message })
    if (response.headersSent) response.socket?.destroy()
    else sendBody(response, { status, body: errorJson(type, message, requestId), headers: { 'request-id': requestId } })
  }
}

interface Received {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer | null
  readonly requestId: string
}

function checkPath({ url = '', method }: IncomingMessage): void {
  if (url.split('?')[0] !== '/v1/messages') throw new MessagesError(404, 'not_found_error', 'Not Found')
  if (method !== 'POST') throw new MessagesError(405, 'invalid_request_error', 'Method Not Allowed')
}

function unauthorized(message: string): MessagesError {
  return new MessagesError(401, 'authentication_error', message)
}

function parseJson(body: Buffer): unknown {
  try {
    return parseStrictly(body.toString())
  } catch {
    throw invalid('The request body is not valid JSON')
  }
}
