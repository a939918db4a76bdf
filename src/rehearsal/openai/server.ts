import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FaultyCall } from '../answering.ts'
import { meet } from '../answering.ts'
import type { Interruption } from '../faults.ts'
import { FaultBook } from '../faults.ts'
import type { ListenOptions } from '../http-server.ts'
import { sendBody, startHttpServer } from '../http-server.ts'
import { parseStrictly } from '../parse-strictly.ts'
import { ChatError, type ErrorFields, errorJson, invalid } from './api-error.ts'
import { readSpeech, readTranscription, speechOf, transcriptOf } from './audio.ts'
import { ChatLedger, type EndedEntry } from './ledger-entries.ts'
import { playStream, playWhole } from './play-reply.ts'
import { PromptPrefixes, type PromptUsage } from './prompt-prefixes.ts'
import { buildCompletion } from './reply-completion.ts'
import type { ChatRequest } from './request.ts'
import type { ErrorReply, Script } from './script.ts'
import { echoScript } from './script.ts'
import { validateRequest } from './validate.ts'

export interface OpenAiServerOptions extends ListenOptions {
  /** Default `rehearsal-key`. */
  apiKey?: string
  /** Takes calls with any key and without one, as servers on one's own machine do. */
  keyless?: boolean
  /** Default: echo of the last user text. Can be changed while the server runs. */
  script?: Script
  /** The models that exist; if absent, every name does. */
  models?: readonly string[]
  /** The most tokens of a prompt, as they are estimated. Default: no limit. */
  contextTokens?: number
  /** Milliseconds since the epoch. Default Date.now. */
  now?: () => number
}

/** The call as the `where` of a fault sees it: the parsed body, before validation. */
export interface ChatCall {
  readonly method: 'chat' | 'models' | 'transcriptions' | 'speech'
  readonly body: unknown
}

export interface OpenAiServer {
  /** The SDK's `baseURL`, which ends in `/v1`. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly ledger: ChatLedger
  /** Faults around a whole request; a fault inside a stream belongs to the reply. */
  readonly faults: FaultBook<ChatCall, Interruption>
  setScript(script: Script): void
  /** Ends stalls, holds and every connection at once. Idempotent. */
  close(): Promise<void>
}

const maxBodyBytes = 50 * 1024 * 1024

/** Starts a Chat Completions server on loopback. Nothing is shared between two servers of one process. */
export async function startOpenAiServer(options: OpenAiServerOptions = {}): Promise<OpenAiServer> {
  const rehearsal = new ChatRehearsal(options)
  const http = await startHttpServer(options, {
    maxBodyBytes,
    handle: (request, response, body) => void rehearsal.handle(request, response, body),
  })
  const { apiKey, ledger, faults } = rehearsal
  const close = () => {
    rehearsal.close()
    return http.close()
  }
  const baseUrl = `${http.url}/v1`
  return { baseUrl, apiKey, ledger, faults, setScript: (script) => rehearsal.setScript(script), close }
}

class ChatRehearsal {
  readonly apiKey: string
  readonly ledger = new ChatLedger()
  readonly faults: FaultBook<ChatCall, Interruption>
  readonly #options: OpenAiServerOptions
  readonly #now: () => number
  readonly #prefixes = new PromptPrefixes()
  readonly #closing = new AbortController()
  #script: Script
  #requests = 0
  #turns = 0

  constructor(options: OpenAiServerOptions) {
    // Any number of calls may be delayed or held at a time.
    setMaxListeners(0, this.#closing.signal)
    this.apiKey = options.apiKey ?? 'rehearsal-key'
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

  async #serve(received: Received): Promise<void> {
    const { request, response } = received
    const method = methodOf(request)
    const apiKey = this.#authenticate(request)
    const body = method === 'chat' || method === 'speech' ? parseJson(received.body) : undefined
    const fault = this.faults.take({ method, body })
    const faulty = fault === undefined ? undefined : { response, fault, closing: this.#closing.signal }
    if (faulty !== undefined && !(await meet(faulty, 'before'))) {
      return this.ledger.append({ kind: 'skipped', at: this.#now(), fault: faulty.fault.action.kind })
    }
    if (method === 'models') return this.#listModels(received)
    if (method === 'transcriptions' || method === 'speech') return this.#answerSound(method, received, faulty)
    await this.#answer(received, { body, apiKey }, faulty)
  }

  /** Hears a recording, or speaks a text. */
  async #answerSound(
    method: 'transcriptions' | 'speech',
    { request, response, body }: Received,
    faulty: Pick<FaultyCall, 'response' | 'fault' | 'closing'> | undefined,
  ): Promise<void> {
    const at = this.#now()
    if (body === null) throw new ChatError(413, 'Maximum content size limit exceeded.')
    if (method === 'transcriptions') {
      const heard = readTranscription(request.headers['content-type'] ?? '', body)
      this.ledger.append({ kind: 'heard', at, request: heard })
      if (faulty !== undefined && !(await meet(faulty, 'after'))) return
      return sendBody(response, { status: 200, body: JSON.stringify(transcriptOf(heard)) })
    }
    const asked = readSpeech(parseJson(body))
    this.ledger.append({ kind: 'spoke', at, request: asked })
    if (faulty !== undefined && !(await meet(faulty, 'after'))) return
    const { type, bytes } = speechOf(asked)
    response.writeHead(200, { 'content-type': type, 'content-length': bytes.length })
    response.end(bytes)
  }

  /** Answers a list, or one model by its name. */
  #listModels({ request, response }: Received): void {
    const known = (this.#options.models ?? []).map((id) => ({ id, object: 'model', created: 0, owned_by: 'rehearsal' }))
    const name = decodeURIComponent(pathOf(request).slice('/v1/models/'.length))
    const one = known.find(({ id }) => id === name)
    if (name !== '' && one === undefined) throw unknownModel(name)
    sendBody(response, { status: 200, body: JSON.stringify(one ?? { object: 'list', data: known }) })
  }

  async #answer(
    { request: { headers }, response, requestId }: Received,
    { body, apiKey }: { body: unknown; apiKey: string },
    faulty: Pick<FaultyCall, 'response' | 'fault' | 'closing'> | undefined,
  ): Promise<void> {
    const at = this.#now()
    const request = this.#validate(body)
    const prompt = this.#prefixes.count(request, { apiKey, at })
    this.#checkRoom(prompt)
    const turn = this.#turns++
    this.ledger.append({ kind: 'accepted', at, turn, request, headers: Object.keys(headers) })
    const reply = await this.#script(request, turn)
    if (faulty !== undefined && !(await meet(faulty, 'after'))) return this.#ended(turn, { how: 'cut', deltas: 0 })
    if ('error' in reply) return this.#answerError(response, reply, requestId)
    const completion = buildCompletion(reply, { model: request.model, turn, at, prompt })
    const includeUsage = request.stream_options?.include_usage === true
    const playing = { ...{ response, completion, reply, includeUsage, turn, requestId }, closing: this.#closing.signal }
    const ending = await (request.stream === true ? playStream(playing) : playWhole(playing))
    this.#ended(turn, { ...ending, usage: completion.usage })
  }

  #validate(body: unknown): ChatRequest {
    const request = validateRequest(body)
    const { models } = this.#options
    if (models !== undefined && !models.includes(request.model)) throw unknownModel(request.model)
    return request
  }

  #checkRoom({ prompt_tokens: tokens }: PromptUsage): void {
    const { contextTokens = Number.POSITIVE_INFINITY } = this.#options
    if (tokens <= contextTokens) return
    throw invalid(
      `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      'messages',
      'context_length_exceeded',
    )
  }

  #ended(turn: number, ending: Pick<EndedEntry, 'how' | 'deltas' | 'usage'>): void {
    this.ledger.append({ kind: 'ended', at: this.#now(), turn, ...ending })
  }

  #answerError(response: ServerResponse, { error }: ErrorReply, requestId: string): void {
    const { status, retryAfterSeconds } = error
    const headers: Record<string, string> = { ...error.headers }
    if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
    this.#sendError(response, error, { status, headers: { ...headers, 'x-request-id': requestId } })
  }

  /** Returns the key of the caller. */
  #authenticate({ headers }: IncomingMessage): string {
    const given = headers.authorization?.replace(/^Bearer /i, '') ?? ''
    if (this.#options.keyless || given === this.apiKey) return given
    if (given === '') {
      throw new ChatError(
        401,
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
      )
    }
    throw new ChatError(
      401,
      `Incorrect API key provided: ${masked(given)}. You can find your API key at https://platform.openai.com/account/api-keys.`,
      { code: 'invalid_api_key' },
    )
  }

  /**
   * An error that is no refusal is a mistake of the script or the rehearsal: it is answered as 500 so that it is seen.
   */
  #refuse(response: ServerResponse, error: unknown, requestId: string): void {
    const message = error instanceof Error ? error.message : String(error)
    const known = error instanceof ChatError ? error : new ChatError(500, message, { type: 'server_error' })
    this.#sendError(response, known, { status: known.status, headers: { 'x-request-id': requestId } })
  }

  #sendError(
    response: ServerResponse,
    error: ErrorFields,
    { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  ): void {
    const { code = null, message } = error
    this.ledger.append({ kind: 'refused', at: this.#now(), status, code, message })
    if (response.headersSent) response.socket?.destroy()
    else sendBody(response, { status, body: errorJson(error), headers })
  }
}

interface Received {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer | null
  readonly requestId: string
}

const SOUND = ['transcriptions', 'speech'] as const

function methodOf(request: IncomingMessage): ChatCall['method'] {
  const { method } = request
  const path = pathOf(request)
  const models = path === '/v1/models' || path.startsWith('/v1/models/')
  const sound = SOUND.find((name) => path === `/v1/audio/${name}`)
  if (sound !== undefined && method === 'POST') return sound
  if (!models && path !== '/v1/chat/completions') throw new ChatError(404, `Invalid URL (${method} ${path})`)
  if (method === (models ? 'GET' : 'POST')) return models ? 'models' : 'chat'
  throw new ChatError(405, `Not allowed to ${method} on ${path}.`, { code: 'method_not_supported' })
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?')[0] ?? ''
}

function unknownModel(name: string): ChatError {
  const message = `The model \`${name}\` does not exist or you do not have access to it.`
  return new ChatError(404, message, { code: 'model_not_found' })
}

function masked(key: string): string {
  return key.length < 12 ? key : `${key.slice(0, 8)}${'*'.repeat(key.length - 12)}${key.slice(-4)}`
}

function parseJson(body: Buffer | null): unknown {
  if (body === null) throw new ChatError(413, 'Request body is too large.', { code: 'request_too_large' })
  try {
    return parseStrictly(body.toString())
  } catch {
    throw invalid(
      'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)',
    )
  }
}
