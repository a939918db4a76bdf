import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FaultyCall } from '../answering.ts'
import { meet } from '../answering.ts'
import type { Interruption } from '../faults.ts'
import { FaultBook } from '../faults.ts'
import type { ListenOptions } from '../http-server.ts'
import { sendBody, startHttpServer } from '../http-server.ts'
import { parseStrictly } from '../parse-strictly.ts'
import { ChatError, invalid } from './api-error.ts'
import { readSpeech, readTranscription, speechOf, transcriptOf } from './audio.ts'
import { writeChunk } from './chunks.ts'
import { type Dialect, dialectOf, type Limits, refusedBy } from './dialects.ts'
import { ChatLedger, type EndedEntry } from './ledger-entries.ts'
import { playStream, playWhole } from './play-reply.ts'
import { PromptPrefixes } from './prompt-prefixes.ts'
import { errorReply, refused } from './refusals.ts'
import type { DialectName, Refused } from './refused.ts'
import { buildCompletion, type Completion, signatureOf, thoughtsOf } from './reply-completion.ts'
import type { ChatRequest } from './request.ts'
import type { ErrorReply, Script } from './script.ts'
import { echoScript } from './script.ts'
import { SentSteps } from './sent-steps.ts'
import { fieldsToReturn } from './thoughts.ts'
import { validateRequest } from './validate.ts'

export interface OpenAiServerOptions extends ListenOptions, Limits {
  /** The server that this one is like. Default: OpenAI. */
  dialect?: DialectName
  /** Default `rehearsal-key`. */
  apiKey?: string
  /** Takes calls with any key and without one, as servers on one's own machine do. */
  keyless?: boolean
  /** Default: echo of the last user text. Can be changed while the server runs. */
  script?: Script
  /** The models that exist; if absent, every name does. */
  models?: readonly string[]
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
  readonly #dialect: Dialect
  readonly #prefixes = new PromptPrefixes()
  readonly #sent = new SentSteps()
  readonly #closing = new AbortController()
  #script: Script
  #requests = 0
  #turns = 0

  constructor(options: OpenAiServerOptions) {
    // Any number of calls may be delayed or held at a time.
    setMaxListeners(0, this.#closing.signal)
    this.apiKey = options.apiKey ?? 'rehearsal-key'
    this.#options = options
    this.#dialect = dialectOf(options.dialect)
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
    const apiKey = request.headers.authorization?.replace(/^Bearer /i, '') ?? ''
    if (!this.#options.keyless && apiKey !== this.apiKey) {
      return this.#sendError(response, refused('noKey', this.#dialect.name, { value: apiKey }), received.requestId)
    }
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
    const sent = this.#sent
    const wrong = refusedBy(this.#dialect, request, { limits: this.#options, sent, tokens: prompt.prompt_tokens })
    if (wrong !== undefined) return this.#sendError(response, wrong, requestId)
    const turn = this.#turns++
    this.ledger.append({ kind: 'accepted', at, turn, request, headers: Object.keys(headers) })
    const reply = await this.#script(request, turn)
    if (faulty !== undefined && !(await meet(faulty, 'after'))) return this.#ended(turn, { how: 'cut', deltas: 0 })
    if ('error' in reply) return this.#sendReply(response, reply, requestId)
    const dialect = this.#dialect
    const completion = buildCompletion(reply, { model: request.model, turn, at, prompt, dialect })
    this.#remember(completion, thoughtsOf(reply), turn)
    const playing = {
      ...{ response, completion, reply, requestId, closing: this.#closing.signal },
      includeUsage: request.stream_options?.include_usage === true,
      quirks: { ...dialect.quirks, ...reply.quirks },
      thoughts: { form: dialect.thoughts, signature: signatureOf(turn) },
    }
    const ending = await (request.stream === true ? playStream(playing) : playWhole(playing))
    this.#ended(turn, { ...ending, usage: completion.usage })
  }

  #remember({ model, choices: [{ message }] }: Completion, thoughts: string, turn: number): void {
    const { tool_calls: calls = [] } = message
    this.#sent.add({ model, calls, thoughts, signature: signatureOf(turn), fields: fieldsToReturn(message) })
  }

  #validate(body: unknown): ChatRequest {
    const own = this.#dialect.name === 'openai' || this.#dialect.name === 'azure'
    const request = validateRequest(body, own)
    const { models } = this.#options
    if (models !== undefined && !models.includes(request.model)) throw unknownModel(request.model)
    return request
  }

  #ended(turn: number, ending: Pick<EndedEntry, 'how' | 'deltas' | 'usage'>): void {
    this.ledger.append({ kind: 'ended', at: this.#now(), turn, ...ending })
  }

  /**
   * An error that is no refusal is a mistake of the script or the rehearsal: it is answered as 500 so that it is seen.
   */
  #refuse(response: ServerResponse, error: unknown, requestId: string): void {
    const message = error instanceof Error ? error.message : String(error)
    const known = error instanceof ChatError ? error : new ChatError(500, message, { type: 'server_error' })
    this.#sendError(response, known.asRefused(), requestId)
  }

  #sendError(response: ServerResponse, refused: Refused, requestId: string): void {
    this.#sendReply(response, errorReply(this.#dialect.name, refused), requestId)
  }

  #sendReply(response: ServerResponse, { error }: ErrorReply, requestId: string): void {
    const { status, code = null, message, retryAfterSeconds } = error
    this.ledger.append({ kind: 'refused', at: this.#now(), status, code, message })
    if (response.headersSent) {
      response.socket?.destroy()
      return
    }
    const { body = errorReply(this.#dialect.name, error).error.body, inStream } = error
    const wait = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
    const headers = { ...error.headers, ...wait, 'x-request-id': requestId }
    const stream = { ...headers, 'content-type': 'text/event-stream; charset=utf-8' }
    const answer = inStream
      ? { status: 200, body: writeChunk(Object(body), 'error'), headers: stream }
      : { status, body: JSON.stringify(body, null, 2), headers }
    sendBody(response, answer)
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
