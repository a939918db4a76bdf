import type OpenAI from 'openai'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { MediaStore } from '../../core/media.ts'
import {
  type Model,
  type ModelEvent,
  type ModelRequest,
  NO_USAGE,
  type StopReason,
  tokenCount,
  toUsage,
  type Usage,
} from '../../core/model.ts'
import { startIdleTimer } from './idle-timer.ts'
import { type ImageLimits, type Images, loadImages } from './load-images.ts'
import { ModelError, withBegun } from './model-error.ts'
import { addDelta, type GrowingCalls, wholeCalls } from './openai-calls.ts'
import { isPublicApi, notOpenAi, PUBLIC_API, serverName, toModelError } from './openai-errors.ts'
import { fetchForSdk, isBareError } from './openai-fetch.ts'
import { limitParams } from './openai-limits.ts'
import { toWireMessages, toWireTools } from './openai-messages.ts'

interface OpenAiOptions {
  /** The server's name in the configuration, with which the ids of its models begin. Default: openai. */
  readonly name?: string
  /** Absent: none is sent, which servers on one's own machine allow. */
  readonly apiKey?: string
  /** Default: the public API. Never taken from the environment. */
  readonly baseUrl?: string
  /** The server's model name. */
  readonly model: string
  readonly clock: Clock
  readonly media: Pick<MediaStore, 'read'>
  /** Silence after which a stream counts as stalled. Default 60 s. */
  readonly idleMs?: number
}

/**
 * A model behind the Chat Completions API, of OpenAI or of any server that speaks it, by the official SDK, which is
 * loaded only here. The SDK retries nothing, for the reason that `createAnthropic` gives, and takes nothing from the
 * environment.
 */
export async function createOpenAi(options: OpenAiOptions): Promise<Model> {
  const { default: OpenAi } = await import('openai')
  const { apiKey = '', baseUrl = PUBLIC_API } = options
  const client = new OpenAi({
    // The SDK demands a key; the header decides what is sent.
    apiKey: apiKey || 'none',
    baseURL: baseUrl,
    defaultHeaders: { Authorization: apiKey === '' ? null : `Bearer ${apiKey}` },
    ...{ adminAPIKey: null, organization: null, project: null, webhookSecret: null },
    maxRetries: 0,
    logLevel: 'off',
    fetch: fetchForSdk,
  })
  return {
    id: `${options.name ?? 'openai'}/${options.model}`,
    stream: (request, signal) => stream(client, options, { request, signal }),
  }
}

interface Call {
  readonly request: ModelRequest
  readonly signal: AbortSignal
}

async function* stream(
  client: OpenAI,
  { name = 'openai', model, clock, media, apiKey = '', baseUrl = PUBLIC_API, idleMs = 60_000 }: OpenAiOptions,
  { request, signal }: Call,
): AsyncGenerator<ModelEvent, void, void> {
  const images = await loadImages(request.messages, media, IMAGE_LIMITS)
  const idle = startIdleTimer(clock, idleMs)
  const reading: Reading = {
    ...{ calls: [], usage: NO_USAGE, finish: undefined, refused: false, begun: false },
    ...{ server: name, model: `${name}/${model}` },
  }
  try {
    const either = AbortSignal.any([signal, idle.signal])
    const body = bodyOf(request, { model, isPublic: isPublicApi(baseUrl), images })
    const { data, response } = await client.chat.completions.create(body, { signal: either }).withResponse()
    const type = response.headers.get('content-type') ?? ''
    if (!type.startsWith('text/event-stream')) throw notOpenAi(baseUrl, { status: response.status, type })
    for await (const chunk of data) {
      idle.pause()
      const text = read(chunk, reading)
      reading.begun = true
      if (text) yield { type: 'text', delta: text }
      idle.resume()
    }
    // The SDK ends an aborted stream without an error.
    either.throwIfAborted()
  } catch (error) {
    if (signal.aborted) throw new ParleyError('aborted', 'The model call was stopped.')
    const failure = idle.signal.aborted ? stalled(`${name}/${model}`, idleMs) : toModelError(error, { apiKey, baseUrl })
    // Behind the finish reason come the usage and the end of the stream, which an answer can do without.
    if (reading.finish === undefined) throw withBegun(failure, reading.begun)
  } finally {
    idle.pause()
  }
  yield* endOf(reading, serverName(baseUrl))
}

/** The API takes larger images; more than these only fill the conversation. */
const IMAGE_LIMITS: ImageLimits = { most: 50, bytes: 5_000_000 }

function bodyOf(
  request: ModelRequest,
  { model, isPublic, images }: { readonly model: string; readonly isPublic: boolean; readonly images: Images },
): OpenAI.ChatCompletionCreateParamsStreaming {
  const tools = toWireTools(request.tools)
  return {
    model,
    ...limitParams({ model, isPublic }, request),
    messages: toWireMessages(request.system, request.messages, images),
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length === 0 ? {} : { tools }),
  }
}

function stalled(model: string, idleMs: number): ModelError {
  const message = `Nothing came from ${model} for ${idleMs / 1000} s.`
  return new ModelError('model_stalled', message, { advice: { retry: true } })
}

/** One answer as far as it has come. */
interface Reading {
  readonly calls: GrowingCalls
  usage: Usage
  finish: string | undefined
  refused: boolean
  /** The name of its server. */
  readonly server: string
  model: string
  /** A chunk of it has come. */
  begun: boolean
}

/**
 * Returns the text of a chunk. What the model thought, which some servers send beside it, goes nowhere (C26); a refusal
 * shows in the stop reason.
 */
function read(chunk: OpenAI.ChatCompletionChunk, reading: Reading): string | undefined {
  if (isBareError(chunk)) throw Object.assign(new Error('The server broke off.'), { error: chunk, code: chunk.code })
  if (chunk.model) reading.model = `${reading.server}/${chunk.model}`
  if (chunk.usage) reading.usage = usageOf(chunk.usage)
  const [choice] = chunk.choices ?? []
  if (choice === undefined) return undefined
  reading.finish = choice.finish_reason ?? reading.finish
  const { content, refusal, tool_calls } = choice.delta ?? {}
  if (refusal) reading.refused = true
  for (const delta of tool_calls ?? []) addDelta(reading.calls, delta)
  return wordsOf(content)
}

/** Some servers send a list of parts in the place of a text; what is no text at all is nothing. */
function wordsOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  const texts = content.map((part: unknown) =>
    typeof part === 'object' && part !== null && 'text' in part ? part.text : '',
  )
  return texts.filter((text) => typeof text === 'string').join('')
}

/** The calls are complete now. Throws `model_failed` if the answer broke off. */
function* endOf({ finish, usage, model, calls, refused, begun }: Reading, server: string): Generator<ModelEvent> {
  if (finish === undefined || BROKEN.has(finish)) {
    throw new ModelError('model_failed', `The answer of ${server} broke off.`, { advice: { retry: true }, begun })
  }
  for (const call of wholeCalls(calls)) yield { type: 'tool_call', call }
  yield { type: 'end', stop: refused ? 'refused' : stopOf(finish, calls.length > 0), usage, model }
}

/** The words of OpenRouter and DeepSeek for an answer that they could not finish. */
const BROKEN = new Set(['error', 'insufficient_system_resource'])

/** Compatible servers have words of their own for an end in order, and some call tools with `stop`. */
function stopOf(finish: string, callsTools: boolean): StopReason {
  if (finish === 'length') return 'length'
  if (finish === 'content_filter') return 'refused'
  return callsTools ? 'tools' : 'end'
}

/** The API counts what came from the cache among the prompt. */
function usageOf({ prompt_tokens, completion_tokens, prompt_tokens_details }: OpenAI.CompletionUsage): Usage {
  const read = tokenCount(prompt_tokens)
  const cacheRead = Math.min(read, tokenCount(prompt_tokens_details?.cached_tokens))
  return toUsage({ input: read - cacheRead, output: completion_tokens, cacheRead, cacheWrite: 0 })
}
