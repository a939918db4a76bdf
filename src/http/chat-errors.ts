import type { CompletionError } from '../core/completion.ts'
import { type ErrorCode, errorCode, ParleyError } from '../core/errors.ts'
import { ChatRefused } from '../core/operate-chat.ts'
import { type ErrorBody, errorAnswer, errorHeaders, type HttpStatus } from './errors.ts'

/** The answer to a failed request in the words of OpenAI, which their clients make errors of. */
export interface ChatErrorAnswer {
  readonly status: HttpStatus
  readonly body: CompletionError
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Failures that no repeat mends, with a status that no client repeats by itself: the official clients and the AI SDK
 * repeat 408, 409, 429 and all from 500, LangChain all but 400 to 407, 409 and 413. Only the official clients obey
 * `x-should-retry`.
 */
const HOPELESS: Readonly<Partial<Record<ErrorCode, HttpStatus>>> = {
  ...{ conflict: 400, aborted: 400, quarantined: 400, agent_gone: 400, turn_limit: 400, too_old: 400 },
  ...{ unreadable: 400, config: 400, no_driver: 400, store_newer: 400, store_broken: 400, migration_failed: 400 },
  ...{ model_unconfigured: 400, model_auth: 400, model_invalid_request: 400, model_cut: 400 },
  ...{ model_refused: 400, model_context_length: 400 },
  ...{ budget_spent: 402, model_no_credit: 402 },
}

const TYPES: Readonly<Partial<Record<HttpStatus, string>>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}
const LEAST_SERVER_ERROR = 500

/** The codes that OpenAI has words of their own for. */
const NAMES: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid: 'invalid_value',
  unauthorized: 'invalid_api_key',
  budget_spent: 'insufficient_quota',
  queue_full: 'rate_limit_exceeded',
  too_many: 'rate_limit_exceeded',
  model_context_length: 'context_length_exceeded',
  model_refused: 'content_policy_violation',
}
/** Clients look for these words, some of them for nothing else, and shorten the conversation. */
const TOO_LONG = "This model's maximum context length is exceeded."

/** A client may try these again: nothing has happened yet, and it may be otherwise in a moment. */
const AGAIN: ReadonlySet<ErrorCode> = new Set(['queue_full', 'too_many', 'unavailable', 'store_locked'])

/** Seconds. Without them the official client comes again in half a second, and LangChain never. */
const AGAIN_AFTER = '2'

const ASKED = 'models|chat|completions|responses|embeddings|moderations|audio|images|engines|deployments'
/** The paths of OpenAI, also behind a base URL that lacks `/v1` or has it twice. */
const PATHS = new RegExp(`^/+(?:(?:v1|api|openai)/+)*(?:${ASKED})(?:/|$)`)
/** The end of a path that is right but for what stands before or behind it. */
const MEANT = /\/(models|chat\/+completions)\/*$/

/** True for the paths that OpenAI's clients ask. */
export function isChatPath(path: string): boolean {
  return PATHS.test(path)
}

/** Returns the error for a path that is none, in words that whoever sets up a client can act on. */
export function noSuchPath({ method, path }: { readonly method: string; readonly path: string }): ParleyError {
  const words = `There is no ${method} ${path}`
  if (!isChatPath(path)) return new ParleyError('not_found', words)
  const meant = `/v1/${MEANT.exec(path)?.[1]?.replace(/\/+/, '/')}`
  const right = MEANT.test(path) && meant !== path ? `: ask ${meant}` : ''
  const there = "Of OpenAI's API there are GET /v1/models and POST /v1/chat/completions: the base URL ends in /v1."
  return new ChatRefused('not_found', `${words}${right}. ${there}`, { name: 'unknown_url' })
}

/** Whoever sets up a client reads the answer to a wrong token first. */
export const MAKE_TOKEN = '`parley token create api:<name> --scope chat` makes one.'

/** Returns the answer to a failed request of OpenAI's client. */
export function chatErrorAnswer(error: unknown): ChatErrorAnswer {
  const { status: own, body } = errorAnswer(error)
  const code = errorCode(error)
  const refusal = error instanceof ChatRefused ? error.refusal : {}
  const name = refusal.name ?? NAMES[code] ?? code
  const status = HOPELESS[code] ?? own
  const words = body.error.message
  const before = name === NAMES.model_context_length ? `${TOO_LONG} ` : ''
  const message = `${before}${words}${code === 'unauthorized' ? ` ${MAKE_TOKEN}` : ''}`
  const server = own >= LEAST_SERVER_ERROR && NAMES[code] === undefined ? 'server_error' : 'invalid_request_error'
  const type = code === 'budget_spent' ? 'insufficient_quota' : (TYPES[status] ?? server)
  // Their clients repeat most failures by themselves.
  const again = refusal.again ?? AGAIN.has(code)
  return {
    status,
    body: { error: { message, type, code: name, param: refusal.param ?? null } },
    headers: { 'x-should-retry': String(again), ...(again ? { 'retry-after': AGAIN_AFTER } : {}) },
  }
}

/** Returns the answer to a failed request for a path, in the words of whoever asks there. */
export function answerAt(
  path: string,
  error: unknown,
): ChatErrorAnswer | (Omit<ChatErrorAnswer, 'body'> & { readonly body: ErrorBody }) {
  const headers = errorHeaders(error)
  if (!isChatPath(path)) {
    const again = errorCode(error) === 'unavailable' ? { 'retry-after': AGAIN_AFTER } : {}
    return { ...errorAnswer(error), headers: { ...again, ...headers } }
  }
  const answer = chatErrorAnswer(error)
  return { ...answer, headers: { ...answer.headers, ...headers } }
}
