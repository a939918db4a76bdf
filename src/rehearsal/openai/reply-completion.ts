import type { Dialect } from './dialects.ts'
import type { PromptUsage } from './prompt-prefixes.ts'
import { tokensIn } from './prompt-prefixes.ts'
import type { AnswerReply, FinishReason, ReplyPart } from './script.ts'
import type { SentToolCall } from './sent-steps.ts'
import { thoughtFields } from './thoughts.ts'

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
        /** A list of parts where thoughts are among them. */
        readonly content: unknown
        readonly refusal: string | null
        readonly annotations: readonly []
        readonly tool_calls?: readonly SentToolCall[]
        /** Thoughts, where they stand beside the content. */
        readonly [field: string]: unknown
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
  readonly completion_tokens_details: Omit<typeof unusedDetails, 'reasoning_tokens'> & {
    readonly reasoning_tokens: number
  }
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
  readonly dialect: Dialect
}

/** Fills in the fields that a reply leaves out. */
export function buildCompletion(reply: AnswerReply, asked: Asked): Completion {
  const { model, turn, at, prompt, dialect } = asked
  const calls = sentCalls(reply, asked)
  const said = (type: 'text' | 'refusal'): string | null => {
    const texts = reply.parts.flatMap((part) => (part.type === type ? [wordsOf(part)] : []))
    return texts.length === 0 ? null : texts.join('')
  }
  const thoughts = { form: dialect.thoughts, signature: signatureOf(turn) }
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
          content: null,
          ...thoughtFields(thoughts, thoughtsOf(reply), said('text')),
          refusal: said('refusal'),
          annotations: [],
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: reply.finishReason ?? (calls.length === 0 ? 'stop' : 'tool_calls'),
      },
    ],
    usage: usageOf(reply, prompt, dialect),
    service_tier: 'default',
    system_fingerprint: 'fp_rehearsal',
  }
}

/** Returns the signature of the thoughts of an answer. */
export function signatureOf(turn: number): string {
  return Buffer.from(`signature of answer ${turn}`).toString('base64')
}

/** Returns the thoughts of an answer in words. */
export function thoughtsOf({ parts }: AnswerReply): string {
  return parts.flatMap((part) => (part.type === 'reasoning' ? [part.reasoning] : [])).join('')
}

function sentCalls({ parts, quirks }: AnswerReply, { turn, dialect }: Asked): SentToolCall[] {
  const signs = { ...dialect.quirks, ...quirks }.signatures
  const google = { thought_signature: signatureOf(turn) }
  const asked = parts.flatMap((part, index) => (part.type === 'tool_call' ? [{ part, index }] : []))
  return asked.map(({ part, index }, nth) => ({
    id: part.id ?? dialect.callId(turn, index, part.name),
    type: 'function',
    function: {
      name: part.name,
      arguments: typeof part.arguments === 'string' ? part.arguments : JSON.stringify(part.arguments),
    },
    ...(signs && nth === 0 ? { extra_content: { google } } : {}),
  }))
}

function usageOf({ usage, parts }: AnswerReply, counted: PromptUsage, dialect: Dialect): Usage {
  const tokens = (thoughts: boolean): number =>
    parts.reduce((sum, part) => sum + ((part.type === 'reasoning') === thoughts ? tokensIn(wordsOf(part)) : 0), 0)
  const beside = dialect.countsThoughtsBeside
  const given = usage ?? { ...counted, completion_tokens: tokens(false) + (beside ? 0 : tokens(true)) }
  const { prompt_tokens, completion_tokens, cached_tokens = 0 } = given
  const reasoning_tokens = usage === undefined ? tokens(true) : (usage.reasoning_tokens ?? 0)
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens + (beside ? reasoning_tokens : 0),
    prompt_tokens_details: { cached_tokens, audio_tokens: 0 },
    completion_tokens_details: { ...unusedDetails, reasoning_tokens },
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
