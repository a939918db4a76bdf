import { type ErrorCode, ParleyError } from '../../core/errors.ts'
import type { MediaId } from '../../core/ids.ts'

/** Says if the same request may be retried, and after how many ms if the provider named a time. */
export type RetryAdvice = { readonly retry: false } | { readonly retry: true; readonly afterMs?: number }

/** The answer of a server that did not do what it was asked. */
export interface ModelRefusal {
  /** The HTTP status; within a stream the one that its words stand for. */
  readonly status: number
  /** The server's own words, without the key; empty where it gave none. */
  readonly words: string
  /** The server's own name for the matter, such as `context_length_exceeded`. */
  readonly code?: string
}

/** A failed model call that knows whether trying again can help. To everybody else it is a `ParleyError`. */
export class ModelError extends ParleyError {
  readonly advice: RetryAdvice
  /** The provider had begun to answer, so it charges the call. */
  readonly begun: boolean
  /** Absent where no server answered. */
  readonly refusal?: ModelRefusal
  /** The picture for which the server refused the request, where its words name the place of one. */
  readonly picture?: MediaId
  /** The tokens that the model reads at once, where the server has named them. */
  readonly window?: number

  constructor(code: ErrorCode, message: string, options: ModelErrorOptions) {
    super(code, message, { cause: options.cause })
    this.advice = options.advice
    this.begun = options.begun ?? false
    if (options.refusal !== undefined) this.refusal = options.refusal
    if (options.picture !== undefined) this.picture = options.picture
    if (options.window !== undefined) this.window = options.window
  }
}

interface ModelErrorOptions {
  readonly advice: RetryAdvice
  readonly begun?: boolean
  readonly cause?: unknown
  readonly refusal?: ModelRefusal | undefined
  readonly picture?: MediaId | undefined
  readonly window?: number | undefined
}

/** Returns a failure of a call with whether its answer had begun. */
export function withBegun(error: ModelError, begun: boolean): ModelError {
  const { code, message, advice, cause, refusal, picture, window } = error
  return new ModelError(code, message, { advice, begun, cause, refusal, picture, window })
}
