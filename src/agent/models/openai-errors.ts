import type { ErrorCode } from '../../core/errors.ts'
import {
  notAnswered,
  notTheApi,
  publicUrl,
  type SeenAnswer,
  versionHint,
  type WireCall,
} from '../../core/wire-error.ts'
import { ModelError, type RetryAdvice } from './model-error.ts'
import { redacted, retryAdvice, TOO_LONG, wordsOf } from './sdk-failure.ts'

export const PUBLIC_API = 'https://api.openai.com/v1'

/** The fields of an SDK error, if the API answered at all. */
interface ApiFailure {
  readonly status?: number | undefined
  /** The error object of the answer. Compatible servers put a sentence there, or a number into the code. */
  readonly error?: unknown
  readonly code?: unknown
  readonly type?: unknown
  readonly headers?: Headers | undefined
}

/** Errors that come inside a stream have a code or a type and no status. */
const STATUS_OF_WORD: Readonly<Record<string, number>> = {
  context_length_exceeded: 400,
  invalid_request_error: 400,
  BadRequestError: 400,
  invalid_api_key: 401,
  authentication_error: 401,
  model_not_found: 404,
  insufficient_quota: 429,
  rate_limit_exceeded: 429,
}

const QUOTA = /insufficient_quota|billing_hard_limit_reached|credit/i

interface Asked {
  readonly apiKey: string
  readonly baseUrl: string
}

/**
 * Maps whatever the SDK throws to a `model_*` code. The message is for the operator and holds the server's own words,
 * without the key. The SDK's error object, with its headers, goes no further.
 */
export function toModelError(thrown: unknown, { apiKey, baseUrl }: Asked): ModelError {
  if (thrown instanceof ModelError) return thrown
  const failure: ApiFailure = typeof thrown === 'object' && thrown !== null ? thrown : {}
  const status = failure.status ?? statusInStream(failure)
  const words = redacted(sentenceOf(failure.error) ?? wordsOf(thrown), apiKey)
  if (status === undefined) {
    const said = notAnswered(callTo(baseUrl), words)
    return new ModelError('model_failed', `${serverName(baseUrl)}: ${said}${whereTo(baseUrl)}`, {
      advice: { retry: true },
    })
  }
  const type = failure.headers?.get('content-type') ?? ''
  if (failure.status !== undefined && isStrange(status, failure.error)) {
    return status < 500 ? notOpenAi(baseUrl, { status, type }) : inTrouble(baseUrl, { status, type }, failure.headers)
  }
  const [code, remedy] = codeOf(status, failure, words)
  const message = `${serverName(baseUrl)} answered ${status}: ${words}${remedy}`
  return new ModelError(code, message, { advice: adviceOf(status, failure, words) })
}

/** Returns what to throw where something answered that is not the Chat Completions API. */
export function notOpenAi(baseUrl: string, answer: SeenAnswer): ModelError {
  const said = `${serverName(baseUrl)}: ${notTheApi(callTo(baseUrl), answer)}${versionHint(baseUrl)}`
  return new ModelError('model_unconfigured', said, { advice: { retry: false } })
}

/** The API says why in a sentence. One that stands alone could be that of any server that does not know the path. */
function isStrange(status: number, error: unknown): boolean {
  return sentenceOf(error) === undefined || (status === 404 && typeof error === 'string' && !/model/i.test(error))
}

/** The body of such an answer is a page of some gateway, which says nothing to an operator. */
function inTrouble(baseUrl: string, answer: SeenAnswer, headers: Headers | undefined): ModelError {
  const said = `${serverName(baseUrl)}: ${notTheApi(callTo(baseUrl), answer)}`
  return new ModelError('model_overloaded', said, { advice: retryAdvice(answer.status, headers) })
}

/** Returns true for OpenAI's own servers, whatever their region. */
export function isPublicApi(baseUrl: string): boolean {
  return /(^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname)
}

/** The name of the server in messages: the models of a compatible one are not OpenAI's. */
export function serverName(baseUrl: string): string {
  return isPublicApi(baseUrl) ? 'OpenAI' : new URL(baseUrl).host
}

function callTo(baseUrl: string): WireCall {
  return {
    call: 'POST /chat/completions',
    at: publicUrl(baseUrl),
    api: 'the Chat Completions API of OpenAI',
    setting: 'models.openai.baseUrl',
  }
}

/** Nobody has to look for the address of OpenAI itself; that of another server may be wrong. */
function whereTo(baseUrl: string): string {
  return isPublicApi(baseUrl) ? '' : `. Check models.openai.baseUrl (${publicUrl(baseUrl)}) and that its server runs.`
}

function codeOf(status: number, { code }: ApiFailure, words: string): [ErrorCode, string] {
  if (isQuota(status, code, words)) return ['model_overloaded', ' Check the plan and the credit of the key.']
  if (status === 401 || status === 403) return ['model_auth', ' Check models.openai.apiKey.']
  if (status === 404) return ['model_unconfigured', ' Check the model name of the agent and models.openai.baseUrl.']
  const tooLong = code === 'context_length_exceeded' || TOO_LONG.test(words)
  if (status === 413 || (status === 400 && tooLong)) return ['model_context_length', '']
  if (status === 400 || status === 422) return ['model_invalid_request', '']
  if (status === 429 || (status >= 500 && status !== 504)) return ['model_overloaded', '']
  return ['model_failed', '']
}

function adviceOf(status: number, { code, headers }: ApiFailure, words: string): RetryAdvice {
  return isQuota(status, code, words) ? { retry: false } : retryAdvice(status, headers)
}

/** 402 is how OpenRouter says it. */
function isQuota(status: number, code: unknown, words: string): boolean {
  return status === 402 || (status === 429 && (QUOTA.test(String(code)) || /exceeded your current quota/.test(words)))
}

/** An error inside a stream counts as one of the server unless it says something else. */
function statusInStream({ error, code, type }: ApiFailure): number | undefined {
  if (error === undefined) return undefined
  const number = Number(code)
  if (Number.isInteger(number) && number >= 400 && number < 600) return number
  return STATUS_OF_WORD[String(code)] ?? STATUS_OF_WORD[String(type)] ?? 500
}

function sentenceOf(error: unknown): string | undefined {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null || !('message' in error)) return undefined
  return typeof error.message === 'string' ? error.message : JSON.stringify(error.message)
}
