import type OpenAI from 'openai'
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
import { ownId } from './call-ids.ts'
import { badCallOf, failureIn, type ServerPlace, serverName } from './failure.ts'
import { ModelError, withBegun } from './model-error.ts'
import type { StepFields } from './openai-request.ts'
import { isRecord, MOST_CALLS, parseArguments, writtenArguments } from './tool-arguments.ts'

/** One answer as far as it has come. */
export interface CompletionReading {
  readonly calls: GrowingCall[]
  readonly message: Fields
  readonly parts: object[]
  usage: Usage
  finish: string | undefined
  refused: boolean
  /** Something is said. */
  said: boolean
  model: string
}

type Fields = Record<string, unknown>

/** Characters of the name by which a server says who has answered. */
const LONGEST_NAME = 200

export function beginReading(model: string): CompletionReading {
  return { calls: [], message: {}, parts: [], usage: NO_USAGE, finish: undefined, refused: false, said: false, model }
}

/** A chunk as servers really send it: any field may be null, missing or of another type. */
type Chunk = Omit<Partial<OpenAI.ChatCompletionChunk>, 'choices' | 'usage'> & {
  readonly choices?: readonly Choice[] | null
  readonly usage?: WireUsage | null
  readonly [field: string]: unknown
}

interface Choice {
  readonly delta?: Fields | null
  /** Some servers send the whole answer as one event. */
  readonly message?: Fields | null
  readonly finish_reason?: string | null
  readonly native_finish_reason?: string | null
  readonly usage?: WireUsage | null
}

/**
 * Returns the text that a chunk adds. Thoughts and whatever else only the server understands are kept for it alone
 * (C26); a refusal shows in the stop reason. Throws for a chunk that is an error.
 */
export function readChunk(sent: object, server: ServerPlace, reading: CompletionReading): readonly ModelEvent[] {
  const failure = failureIn(sent, server)
  if (failure !== undefined) throw failure
  const chunk = sent as Chunk
  if (typeof chunk.model === 'string' && chunk.model !== '')
    reading.model = `${server.name}/${chunk.model.slice(0, LONGEST_NAME)}`
  const [choice] = chunk.choices ?? []
  const usage = chunk.usage ?? groqUsage(chunk) ?? choice?.usage
  if (usage) reading.usage = usageOf(usage)
  return choice ? readChoice(choice, reading) : []
}

function readChoice(choice: Choice, reading: CompletionReading): readonly ModelEvent[] {
  const { finish_reason, native_finish_reason, message, delta: sent = message } = choice
  reading.finish = /error/i.test(native_finish_reason ?? '') ? 'error' : (finish_reason ?? reading.finish)
  const delta = sent ?? {}
  if (delta.refusal) reading.refused = true
  for (const piece of callPieces(delta)) addPiece(reading.calls, piece)
  for (const [name, value] of Object.entries(delta))
    if (IS_OWN_FIELD.test(name)) mergeField(reading.message, name, value)
  const text = wordsOf(delta.content, reading.parts)
  if (text === '') return []
  reading.said = true
  return [{ type: 'text', delta: text }]
}

/** The fields of a message in which servers put thoughts and signatures. */
const IS_OWN_FIELD = /reason|think|thought|signature|extra_content|provider_specific/i

function groqUsage({ x_groq: groq }: Chunk): WireUsage | undefined {
  return typeof groq === 'object' && groq !== null && 'usage' in groq ? (groq.usage as WireUsage) : undefined
}

/**
 * Some servers send a list of parts in the place of a text; thoughts among them are kept, what is no text says
 * nothing.
 */
function wordsOf(content: unknown, parts: object[]): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => {
      if (typeof part !== 'object' || part === null) return ''
      if ('text' in part && typeof part.text === 'string') return part.text
      if ('thinking' in part) mergeInto(parts, part)
      return ''
    })
    .join('')
}

/**
 * Adds a field that comes in pieces: texts grow, lists get longer, entries of a list with the same index are one, and
 * anything else is replaced.
 */
function mergeField(fields: Fields, name: string, value: unknown): void {
  const before = fields[name]
  if (value === null || value === undefined) return
  if (typeof value === 'string' && typeof before === 'string') fields[name] = before + value
  else if (Array.isArray(value)) {
    const list: unknown[] = Array.isArray(before) ? before : []
    for (const entry of value) mergeInto(list, entry)
    fields[name] = list
  } else if (isRecord(value) && isRecord(before)) fields[name] = { ...before, ...value }
  else if (value !== '' || before === undefined) fields[name] = value
}

/** The texts of an entry that grow; all else of it comes once. */
const GROWING = ['text', 'thinking', 'summary', 'data', 'content']

function mergeInto(list: unknown[], entry: unknown): void {
  const last = list.at(-1)
  const same = isRecord(last) && isRecord(entry) && last.type === entry.type && last.index === entry.index
  if (!same || (last.id && entry.id && last.id !== entry.id))
    return void list.push(isRecord(entry) ? { ...entry } : entry)
  for (const [name, value] of Object.entries(entry)) {
    if (GROWING.includes(name)) mergeField(last, name, value)
    else if (value !== null && value !== undefined && value !== '') last[name] = value
  }
}

interface GrowingCall {
  readonly index: unknown
  readonly id: string
  name: string
  json: string
  readonly fields: Fields
}

/** A piece of a call, with the fields that no protocol has. */
interface CallPiece {
  readonly index: unknown
  readonly id: string
  readonly name: string
  readonly json: string
  readonly fields: Fields
}

function callPieces(delta: Fields): readonly CallPiece[] {
  const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : []
  const older = isRecord(delta.function_call) ? [{ function: delta.function_call }] : []
  return [...calls, ...older].filter(isRecord).map(({ index, id, type: _type, function: called, ...fields }) => {
    const { name, arguments: args, ...more } = isRecord(called) ? called : {}
    return {
      index: index ?? undefined,
      id: typeof id === 'string' ? id : '',
      name: typeof name === 'string' ? name : '',
      json: typeof args === 'string' ? args : args === null || args === undefined ? '' : writtenArguments(args),
      fields: Object.keys(more).length === 0 ? fields : { ...fields, function: more },
    }
  })
}

/** Adds a piece to the call it belongs to. */
function addPiece(calls: GrowingCall[], piece: CallPiece): void {
  const call = callOf(calls, piece)
  call.name ||= piece.name
  call.json += piece.json
  for (const [name, value] of Object.entries(piece.fields)) mergeField(call.fields, name, value)
}

/**
 * A piece without a name continues a call: that of its id, else of its index, else the last; servers give pieces of
 * one call other ids, or the next index. One with a name begins a call, unless it repeats the name of a call that is
 * not complete.
 */
function callOf(calls: GrowingCall[], piece: CallPiece): GrowingCall {
  const { index, id, name } = piece
  const sameIndex = index === undefined ? undefined : calls.findLast((call) => call.index === index)
  const last = calls.at(-1)
  if (name === '') {
    const sameId = id === '' ? undefined : calls.findLast((call) => call.id === id)
    const known = sameId ?? sameIndex ?? last
    if (known !== undefined) return known
  } else {
    const known = index === undefined ? last : sameIndex
    if (known !== undefined && goesOn(known, piece)) return known
  }
  if (calls.length >= MOST_CALLS) throw tooMany()
  const call: GrowingCall = { index, id, name: '', json: '', fields: {} }
  calls.push(call)
  return call
}

/** A step of so many calls would hold the daemon up. */
function tooMany(): ModelError {
  return new ModelError('model_failed', `The answer has more than ${MOST_CALLS} calls.`, { advice: { retry: false } })
}

function goesOn(known: GrowingCall, { id, name, index }: CallPiece): boolean {
  if (known.name === '') return id === '' || known.id === '' || id === known.id
  if (id !== '' && id === known.id) return true
  const isOpen = known.json !== '' && !known.json.trimEnd().endsWith('}')
  return name === known.name && index !== undefined && isOpen
}

/**
 * Returns the calls and the end. `inOrder`: `[DONE]` has come, with which an answer is whole without any finish
 * reason. Throws `model_failed` if the answer broke off.
 */
export function endOf(
  reading: CompletionReading,
  inOrder: boolean,
  { id, server }: { readonly id: string; readonly server: ServerPlace },
): readonly ModelEvent[] {
  const { usage, model, refused } = reading
  const calls = reading.calls.map<ModelToolCall>(({ id, name, json }) => ({
    id: ownId(id),
    name,
    args: parseArguments(json),
  }))
  const isThere = reading.said || calls.length > 0
  const finish = reading.finish?.toLowerCase() ?? (inOrder && isThere ? 'stop' : 'error')
  const badCall = badCallOf(finish, server)
  if (badCall !== undefined) throw withBegun(badCall, true)
  if (BROKEN.test(finish)) throw failed('model_failed', `The answer of ${serverName(server)} broke off.`)
  if (finish === 'model_context_window_exceeded' && !isThere)
    throw failed('model_context_length', `${serverName(server)} ended the answer with ${finish}.`)
  const stop = refused ? 'refused' : stopOf(finish, calls.length > 0)
  return [
    ...calls.map((call) => ({ type: 'tool_call' as const, call })),
    { type: 'end', stop, usage, model, ...opaqueOf(reading, calls, id) },
  ]

  function failed(code: ModelError['code'], message: string): ModelError {
    return new ModelError(code, message, { advice: { retry: code !== 'model_context_length' }, begun: true })
  }
}

/** The words for an answer that the server could not finish: of OpenRouter, DeepSeek and others. */
const BROKEN = /^(error|insufficient_system_resource|network_error|abort(ed)?)$/
const CUT = /^(length|max_tokens|model_length|model_context_window_exceeded)$/
const REFUSED = /^(content_filter|sensitive|safety|recitation|prohibited_content|blocklist|refusal)/

/** Compatible servers have words of their own for an end in order, and some call tools with `stop`. */
function stopOf(finish: string, callsTools: boolean): StopReason {
  if (CUT.test(finish)) return 'length'
  if (REFUSED.test(finish)) return 'refused'
  return callsTools ? 'tools' : 'end'
}

function opaqueOf(
  { message, parts, calls: grown, usage }: CompletionReading,
  calls: readonly ModelToolCall[],
  model: string,
): { readonly opaque?: Opaque } {
  const fields = grown.map(({ id, fields: own }, nth) => {
    const renamed = id !== '' && id !== calls[nth]?.id ? { id } : {}
    return Object.keys(own).length + Object.keys(renamed).length === 0 ? null : { ...own, ...renamed }
  })
  const data = signedAtTheCall({ message, parts, calls: fields })
  const thought = Object.keys(data.message).length + parts.length > 0
  if (!thought && data.calls.every((own) => own === null)) return {}
  return { opaque: { model, tokens: thought ? usage.output : 0, data } }
}

/** Gemini may send the signature of the first call by itself, in the message, and wants it back at the call. */
function signedAtTheCall(data: StepFields): StepFields {
  const { extra_content, ...message } = data.message
  const [first, ...rest] = data.calls
  if (extra_content === undefined || first === undefined || (first && 'extra_content' in first)) return data
  return { ...data, message, calls: [{ ...first, extra_content }, ...rest] }
}

interface WireUsage {
  readonly prompt_tokens?: unknown
  readonly completion_tokens?: unknown
  readonly total_tokens?: unknown
  readonly cached_tokens?: unknown
  readonly prompt_cache_hit_tokens?: unknown
  readonly prompt_tokens_details?: { readonly cached_tokens?: unknown } | null
  readonly completion_tokens_details?: { readonly reasoning_tokens?: unknown } | null
}

/**
 * The API counts what came from the cache among the prompt. Thoughts are written tokens too, where a server counts
 * them beside the answer (xAI, Gemini): then its total is larger than the sum of both, or they alone are more than
 * the answer.
 */
function usageOf(usage: WireUsage): Usage {
  const { prompt_tokens, completion_tokens, total_tokens, cached_tokens, prompt_cache_hit_tokens } = usage
  const read = tokenCount(prompt_tokens)
  const written = tokenCount(completion_tokens)
  const thoughts = tokenCount(usage.completion_tokens_details?.reasoning_tokens)
  const beside = total_tokens === undefined && thoughts > written ? thoughts : 0
  const output = Math.max(written + beside, tokenCount(total_tokens) - read)
  const cached = usage.prompt_tokens_details?.cached_tokens ?? cached_tokens ?? prompt_cache_hit_tokens
  const cacheRead = Math.min(read, tokenCount(cached))
  return toUsage({ input: read - cacheRead, output, cacheRead, cacheWrite: 0 })
}
