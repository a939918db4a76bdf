import { type ErrorCode, ParleyError } from '../../core/errors.ts'

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

  constructor(
    code: ErrorCode,
    message: string,
    options: { advice: RetryAdvice; begun?: boolean; cause?: unknown; refusal?: ModelRefusal | undefined },
  ) {
    super(code, message, { cause: options.cause })
    this.advice = options.advice
    this.begun = options.begun ?? false
    if (options.refusal !== undefined) this.refusal = options.refusal
  }
}

/** Returns a failure of a call with whether its answer had begun. */
export function withBegun({ code, message, advice, cause, refusal }: ModelError, begun: boolean): ModelError {
  return new ModelError(code, message, { advice, begun, cause, refusal })
}
