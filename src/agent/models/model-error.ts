import { type ErrorCode, ParleyError } from '../../core/errors.ts'

/** Says if the same request may be retried, and after how many ms if the provider named a time. */
export type RetryAdvice = { readonly retry: false } | { readonly retry: true; readonly afterMs?: number }

/** A failed model call that knows whether trying again can help. To everybody else it is a `ParleyError`. */
export class ModelError extends ParleyError {
  readonly advice: RetryAdvice
  /** The provider had begun to answer, so it charges the call. */
  readonly begun: boolean

  constructor(code: ErrorCode, message: string, options: { advice: RetryAdvice; begun?: boolean; cause?: unknown }) {
    super(code, message, { cause: options.cause })
    this.advice = options.advice
    this.begun = options.begun ?? false
  }
}

/** Returns a failure of a call with whether its answer had begun. */
export function withBegun({ code, message, advice, cause }: ModelError, begun: boolean): ModelError {
  return new ModelError(code, message, { advice, begun, cause })
}
