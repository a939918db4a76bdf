import { cutText } from '../core/cut-text.ts'
import { type ErrorCode, errorCode, ParleyError, toError } from '../core/errors.ts'

/** The answer to every failed request. */
export interface ErrorBody {
  readonly error: { readonly code: ErrorCode; readonly message: string }
}

export type HttpStatus = 400 | 401 | 402 | 403 | 404 | 409 | 410 | 413 | 429 | 500 | 502 | 503

const STATUS: Readonly<Record<ErrorCode, HttpStatus>> = {
  invalid: 400,
  too_long: 413,
  forbidden: 403,
  unauthorized: 401,
  too_many: 429,
  too_old: 410,
  not_found: 404,
  conflict: 409,
  aborted: 409,
  quarantined: 409,
  agent_gone: 409,
  queue_full: 429,
  turn_limit: 429,
  budget_spent: 429,
  internal: 500,
  unreadable: 500,
  config: 500,
  no_driver: 500,
  unavailable: 503,
  store_locked: 503,
  store_broken: 503,
  store_newer: 503,
  migration_failed: 503,
  model_unconfigured: 503,
  model_overloaded: 503,
  model_auth: 502,
  model_no_credit: 502,
  model_stalled: 502,
  model_refused: 502,
  model_context_length: 502,
  model_invalid_request: 502,
  model_bad_call: 502,
  model_empty: 502,
  model_cut: 502,
  model_failed: 502,
}

export const ERROR_CODES = Object.keys(STATUS) as readonly ErrorCode[]

/** Whoever asks too often, and the seconds after which they may ask again. */
export class TooManyRequests extends ParleyError {
  readonly seconds: number

  constructor(message: string, seconds: number) {
    super('too_many', message)
    this.seconds = seconds
  }
}

/** Returns the headers of an answer to a failed request besides its body. */
export function errorHeaders(error: unknown): Readonly<Record<string, string>> {
  return error instanceof TooManyRequests ? { 'retry-after': String(error.seconds) } : {}
}

/** Many errors name the value that was sent, which may have a megabyte. */
const LONGEST_MESSAGE = 2_000

/** Returns the answer to a failed request. An unknown error is `internal` and does not name its cause. */
export function errorAnswer(error: unknown): { readonly status: HttpStatus; readonly body: ErrorBody } {
  const code = errorCode(error)
  const message = code === 'internal' ? 'The daemon failed to answer; its log says why.' : toError(error).message
  const cut = message.length > LONGEST_MESSAGE ? `${cutText(message, LONGEST_MESSAGE)}…` : message
  return { status: STATUS[code], body: { error: { code, message: cut } } }
}
