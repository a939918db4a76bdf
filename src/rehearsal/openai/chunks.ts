import { pieces } from '../texts.ts'
import type { Completion } from './reply-completion.ts'
import { sentCall } from './reply-completion.ts'
import type { AnswerReply, ReplyPart } from './script.ts'

/** One server-sent event. A `delta` is a piece of content, at which a reply can be held or cut. */
export interface Chunk {
  readonly kind: 'role' | 'delta' | 'finish' | 'usage' | 'done'
  readonly data: object | '[DONE]'
}

export interface Streaming {
  readonly completion: Completion
  readonly reply: AnswerReply
  /** The request's `stream_options.include_usage`. */
  readonly includeUsage: boolean
  readonly turn: number
}

/** Yields the chunks of a streamed answer, in the order of the API. */
export function* streamChunks(streaming: Streaming): Generator<Chunk> {
  const { completion, reply, includeUsage } = streaming
  const { quirks = {} } = reply
  const [choice] = completion.choices
  const head = headOf(streaming)
  const chunk = (kind: Chunk['kind'], delta: object, finish_reason: string | null = null): Chunk => ({
    kind,
    data: { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] },
  })
  const first = reply.parts.find(({ type }) => type !== 'reasoning')
  const content = first?.type === 'tool_call' ? null : ''
  yield chunk('role', { role: 'assistant', content, refusal: null })
  for (const delta of deltasOf(streaming)) yield chunk('delta', delta)
  yield chunk('finish', {}, quirks.finishReason ?? choice.finish_reason)
  if (includeUsage && !quirks.noUsage) {
    yield { kind: 'usage', data: { ...head, choices: [], usage: completion.usage } }
  }
  if (!quirks.noDone) yield { kind: 'done', data: '[DONE]' }
}

export function writeChunk(data: Chunk['data']): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/** With `include_usage` all chunks have the field, which is null in all but the last. */
function headOf({ completion, reply, includeUsage }: Streaming): object {
  const { id, created, model, service_tier, system_fingerprint } = completion
  return {
    ...{ id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint },
    ...(includeUsage && !reply.quirks?.noUsage ? { usage: null } : {}),
  }
}

function* deltasOf({ reply, turn }: Streaming): Generator<object> {
  const split = reply.split ?? pieces
  let nth = 0
  for (const [index, part] of reply.parts.entries()) {
    switch (part.type) {
      case 'text':
        for (const text of split(part.text)) yield { content: sentText(text, reply) }
        break
      case 'refusal':
        for (const refusal of split(part.refusal)) yield { refusal }
        break
      case 'reasoning':
        for (const reasoning_content of split(part.reasoning)) yield { content: null, reasoning_content }
        break
      case 'tool_call':
        yield* callDeltas(part, { reply, split, nth: nth++, unique: [turn, index] })
    }
  }
}

function sentText(text: string, { quirks }: AnswerReply): unknown {
  return quirks?.partLists ? [{ type: 'text', text }, null, { type: 'image' }] : text
}

interface CallPlace {
  readonly reply: AnswerReply
  readonly split: (text: string) => readonly string[]
  /** The number of the call among those of the answer. */
  readonly nth: number
  readonly unique: readonly [turn: number, index: number]
}

function* callDeltas(
  part: Extract<ReplyPart, { type: 'tool_call' }>,
  { reply, split, nth, unique }: CallPlace,
): Generator<object> {
  const { quirks = {} } = reply
  const { id, type, function: called } = sentCall(part, ...unique)
  const place = quirks.noIndex ? {} : { index: quirks.sameIndex ? 0 : nth }
  const named = quirks.noIds ? place : { ...place, id }
  const whole = quirks.wholeArguments === true
  yield {
    tool_calls: [{ ...named, type, function: { name: called.name, arguments: whole ? called.arguments : '' } }],
  }
  if (whole) return
  for (const text of split(called.arguments)) yield { tool_calls: [{ ...place, function: { arguments: text } }] }
}
