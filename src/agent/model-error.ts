import { type ErrorCode, ParleyError } from '../core/errors.ts'

/** Says if the same request may be retried, and after how many ms if the provider named a time. */
export type RetryAdvice = { readonly retry: false } | { readonly retry: true; readonly afterMs?: number }

/** A failed model call that knows whether trying again can help. To everybody else it is a `ParleyError`. */
export class ModelError extends ParleyError {
  readonly advice: RetryAdvice

  constructor(code: ErrorCode, message: string, options: { advice: RetryAdvice; cause?: unknown }) {
    super(code, message, { cause: options.cause })
    this.advice = options.advice
  }
}
