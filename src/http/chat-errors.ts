import type { CompletionError } from '../core/completion.ts'
import { type ErrorCode, errorCode } from '../core/errors.ts'
import { ChatRefused } from '../core/operate-chat.ts'
import { errorAnswer, type HttpStatus } from './errors.ts'

/** The answer to a failed request in the words of OpenAI, which their clients make errors of. */
export interface ChatErrorAnswer {
  readonly status: HttpStatus
  readonly body: CompletionError
  readonly headers: Readonly<Record<string, string>>
}

const TYPES: Readonly<Partial<Record<HttpStatus, string>>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}
const LEAST_SERVER_ERROR = 500

/** The codes that OpenAI has words of their own for. */
const NAMES: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthorized: 'invalid_api_key',
  budget_spent: 'insufficient_quota',
  queue_full: 'rate_limit_exceeded',
  too_many: 'rate_limit_exceeded',
  model_context_length: 'context_length_exceeded',
}

/** A client may try these again: nothing has happened yet, and it may be otherwise in a moment. */
const AGAIN: ReadonlySet<ErrorCode> = new Set(['queue_full', 'too_many', 'unavailable', 'store_locked'])

/** True for the paths that OpenAI's clients ask. */
export function isChatPath(path: string): boolean {
  return /^\/v1\/(models|chat)(\/|$)/.test(path)
}

/** Returns the answer to a failed request of OpenAI's client. */
export function chatErrorAnswer(error: unknown): ChatErrorAnswer {
  const { status, body } = errorAnswer(error)
  const code = errorCode(error)
  const refusal = error instanceof ChatRefused ? error.refusal : {}
  const name = refusal.name ?? NAMES[code] ?? code
  const server = status >= LEAST_SERVER_ERROR ? 'server_error' : 'invalid_request_error'
  const type = code === 'budget_spent' ? 'insufficient_quota' : (TYPES[status] ?? server)
  // Their clients repeat most failures by themselves.
  const again = refusal.again ?? AGAIN.has(code)
  return {
    status,
    body: { error: { message: body.error.message, type, code: name, param: refusal.param ?? null } },
    headers: { 'x-should-retry': String(again) },
  }
}
