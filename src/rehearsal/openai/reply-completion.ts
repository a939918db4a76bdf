import type { PromptUsage } from './prompt-prefixes.ts'
import { tokensIn } from './prompt-prefixes.ts'
import type { AnswerReply, FinishReason, ReplyPart } from './script.ts'

export interface SentToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** A complete answer as the API gives it without streaming. */
export interface Completion {
  readonly id: string
  readonly object: 'chat.completion'
  readonly created: number
  readonly model: string
  readonly choices: readonly [
    {
      readonly index: 0
      readonly message: {
        readonly role: 'assistant'
        readonly content: string | null
        readonly refusal: string | null
        readonly annotations: readonly []
        readonly tool_calls?: readonly SentToolCall[]
      }
      readonly logprobs: null
      readonly finish_reason: FinishReason
    },
  ]
  readonly usage: Usage
  readonly service_tier: 'default'
  readonly system_fingerprint: string
}

export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly audio_tokens: 0 }
  readonly completion_tokens_details: typeof unusedDetails
}

/** The counts that a rehearsed answer leaves at nothing; they are there, as the API sends them. */
const unusedDetails = {
  reasoning_tokens: 0,
  audio_tokens: 0,
  accepted_prediction_tokens: 0,
  rejected_prediction_tokens: 0,
} as const

/** The request as far as its answer speaks of it. */
export interface Asked {
  readonly model: string
  /** Makes the ids of the answer unique on one server. */
  readonly turn: number
  readonly at: number
  readonly prompt: PromptUsage
}

/** Fills in the fields that a reply leaves out. */
export function buildCompletion(reply: AnswerReply, { model, turn, at, prompt }: Asked): Completion {
  const calls = reply.parts.flatMap((part, index) => (part.type === 'tool_call' ? [sentCall(part, turn, index)] : []))
  const said = (type: 'text' | 'refusal'): string | null => {
    const texts = reply.parts.flatMap((part) => (part.type === type ? [wordsOf(part)] : []))
    return texts.length === 0 ? null : texts.join('')
  }
  return {
    id: `chatcmpl-rehearsal${pad(turn)}`,
    object: 'chat.completion',
    created: Math.floor(at / 1000),
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: said('text'),
          refusal: said('refusal'),
          annotations: [],
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: reply.finishReason ?? (calls.length === 0 ? 'stop' : 'tool_calls'),
      },
    ],
    usage: usageOf(reply, prompt),
    service_tier: 'default',
    system_fingerprint: 'fp_rehearsal',
  }
}

export function sentCall(part: Extract<ReplyPart, { type: 'tool_call' }>, turn: number, index: number): SentToolCall {
  const text = typeof part.arguments === 'string' ? part.arguments : JSON.stringify(part.arguments)
  const id = part.id ?? `call_rehearsal${pad(turn)}${pad(index)}`
  return { id, type: 'function', function: { name: part.name, arguments: text } }
}

function usageOf({ usage, parts }: AnswerReply, counted: PromptUsage): Usage {
  const written = parts.reduce((sum, part) => sum + tokensIn(wordsOf(part)), 0)
  const { prompt_tokens, completion_tokens, cached_tokens = 0 } = usage ?? { ...counted, completion_tokens: written }
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens, audio_tokens: 0 },
    completion_tokens_details: unusedDetails,
  }
}

function wordsOf(part: ReplyPart): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'refusal':
      return part.refusal
    case 'reasoning':
      return part.reasoning
    case 'tool_call':
      return `${part.name}${JSON.stringify(part.arguments)}`
  }
}

function pad(number: number): string {
  return String(number).padStart(6, '0')
}
