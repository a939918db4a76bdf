import type Anthropic from '@anthropic-ai/sdk'
import {
  type ModelEvent,
  type ModelToolCall,
  NO_USAGE,
  type Opaque,
  type StopReason,
  tokenCount,
  toUsage,
  type Usage,
} from '../../core/model.ts'
import type { PlacedBlock, ThoughtBlock } from './anthropic-request.ts'
import { ownId } from './call-ids.ts'
import { failureIn, type ServerPlace, serverName } from './failure.ts'
import { ModelError } from './model-error.ts'
import { MOST_CALLS, parseArguments, writtenArguments } from './tool-arguments.ts'

/** One answer as far as it has come. */
export interface MessageReading {
  /** By their index, in the order in which they began. */
  readonly blocks: Map<number, Block>
  usage: Usage
  /** The reason for the end, in the words of the server. */
  reason: string | undefined
  /** The server has said that nothing follows. */
  over: boolean
  model: string
}

type Block =
  | { type: 'text'; length: number }
  | { type: 'thought'; block: ThoughtBlock }
  | { type: 'call'; id: unknown; name: string; input: unknown; json: string; fields: Readonly<Record<string, unknown>> }

export function beginReading(model: string): MessageReading {
  return { blocks: new Map(), usage: NO_USAGE, reason: undefined, over: false, model }
}

/**
 * Returns the model events for an event of the API. Thoughts and their signatures are kept for the server alone (C26).
 * Pieces of blocks belong together by their index, whatever their order; a block may lack its end. A second beginning
 * of the message, which gateways send after a failure of their own, begins the answer anew.
 */
export function readEvent(sent: object, server: ServerPlace, reading: MessageReading): readonly ModelEvent[] {
  const failure = failureIn(sent, server)
  if (failure !== undefined) throw failure
  const event = sent as Anthropic.RawMessageStreamEvent
  switch (event.type) {
    case 'message_start':
      return startMessage(event.message, server.name, reading)
    case 'content_block_start':
      return startBlock(event.index, event.content_block, reading)
    case 'content_block_delta':
      return addDelta(event.index, event.delta, reading)
    case 'message_delta':
      reading.reason = event.delta?.stop_reason ?? reading.reason
      reading.usage = usageOf(event.usage, reading.usage)
      return []
    case 'message_stop':
      reading.over = true
      return []
    default:
      return []
  }
}

function startMessage(
  message: Partial<Anthropic.Message> | undefined,
  server: string,
  reading: MessageReading,
): readonly ModelEvent[] {
  const hadText = [...reading.blocks.values()].some((block) => block.type === 'text' && block.length > 0)
  reading.blocks.clear()
  if (message?.model) reading.model = `${server}/${message.model}`
  reading.usage = usageOf(message?.usage, reading.usage)
  return hadText ? [{ type: 'retract' }] : []
}

type StartedBlock = Partial<Anthropic.RawContentBlockStartEvent['content_block']> & {
  readonly [field: string]: unknown
}

function startBlock(
  index: number,
  started: Anthropic.RawContentBlockStartEvent['content_block'],
  reading: MessageReading,
): readonly ModelEvent[] {
  const known = reading.blocks.get(index)
  const block = started as unknown as StartedBlock
  const { type, id, name, input, ...fields } = block
  if (type === 'text') {
    if (known?.type !== 'text') reading.blocks.set(index, { type, length: 0 })
    return textEvents(index, block.text, reading)
  }
  if (known !== undefined) return []
  if (reading.blocks.size >= MOST_CALLS)
    throw new ModelError('model_failed', `The answer has more than ${MOST_CALLS} blocks.`, { advice: { retry: false } })
  if (type === 'tool_use') {
    reading.blocks.set(index, { type: 'call', id, name: typeof name === 'string' ? name : '', input, json: '', fields })
  }
  if (type === 'thinking') {
    const signature = typeof block.signature === 'string' ? { signature: block.signature } : {}
    reading.blocks.set(index, {
      type: 'thought',
      block: { type, thinking: String(block.thinking ?? ''), ...signature },
    })
  }
  if (type === 'redacted_thinking')
    reading.blocks.set(index, { type: 'thought', block: { type, data: String(block.data ?? '') } })
  return []
}

function addDelta(
  index: number,
  delta: Anthropic.RawContentBlockDelta,
  reading: MessageReading,
): readonly ModelEvent[] {
  const block = reading.blocks.get(index)
  switch (delta?.type) {
    case 'text_delta':
      if (block === undefined) reading.blocks.set(index, { type: 'text', length: 0 })
      return textEvents(index, delta.text, reading)
    case 'input_json_delta':
      if (block?.type === 'call') block.json += delta.partial_json ?? ''
      return []
    case 'thinking_delta':
      if (block === undefined) reading.blocks.set(index, { type: 'thought', block: { type: 'thinking', thinking: '' } })
      growThought(reading.blocks.get(index), { thinking: delta.thinking ?? '' })
      return []
    case 'signature_delta':
      growThought(block, { signature: delta.signature ?? '' })
      return []
    default:
      return []
  }
}

function growThought(
  block: Block | undefined,
  more: { readonly thinking?: string; readonly signature?: string },
): void {
  if (block?.type !== 'thought' || block.block.type !== 'thinking') return
  if (more.thinking !== undefined) block.block.thinking += more.thinking
  if (more.signature !== undefined) block.block.signature = (block.block.signature ?? '') + more.signature
}

/** A server in between may send a null where a text belongs. */
function textEvents(index: number, text: unknown, { blocks }: MessageReading): readonly ModelEvent[] {
  const block = blocks.get(index)
  if (typeof text !== 'string' || text === '' || block?.type !== 'text') return []
  block.length += text.length
  return [{ type: 'text', delta: text }]
}

/** Returns true for an answer that has its reason, or that its server has ended and that says something. */
export function isWhole({ blocks, reason, over }: MessageReading): boolean {
  return reason !== undefined || (over && [...blocks.values()].some(({ type }) => type !== 'thought'))
}

/** Returns the calls and the end. Throws `model_failed` if the answer broke off. */
export function endOf(
  reading: MessageReading,
  asked: { readonly id: string; readonly server: ServerPlace },
): readonly ModelEvent[] {
  const { blocks, reason, usage, model } = reading
  const all = [...blocks.values()]
  if (!isWhole(reading)) throw failed('model_failed', `The answer of ${serverName(asked.server)} broke off.`)
  if (reason === 'model_context_window_exceeded' && all.every(({ type }) => type === 'thought'))
    throw failed('model_context_length', `${serverName(asked.server)}: ${reason}.`)
  const stop = stopOf(reason)
  const calls = all.flatMap((block): ModelToolCall[] =>
    block.type === 'call' ? [{ id: ownId(block.id), name: block.name, args: argsOf(block) }] : [],
  )
  return [
    ...calls.map((call) => ({ type: 'tool_call' as const, call })),
    {
      type: 'end',
      stop: stop === 'end' && calls.length > 0 ? 'tools' : stop,
      usage,
      model,
      opaque: opaqueOf(all, usage, asked.id),
    },
  ]
}

function failed(code: 'model_failed' | 'model_context_length', message: string): ModelError {
  return new ModelError(code, message, { advice: { retry: code === 'model_failed' }, begun: true })
}

/** Some servers send the arguments whole, where the call begins. */
function argsOf({ input, json }: Extract<Block, { type: 'call' }>): unknown {
  if (json !== '') return parseArguments(json)
  return parseArguments(typeof input === 'string' ? input : writtenArguments(input ?? {}))
}

/** `tokens` are those of the whole answer: a provider does not say how many of them are thoughts. */
function opaqueOf(blocks: readonly Block[], usage: Usage, model: string): Opaque {
  const data = blocks.map((block): PlacedBlock => {
    if (block.type !== 'call') return block
    return Object.keys(block.fields).length === 0 ? { type: 'call' } : { type: 'call', fields: block.fields }
  })
  return { model, tokens: blocks.some(({ type }) => type === 'thought') ? usage.output : 0, data }
}

interface WireUsage {
  readonly input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly output_tokens?: number | null
}

/** `input_tokens` is without the cache. Later counts are cumulative; the last event may leave out the input's. */
function usageOf(wire: WireUsage | undefined, before: Usage): Usage {
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
function stopOf(reason: string | undefined): StopReason {
  switch (reason) {
    case 'tool_use':
      return 'tools'
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    case 'refusal':
      return 'refused'
    default:
      return 'end'
  }
}
