import type Anthropic from '@anthropic-ai/sdk'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import { type Logger, silentLogger } from '../../core/logger.ts'
import { type MediaStore, MOST_SHOWN_BYTES } from '../../core/media.ts'
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
import { CACHE_MARK, markEnd } from './anthropic-cache.ts'
import { notAnthropic, toModelError } from './anthropic-errors.ts'
import { toWireMessages, toWireTools } from './anthropic-messages.ts'
import { keepThoughts, type ThoughtBlock, temperatureParam, thinkingParams } from './anthropic-thinking.ts'
import { startIdleTimer } from './idle-timer.ts'
import { type ImageLimits, type Images, loadImages } from './load-images.ts'
import { ModelError, withBegun } from './model-error.ts'
import { modelFetch } from './model-fetch.ts'
import { withoutPrinting } from './sdk-warnings.ts'
import { parseArguments } from './tool-arguments.ts'

interface AnthropicOptions {
  /** The server's name in the configuration, with which the ids of its models begin. Default: anthropic. */
  readonly name?: string
  /** Absent: none is sent, which servers on one's own machine allow. */
  readonly apiKey?: string
  /** Default: the public API. Never taken from the environment. */
  readonly baseUrl?: string
  /** The vendor's model name. */
  readonly model: string
  readonly clock: Clock
  readonly media: Pick<MediaStore, 'read'>
  readonly logger?: Logger
  /** Silence after which a stream counts as stalled. Default 60 s. */
  readonly idleMs?: number
}

const PUBLIC_API = 'https://api.anthropic.com'

type StreamEvents = AsyncIterable<Anthropic.RawMessageStreamEvent>

/**
 * A model behind the Messages API, by the official SDK, which is loaded only here. The SDK retries nothing: there is no
 * idempotency key, so a repeated call is billed and generated again and `retry-model.ts` alone decides.
 */
export async function createAnthropic(options: AnthropicOptions): Promise<Model> {
  const sdk = await import('@anthropic-ai/sdk')
  const client = new sdk.Anthropic({
    // The SDK demands a key; the header decides what is sent.
    apiKey: options.apiKey || 'none',
    ...(options.apiKey ? {} : { defaultHeaders: { Authorization: null } }),
    baseURL: options.baseUrl ?? PUBLIC_API,
    maxRetries: 0,
    logLevel: 'off',
    fetch: modelFetch,
  })
  return {
    id: `${options.name ?? 'anthropic'}/${options.model}`,
    stream: (request, signal) => stream(client, options, { request, signal }),
  }
}

interface Call {
  readonly request: ModelRequest
  readonly signal: AbortSignal
}

async function* stream(
  client: Anthropic,
  options: AnthropicOptions,
  { request, signal }: Call,
): AsyncGenerator<ModelEvent, void, void> {
  const { name = 'anthropic', model, clock, media, logger = silentLogger } = options
  const { apiKey = '', baseUrl = PUBLIC_API, idleMs = 60_000 } = options
  const images = await loadImages(request.messages, media, IMAGE_LIMITS)
  const idle = startIdleTimer(clock, idleMs)
  const reading: Reading = {
    ...{ tool: undefined, thought: undefined, usage: NO_USAGE, stop: undefined, begun: false },
    thoughts: [],
    ...{ server: name, model: `${name}/${model}` },
  }
  try {
    const either = AbortSignal.any([signal, idle.signal])
    const body = bodyOf(model, request, images)
    const created = withoutPrinting(() => client.messages.create(body, { signal: either }), logger)
    const { data, response } = await created.withResponse()
    const type = response.headers.get('content-type') ?? ''
    if (!type.startsWith('text/event-stream')) throw notAnthropic(baseUrl, { status: response.status, type })
    const events: StreamEvents = data
    for await (const event of events) {
      idle.pause()
      reading.begun = true
      const known = read(event, reading)
      if (known) yield known
      idle.resume()
    }
    // The SDK ends an aborted stream without an error.
    either.throwIfAborted()
  } catch (error) {
    if (signal.aborted) throw new ParleyError('aborted', 'The model call was stopped.')
    if (idle.signal.aborted) throw stalled(`${name}/${model}`, idleMs)
    throw withBegun(toModelError(error, { apiKey, baseUrl }), reading.begun)
  } finally {
    idle.pause()
  }
  yield endOf(reading)
}

/** The API refuses larger images, and more of them; its limit is on what is sent, which is base64. */
const IMAGE_LIMITS: ImageLimits = { most: 100, bytes: MOST_SHOWN_BYTES }

function bodyOf(model: string, request: ModelRequest, images: Images): Anthropic.MessageCreateParamsStreaming {
  const params = thinkingParams(model, request)
  const thinks = params.thinking?.type === 'enabled' || params.thinking?.type === 'adaptive'
  const messages = toWireMessages(request.messages, { thinks, images })
  const tools = toWireTools(request.tools, messages)
  return {
    model,
    ...params,
    ...temperatureParam(model, request.temperature),
    messages: markEnd(messages),
    stream: true,
    ...(request.system === '' ? {} : { system: [{ type: 'text', text: request.system, ...CACHE_MARK }] }),
    ...(tools.length === 0 ? {} : { tools }),
  }
}

function stalled(model: string, idleMs: number): ModelError {
  const message = `Nothing came from ${model} for ${idleMs / 1000} s.`
  return new ModelError('model_stalled', message, { advice: { retry: true } })
}

/** One answer as far as it has come. */
interface Reading {
  tool: { readonly id: string; readonly name: string; json: string } | undefined
  thought: { type: 'thinking'; thinking: string; signature: string } | undefined
  readonly thoughts: ThoughtBlock[]
  usage: Usage
  stop: StopReason | undefined
  /** The name of its server. */
  readonly server: string
  model: string
  /** An event of it has come. */
  begun: boolean
}

/**
 * Returns the model event for an event of the API, if there is one. Thoughts and their signatures are kept only for the
 * rest of the turn (C26).
 */
function read(event: Anthropic.RawMessageStreamEvent, reading: Reading): ModelEvent | undefined {
  switch (event.type) {
    case 'message_start':
      reading.model = `${reading.server}/${event.message.model}`
      reading.usage = usageOf(event.message.usage, reading.usage)
      return undefined
    case 'content_block_start':
      return readBlock(event.content_block, reading)
    case 'content_block_delta':
      return readDelta(event.delta, reading)
    case 'content_block_stop':
      return closeBlock(reading)
    case 'message_delta':
      reading.stop = stopOf(event.delta.stop_reason)
      reading.usage = usageOf(event.usage, reading.usage)
      return undefined
    case 'message_stop':
      return undefined
  }
}

function readBlock(block: Anthropic.RawContentBlockStartEvent['content_block'], reading: Reading) {
  if (block.type === 'tool_use') reading.tool = { id: block.id, name: block.name, json: '' }
  if (block.type === 'thinking')
    reading.thought = { type: 'thinking', thinking: block.thinking, signature: block.signature }
  if (block.type === 'redacted_thinking') reading.thoughts.push({ type: block.type, data: block.data })
  return block.type === 'text' ? textEvent(block.text) : undefined
}

function readDelta(delta: Anthropic.RawContentBlockDelta, { tool, thought }: Reading): ModelEvent | undefined {
  if (delta.type === 'thinking_delta' && thought) thought.thinking += delta.thinking
  if (delta.type === 'signature_delta' && thought) thought.signature += delta.signature
  if (delta.type === 'input_json_delta' && tool) tool.json += delta.partial_json
  return delta.type === 'text_delta' ? textEvent(delta.text) : undefined
}

function closeBlock(reading: Reading): ModelEvent | undefined {
  const { tool, thought } = reading
  if (thought) reading.thoughts.push(thought)
  reading.thought = undefined
  reading.tool = undefined
  return tool && { type: 'tool_call', call: { id: tool.id, name: tool.name, args: parseArguments(tool.json) } }
}

/** Throws `model_failed` if the answer broke off. */
function endOf({ stop, usage, model, thoughts, begun }: Reading): ModelEvent {
  if (stop) return { type: 'end', stop, usage, model, opaque: keepThoughts(model, thoughts, usage.output) }
  throw new ModelError('model_failed', 'The answer of Anthropic broke off.', { advice: { retry: true }, begun })
}

/** A server in between may send a null where a text belongs. */
function textEvent(delta: unknown): ModelEvent | undefined {
  return typeof delta !== 'string' || delta === '' ? undefined : { type: 'text', delta }
}

interface WireUsage {
  readonly input_tokens: number | null
  readonly cache_creation_input_tokens: number | null
  readonly cache_read_input_tokens: number | null
  readonly output_tokens: number
}

/** `input_tokens` is without the cache. Later counts are cumulative; the last event may leave out the input's. */
function usageOf(wire: Partial<WireUsage> | undefined, before: Usage): Usage {
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = wire ?? {}
  return toUsage({
    input: Math.max(before.input, tokenCount(input_tokens)),
    output: Math.max(before.output, tokenCount(output_tokens)),
    cacheRead: Math.max(before.cacheRead ?? 0, tokenCount(cache_read_input_tokens)),
    cacheWrite: Math.max(before.cacheWrite ?? 0, tokenCount(cache_creation_input_tokens)),
  })
}

/**
 * `pause_turn` belongs to server tools, which are never asked for. A reason that is not known yet ends an answer as
 * well: it came, and is whole.
 */
function stopOf(reason: Anthropic.StopReason | null): StopReason | undefined {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
    case 'pause_turn':
      return 'end'
    case 'tool_use':
      return 'tools'
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    case 'refusal':
      return 'refused'
    case null:
      return undefined
    default:
      return 'end'
  }
}
