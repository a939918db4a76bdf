import type { ErrorCode } from '../../core/errors.ts'
import { notAnswered, notTheApi, publicUrl, type SeenAnswer, type WireCall } from '../../core/wire-error.ts'
import { ModelError, type RetryAdvice } from './model-error.ts'
import { redacted, retryAdvice, TOO_LONG, wordsOf } from './sdk-failure.ts'

/** The fields of an SDK error, if the API answered at all. */
interface ApiFailure {
  readonly status?: number | undefined
  readonly type?: string | null
  readonly errorCode?: string | null
  readonly apiMessage?: string | null
  readonly headers?: Headers | undefined
}

/** Errors that come inside a stream have a type and no status. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

const SPEND_CAP = 'enforced_spend_limit_reached'

/**
 * Maps whatever the SDK throws to a `model_*` code. The message is for the operator and holds the API's own words,
 * without the key. The SDK's error object, with its headers, goes no further.
 */
export function toModelError(
  thrown: unknown,
  { apiKey, baseUrl }: { readonly apiKey: string; readonly baseUrl: string },
): ModelError {
  if (thrown instanceof ModelError) return thrown
  const failure: ApiFailure = typeof thrown === 'object' && thrown !== null ? thrown : {}
  const status = failure.status ?? STATUS_OF_TYPE[failure.type ?? '']
  const words = redacted(failure.apiMessage || wordsOf(thrown), apiKey)
  if (status === undefined) {
    const said = notAnswered(callTo(baseUrl), words)
    return new ModelError('model_failed', `Anthropic: ${said}`, { advice: { retry: true } })
  }
  const type = failure.headers?.get('content-type') ?? ''
  if (failure.status !== undefined && status < 500 && !failure.type) return notAnthropic(baseUrl, { status, type })
  const [code, remedy] = codeOf(status, failure, words)
  return new ModelError(code, `Anthropic answered ${status}: ${words}${remedy}`, { advice: adviceOf(status, failure) })
}

/** Returns what to throw where something answered that is not the Messages API. */
export function notAnthropic(baseUrl: string, answer: SeenAnswer): ModelError {
  const said = `Anthropic: ${notTheApi(callTo(baseUrl), answer)}`
  return new ModelError('model_unconfigured', said, { advice: { retry: false } })
}

function callTo(baseUrl: string): WireCall {
  return {
    call: 'POST /v1/messages',
    at: publicUrl(baseUrl),
    api: "Anthropic's Messages API",
    setting: 'models.anthropic.baseUrl',
  }
}

function codeOf(status: number, { errorCode }: ApiFailure, words: string): [ErrorCode, string] {
  if (status === 401 || status === 403) return ['model_auth', ' Check models.anthropic.apiKey.']
  if (status === 404) return ['model_unconfigured', ' Check the model name of the agent and models.anthropic.baseUrl.']
  if (status === 413 || (status === 400 && TOO_LONG.test(words))) return ['model_context_length', '']
  if (status === 400) return ['model_invalid_request', '']
  if (status === 429 && errorCode === SPEND_CAP) return ['model_overloaded', ' Raise the spend limit of the key.']
  if (status === 429 || (status >= 500 && status !== 504)) return ['model_overloaded', '']
  return ['model_failed', '']
}

function adviceOf(status: number, { errorCode, headers }: ApiFailure): RetryAdvice {
  return errorCode === SPEND_CAP ? { retry: false } : retryAdvice(status, headers)
}
