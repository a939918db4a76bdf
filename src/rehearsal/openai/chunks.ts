import { pieces } from '../texts.ts'
import type { Completion } from './reply-completion.ts'
import type { AnswerReply, Quirks } from './script.ts'
import type { SentToolCall } from './sent-steps.ts'
import { type Thoughts, thoughtDeltas } from './thoughts.ts'

/** One server-sent event. A `delta` is a piece of content, at which a reply can be held or cut. */
export interface Chunk {
  readonly kind: 'head' | 'role' | 'delta' | 'finish' | 'usage' | 'done'
  /** A text goes out as it is. */
  readonly data: object | string
}

export interface Streaming {
  readonly completion: Completion
  readonly reply: AnswerReply
  /** The quirks of the dialect and of the reply. */
  readonly quirks: Quirks
  readonly thoughts: Thoughts
  /** The request's `stream_options.include_usage`. */
  readonly includeUsage: boolean
}

/** Yields the chunks of a streamed answer, in the order of the API. */
export function* streamChunks(streaming: Streaming): Generator<Chunk> {
  const { completion, reply, quirks, includeUsage } = streaming
  const [choice] = completion.choices
  const head = headOf(streaming)
  const chunk = (kind: Chunk['kind'], delta: object, finish_reason: string | null = null): Chunk => {
    const finish = quirks.lateFinish && finish_reason === null ? {} : { finish_reason }
    const usage = kind === 'finish' ? usageBeside(streaming) : { choice: {}, chunk: {} }
    return {
      kind,
      data: { ...head, choices: [{ index: 0, delta, logprobs: null, ...finish, ...usage.choice }], ...usage.chunk },
    }
  }
  yield* beginning(quirks)
  const first = reply.parts.find(({ type }) => type !== 'reasoning')
  const content = first?.type === 'tool_call' ? null : ''
  yield chunk('role', { role: 'assistant', content, refusal: null })
  for (const delta of deltasOf(streaming)) yield chunk('delta', delta)
  const reason = quirks.callsEndWithStop && choice.finish_reason === 'tool_calls' ? 'stop' : choice.finish_reason
  if (!quirks.noFinish) yield chunk('finish', {}, quirks.finishReason ?? reason)
  if (includeUsage && !quirks.noUsage && quirks.usageAt === undefined) {
    yield { kind: 'usage', data: { ...head, choices: [], usage: completion.usage } }
  }
  if (!quirks.noDone) yield { kind: 'done', data: 'data: [DONE]\n\n' }
}

export function writeChunk(data: Chunk['data'], event?: string): string {
  if (typeof data === 'string') return data
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
}

function* beginning({ processing, filters }: Quirks): Generator<Chunk> {
  if (processing) yield { kind: 'head', data: ': OPENROUTER PROCESSING\n\n' }
  if (!filters) return
  const safe = { filtered: false, severity: 'safe' }
  const results = { hate: safe, self_harm: safe, sexual: safe, violence: safe, jailbreak: { filtered: false } }
  const prompt_filter_results = [{ prompt_index: 0, content_filter_results: results }]
  yield { kind: 'head', data: { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results } }
}

/** The usage that stands in the chunk with the finish reason, or in its choice. */
function usageBeside({ completion: { usage }, quirks }: Streaming): { chunk: object; choice: object } {
  if (quirks.noUsage || quirks.usageAt === undefined) return { chunk: {}, choice: {} }
  if (quirks.usageAt === 'choice') return { chunk: {}, choice: { usage } }
  return { chunk: { usage, ...(quirks.usageAt === 'groq' && { x_groq: { id: 'req_01', usage } }) }, choice: {} }
}

/** With `include_usage` all chunks have the field, which is null in all but the last. */
function headOf({ completion, quirks, includeUsage }: Streaming): object {
  const { id, created, model, service_tier, system_fingerprint } = completion
  return {
    ...{ id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint },
    ...(includeUsage && !quirks.noUsage ? { usage: null } : {}),
  }
}

function* deltasOf({ reply, quirks, thoughts, completion }: Streaming): Generator<object> {
  const split = reply.split ?? pieces
  const calls = completion.choices[0].message.tool_calls ?? []
  let nth = 0
  for (const part of reply.parts) {
    switch (part.type) {
      case 'text':
        for (const text of split(part.text)) yield textDelta(text, quirks)
        break
      case 'refusal':
        for (const refusal of split(part.refusal)) yield { refusal }
        break
      case 'reasoning':
        yield* thoughtDeltas(thoughts, part.reasoning, split)
        break
      case 'tool_call': {
        const call = calls[nth]
        if (call !== undefined) yield* callDeltas(call, { split, quirks, nth: nth++ })
      }
    }
  }
}

function textDelta(text: string, { partLists, nullFields }: Quirks): object {
  if (partLists) return { content: [{ type: 'text', text }, null, { type: 'image' }] }
  return nullFields ? { content: text, reasoning_content: null } : { content: text }
}

interface CallPlace {
  readonly split: (text: string) => readonly string[]
  readonly quirks: Quirks
  /** The number of the call among those of the answer. */
  readonly nth: number
}

function* callDeltas(call: SentToolCall, { split, quirks, nth }: CallPlace): Generator<object> {
  const { id, type, function: called, ...extra } = call
  const at = (quirks.firstIndex ?? 0) + (quirks.argumentsApart ? 2 * nth : nth)
  const named = quirks.noIds ? {} : { id }
  const typed = quirks.noType ? {} : { type }
  const first = { ...indexOf(at, quirks), ...named, ...typed }
  if (quirks.wholeArguments || quirks.objectArguments) {
    const json = quirks.objectArguments ? JSON.parse(called.arguments) : called.arguments
    yield { tool_calls: [{ ...first, function: { name: called.name, arguments: json }, ...extra }] }
    return
  }
  yield { tool_calls: [{ ...first, function: { name: called.name, arguments: '' }, ...extra }] }
  const later = indexOf(at + (quirks.argumentsApart ? 1 : 0), quirks)
  const names = { same: { name: called.name }, empty: { name: '' } }
  const again = quirks.laterNames === undefined ? {} : names[quirks.laterNames]
  for (const [nth, json] of split(called.arguments).entries()) {
    const fresh = quirks.freshIds ? { id: `${id}${nth + 1}` } : {}
    yield { tool_calls: [{ ...later, ...fresh, function: { ...again, arguments: json } }] }
  }
}

function indexOf(index: number, { noIndex, sameIndex }: Quirks): object {
  return noIndex ? {} : { index: sameIndex ? 0 : index }
}
