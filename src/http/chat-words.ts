import { randomUUID } from 'node:crypto'
import type { Completion, CompletionUsage, FinishReason, ListedModel } from '../core/completion.ts'
import { tokensRead, type Usage } from '../core/model.ts'
import type { ChatModel, CompletionAnswer } from '../core/operate-chat.ts'

/** The facts that every part of one answer repeats. */
export interface Completed {
  readonly id: string
  /** Seconds since the epoch, as OpenAI counts. */
  readonly created: number
  readonly model: string
}

const MS = 1_000

export function completedBy(model: string, now: number): Completed {
  return { id: `chatcmpl-${randomUUID()}`, created: Math.floor(now / MS), model }
}

/** Returns a whole answer in the form of OpenAI. Silence is an answer without words (S48). */
export function completionOf({ id, created, model }: Completed, answer: CompletionAnswer): Completion {
  const { text, usage } = answer
  const message = { role: 'assistant' as const, content: text, refusal: null }
  return {
    ...{ id, object: 'chat.completion' as const, created, model },
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }],
    usage: usageOf(usage),
  }
}

export function finishOf({ cut }: Pick<CompletionAnswer, 'cut'>): FinishReason {
  return cut ? 'length' : 'stop'
}

export function usageOf(usage: Usage): CompletionUsage {
  const [read, written] = [tokensRead(usage), usage.output]
  return {
    ...{ prompt_tokens: read, completion_tokens: written, total_tokens: read + written },
    prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
  }
}

/** Returns an agent as a model in the form of OpenAI. */
export function modelOf({ id, createdAt }: ChatModel): ListedModel {
  return { id, object: 'model', created: Math.floor(createdAt / MS), owned_by: 'parley' }
}
