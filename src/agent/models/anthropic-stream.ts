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
import { isRecord, MOST_CALLS, parseArguments, writtenArguments } from './tool-arguments.ts'

/** One answer as far as it has come. */
export interface MessageReading {
  /** In the order in which they began. */
  readonly blocks: Block[]
  /** The number of calls among the blocks. */
  calls: number
  readonly places: Map<unknown, Place>
  /** The index at which the newest block began, for events without one. */
  newest: unknown
  usage: Usage
  /** The reason for the end, in the words of the server. */
  reason: string | undefined
  /** The server has said that nothing follows. */
  over: boolean
  model: string
}

type Block =
  | { readonly type: 'text'; length: number }
  | { readonly type: 'thought'; readonly block: ThoughtBlock }
  | {
      readonly type: 'call'
      readonly id: unknown
      readonly name: string
      input: unknown
      json: string
      readonly fields: Readonly<Record<string, unknown>>
    }

type CallBlock = Extract<Block, { type: 'call' }>

/** An index of blocks. Gateways that imitate the API give one index to several blocks, one after the other. */
interface Place {
  /** The block whose beginning came last, until it stops. */
  started?: Block | undefined
  /** The block that came last, with or without a beginning, until it stops. */
  open?: Block | undefined
  /** The newest call and the newest thought: later pieces of arguments and of a signature belong to nothing else. */
  call?: CallBlock
  thought?: Extract<Block, { type: 'thought' }>
}

export function beginReading(model: string): MessageReading {
  return {
    blocks: [],
    calls: 0,
    places: new Map(),
    newest: undefined,
    usage: NO_USAGE,
    reason: undefined,
    over: false,
    model,
  }
}

/**
 * Returns the model events for an event of the API. Thoughts and their signatures are kept for the server alone (C26).
 * Pieces of blocks belong together by their index and kind, whatever their order; a block may lack its end. A second
 * beginning of the message, which gateways send after a failure of their own, begins the answer anew.
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
    case 'content_block_stop':
      stopBlock(event.index, reading)
      return []
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
  const hadText = reading.blocks.some((block) => block.type === 'text' && block.length > 0)
  reading.blocks.length = 0
  reading.calls = 0
  reading.places.clear()
  if (message?.model && typeof message.model === 'string') reading.model = `${server}/${message.model}`
  reading.usage = usageOf(message?.usage, reading.usage)
  return hadText ? [{ type: 'retract' }] : []
}

/** A block as gateways really send it: any field may be null, missing or of another type. */
type StartedBlock = Readonly<Record<string, unknown>>

/** Begins a block, unless the event repeats the beginning of the block that has not stopped. */
function startBlock(index: unknown, started: unknown, reading: MessageReading): readonly ModelEvent[] {
  if (!isRecord(started)) return []
  const block = blockOf(started)
  if (block === undefined) {
    // The pieces of a kind that nobody knows must not reach an earlier block of the same index.
    if (typeof started.type === 'string') reading.places.delete(index ?? reading.newest)
    return []
  }
  const place = placeAt(index, reading)
  if (place.started === undefined || !repeats(place.started, block)) {
    begin(index, block, reading)
    place.started = block
  }
  return block.type === 'text' ? addText(index, started.text, reading) : []
}

function blockOf(started: StartedBlock): Block | undefined {
  const { type, id, name, input, ...fields } = started
  switch (type) {
    case 'text':
      return { type, length: 0 }
    case 'tool_use':
      return { type: 'call', id, name: textOf(name), input, json: '', fields }
    case 'thinking': {
      const signature = typeof started.signature === 'string' ? { signature: started.signature } : {}
      return { type: 'thought', block: { type, thinking: textOf(started.thinking), ...signature } }
    }
    case 'redacted_thinking':
      return { type: 'thought', block: { type, data: textOf(started.data) } }
    default:
      return undefined
  }
}

/** A server in between may send a null, or something else, where a text belongs. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Some gateways begin a block with each of its pieces, and some of those leave out the id and the name. */
function repeats(known: Block, block: Block): boolean {
  if (known.type === 'call' && block.type === 'call') {
    if (textOf(block.id) !== '') return block.id === known.id
    return block.name === '' || (block.name === known.name && inputOf(block) === inputOf(known))
  }
  if (known.type === 'thought' && block.type === 'thought') {
    const [one, other] = [known.block, block.block]
    if (one.type === 'redacted_thinking') return other.type === one.type && other.data === one.data
    return other.type === one.type
  }
  return known.type === block.type
}

function placeAt(index: unknown, { places, newest }: MessageReading): Place {
  const key = index ?? newest
  const place = places.get(key) ?? {}
  places.set(key, place)
  return place
}

function stopBlock(index: unknown, reading: MessageReading): void {
  const place = placeAt(index, reading)
  place.started = undefined
  place.open = undefined
}

function begin(index: unknown, block: Block, reading: MessageReading): void {
  if (block.type === 'call' && ++reading.calls > MOST_CALLS)
    throw new ModelError('model_failed', `The answer has more than ${MOST_CALLS} calls.`, { advice: { retry: false } })
  const place = placeAt(index, reading)
  reading.newest = index ?? reading.newest
  reading.blocks.push(block)
  place.open = block
  if (block.type === 'call') place.call = block
  if (block.type === 'thought') place.thought = block
}

/** A piece of a kind that is not the open block's begins a block of its own kind, or continues the call or thought. */
function addDelta(
  index: unknown,
  delta: Anthropic.RawContentBlockDelta,
  reading: MessageReading,
): readonly ModelEvent[] {
  switch (delta?.type) {
    case 'text_delta':
      return addText(index, delta.text, reading)
    case 'input_json_delta':
      addArguments(placeAt(index, reading).call, delta.partial_json)
      return []
    case 'thinking_delta':
      addThinking(index, textOf(delta.thinking), reading)
      return []
    case 'signature_delta': {
      const thought = placeAt(index, reading).thought?.block
      if (thought?.type === 'thinking') thought.signature = (thought.signature ?? '') + textOf(delta.signature)
      return []
    }
    default:
      return []
  }
}

function addText(index: unknown, text: unknown, reading: MessageReading): readonly ModelEvent[] {
  if (typeof text !== 'string' || text === '') return []
  const { open } = placeAt(index, reading)
  if (open?.type === 'text') open.length += text.length
  else begin(index, { type: 'text', length: text.length }, reading)
  return [{ type: 'text', delta: text }]
}

function addArguments(call: CallBlock | undefined, piece: unknown): void {
  if (call === undefined) return
  if (isRecord(piece)) call.input = piece
  call.json += textOf(piece)
}

function addThinking(index: unknown, thinking: string, reading: MessageReading): void {
  if (thinking === '') return
  const { open } = placeAt(index, reading)
  if (open?.type === 'thought' && open.block.type === 'thinking') open.block.thinking += thinking
  else begin(index, { type: 'thought', block: { type: 'thinking', thinking } }, reading)
}

/** Returns true for an answer that has its reason, or that its server has ended and that says something. */
export function isWhole({ blocks, reason, over }: MessageReading): boolean {
  return reason !== undefined || (over && blocks.some(({ type }) => type !== 'thought'))
}

/** Returns the calls and the end. Throws `model_failed` if the answer broke off. */
export function endOf(
  reading: MessageReading,
  asked: { readonly id: string; readonly server: ServerPlace },
): readonly ModelEvent[] {
  const { blocks, reason, usage, model } = reading
  if (!isWhole(reading)) throw failed('model_failed', `The answer of ${serverName(asked.server)} broke off.`)
  if (reason === 'model_context_window_exceeded' && blocks.every(({ type }) => type === 'thought'))
    throw failed('model_context_length', `${serverName(asked.server)}: ${reason}.`)
  const calls = blocks.flatMap((block): ModelToolCall[] =>
    block.type === 'call' ? [{ id: ownId(block.id), name: block.name, args: argsOf(block) }] : [],
  )
  return [
    ...calls.map((call) => ({ type: 'tool_call' as const, call })),
    {
      type: 'end',
      stop: stopOf(reason, calls.length > 0),
      usage,
      model,
      opaque: opaqueOf(blocks, usage, asked.id),
    },
  ]
}

function failed(code: 'model_failed' | 'model_context_length', message: string): ModelError {
  return new ModelError(code, message, { advice: { retry: code === 'model_failed' }, begun: true })
}

/** Some servers send the arguments whole, where the call begins. */
function argsOf(call: CallBlock): unknown {
  return parseArguments(call.json === '' ? inputOf(call) : call.json)
}

function inputOf({ input }: CallBlock): string {
  return typeof input === 'string' ? input : writtenArguments(input ?? {})
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
 * Some servers call tools with `end_turn`, and some say `tool_use` without a call. `pause_turn` belongs to server
 * tools, which are never asked for. A reason that is not known yet ends an answer as well: it came, and is whole.
 */
function stopOf(reason: string | undefined, callsTools: boolean): StopReason {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    case 'refusal':
      return 'refused'
    default:
      return callsTools ? 'tools' : 'end'
  }
}
