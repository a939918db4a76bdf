/**
 * The answers of the door for clients of OpenAI's API, in the form of OpenAI. Times are seconds since the epoch there.
 */

/** `length`: the model was stopped at the longest answer it may give. */
export type FinishReason = 'stop' | 'length'

export interface Completion {
  readonly id: string
  readonly object: 'chat.completion'
  readonly created: number
  readonly model: string
  /** Always one. */
  readonly choices: readonly CompletionChoice[]
  readonly usage: CompletionUsage
}

export interface CompletionChoice {
  readonly index: number
  readonly message: { readonly role: 'assistant'; readonly content: string; readonly refusal: null }
  readonly logprobs: null
  readonly finish_reason: FinishReason
}

export interface CompletionUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: { readonly cached_tokens: number }
}

/** An agent as a model. */
export interface ListedModel {
  /** The id of the agent. */
  readonly id: string
  readonly object: 'model'
  readonly created: number
  readonly owned_by: string
}

export interface ModelList {
  readonly object: 'list'
  readonly data: readonly ListedModel[]
}

/** The answer to a request that failed. */
export interface CompletionError {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly code: string | null
    readonly param: string | null
  }
}
