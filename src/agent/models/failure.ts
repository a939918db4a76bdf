import type { ErrorCode } from '../../core/errors.ts'
import type { ServerKind } from '../../core/model-server.ts'
import {
  notAnswered,
  publicUrl,
  type SeenAnswer,
  versionHint,
  type WireCall,
  wasAnswered,
  whyUnanswered,
  notTheApi as wireNotTheApi,
} from '../../core/wire-error.ts'
import { readErrorBody, readErrorValue, type SaidError, saysError } from './error-body.ts'
import { ModelError, type ModelRefusal, type RetryAdvice } from './model-error.ts'
import { isAboutTheRequest, isBadCall, isBadKey, isFlagged, isNoCredit, isNoPath, isTooLong } from './refusals.ts'

/** The errors of both client libraries, as far as they are the same. */
interface Thrown {
  readonly status?: unknown
  /** OpenAI's library keeps the error of the body here, Anthropic's the body. */
  readonly error?: unknown
  readonly headers?: unknown
}

/**
 * Maps whatever a client library throws to a `model_*` code, by the same rules for both protocols: the status decides,
 * and the words where a status means several things. The message is for the operator and holds the server's own words,
 * without the key. The library's error, with its headers, goes no further.
 */
export function toModelError(thrown: unknown, server: ServerPlace): ModelError {
  const known = causesOf(thrown).find((error) => error instanceof ModelError)
  if (known !== undefined) return known
  const { status, error, headers }: Thrown = typeof thrown === 'object' && thrown !== null ? thrown : {}
  const body = typeof error === 'string' ? readErrorBody(error, '') : readErrorValue(error)
  const sent = headers instanceof Headers ? headers : new Headers()
  if (typeof status === 'number') return refused({ status, body, headers: sent }, server)
  return body === undefined
    ? unreached(thrown, server)
    : refused({ status: statusIn(body), body, headers: sent }, server)
}

/** Returns what to throw for a chunk of a stream that says an error in place of a part of the answer, or undefined. */
export function failureIn(chunk: unknown, server: ServerPlace): ModelError | undefined {
  const body = saysError(chunk) ? readErrorValue(chunk) : undefined
  return body && refused({ status: statusIn(body), body, headers: new Headers() }, server)
}

/** Returns what to throw where the reason for the end of an answer stands for a call that nobody can read. */
export function badCallOf(reason: string, server: ServerPlace): ModelError | undefined {
  if (!isBadCall({ words: reason })) return undefined
  const message = `${serverName(server)} ended the answer with ${reason}.`
  return new ModelError('model_bad_call', message, { advice: { retry: true } })
}

/** Returns what to throw where something answered that is not the API. */
export function notTheApi(server: ServerPlace, answer: SeenAnswer): ModelError {
  const hint = answer.status >= 500 || isPublicApi(server) ? '' : elsewhereHint(server)
  const said = `${vendorOf(server)}${wireNotTheApi(callTo(server), answer)}${hint}`
  return new ModelError('model_unconfigured', said, {
    advice: { retry: false },
    refusal: { status: answer.status, words: '' },
  })
}

/** Returns what to throw where a server redirects to another origin, whose address stands in no configuration. */
export function redirected(server: ServerPlace, to: URL | undefined): ModelError {
  const { call, at } = callTo(server)
  const there = to === undefined ? 'what is no address' : to.origin
  const message = `${vendorOf(server)}${call} at ${at} is redirected to ${there}, which is not followed`
  const remedy = `Set models.${server.name}.baseUrl to the address of the server itself.`
  return new ModelError('model_unconfigured', `${message}. ${remedy}`, { advice: NO_RETRY })
}

/** The setting besides the address that may be wrong. */
function elsewhereHint({ name, kind, baseUrl }: ServerPlace): string {
  return `${kind === 'openai' ? versionHint(baseUrl) : ''}, or the kind of models.${name}`
}

interface Answer {
  readonly status: number
  /** Undefined: it says nothing. */
  readonly body: SaidError | undefined
  readonly headers: Headers
}

/** Statuses that mean the same from a proxy, a gateway and the API. */
const CLEAR: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 409, 413, 425, 429, 498])

function refused({ status, body, headers }: Answer, server: ServerPlace): ModelError {
  const type = headers.get('content-type') ?? ''
  const seen = { status, type }
  if (isElsewhere(seen, body)) return notTheApi(server, seen)
  const refusal = refusalOf(status, body, server)
  const wait = body?.retryAfterMs ?? waitOf(headers)
  const waits = body?.retryAfterMs !== undefined || body?.type === 'RESOURCE_EXHAUSTED'
  const {
    code,
    remedy = '',
    passes,
  } = (status === 400 ? wrongScheme(refusal.words, server) : undefined) ??
  verdict(refusal, { waits, name: server.name })
  const said =
    refusal.words === '' ? unsaid(seen, server) : `${serverName(server)} answered ${status}: ${refusal.words}`
  const advice = passes && headers.get('x-should-retry') !== 'false' ? again(wait) : NO_RETRY
  return new ModelError(code, `${said}${remedy === '' ? '' : `${closed(said)} ${remedy}`}`, { advice, refusal })
}

/** Returns true for an answer of something that does not know the API: another server, a page, a wrong path. */
function isElsewhere({ status, type }: SeenAnswer, body: SaidError | undefined): boolean {
  if (body !== undefined) return (status === 404 || status === 405) && isNoPath(body.message)
  if (status >= 500 || CLEAR.has(status)) return false
  // An API may refuse what it was asked without a word; a page or JSON of another kind is from elsewhere.
  return type !== '' || status === 404 || status === 405
}

function refusalOf(status: number, body: SaidError | undefined, { apiKey }: ServerPlace): ModelRefusal {
  const { message = '', param, code = body?.type } = body ?? {}
  const words = param === undefined || message.includes(param) ? message : `${message} (${param})`
  return { status, words: redacted(words, apiKey), ...(code === undefined ? {} : { code: redacted(code, apiKey) }) }
}

function unsaid(answer: SeenAnswer, server: ServerPlace): string {
  return `${vendorOf(server)}${wasAnswered(callTo(server), answer)}`
}

interface Verdict {
  readonly code: ErrorCode
  readonly remedy?: string
  /** The same request may succeed in a moment. */
  readonly passes: boolean
}

const NO_RETRY: RetryAdvice = { retry: false }

interface About {
  /** The server says when it can be asked again. */
  readonly waits: boolean
  /** The name of the server under `models`. */
  readonly name: string
}

/** Says what a refusal means: the words where one status stands for several things, else the status. */
function verdict(refusal: ModelRefusal, about: About): Verdict {
  if (isBadCall(refusal)) return { code: 'model_bad_call', passes: true }
  return ofTheAccount(refusal, about) ?? ofTheRequest(refusal) ?? ofTheStatus(refusal.status, about.name)
}

/** Statuses by which an API refuses what it was asked, whatever the reason. */
const REFUSING: ReadonlySet<number> = new Set([400, 403, 422, 451])

function ofTheAccount(refusal: ModelRefusal, { waits, name }: About): Verdict | undefined {
  const { status, words } = refusal
  if (status === 401) return badKey(name)
  if (isNoCredit(refusal, waits))
    return { code: 'model_no_credit', remedy: 'Check the plan and the credit of the key.', passes: false }
  if (!REFUSING.has(status) || isFlagged(refusal)) return undefined
  const isKey = status === 403 ? !isAboutTheRequest(words) : isBadKey(refusal)
  return isKey ? badKey(name) : undefined
}

function ofTheRequest(refusal: ModelRefusal): Verdict | undefined {
  const { status, words } = refusal
  if (REFUSING.has(status) && isFlagged(refusal)) return { code: 'model_refused', passes: false }
  if (status === 413 || isTooLong(refusal)) return { code: 'model_context_length', passes: false }
  const isVain = isAboutTheRequest(words) && !PASSING.has(status)
  return isVain ? { code: 'model_invalid_request', passes: false } : undefined
}

function badKey(name: string): Verdict {
  return { code: 'model_auth', remedy: `Check models.${name}.apiKey.`, passes: false }
}

/** Statuses of a server that is busy, whatever it says. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429, 498, 503, 504, 529])

function ofTheStatus(status: number, name: string): Verdict {
  if (status === 404 || status === 405) {
    const remedy = `Check the model name of the agent and models.${name}.baseUrl.`
    return { code: 'model_unconfigured', remedy, passes: false }
  }
  if (status === 429 || status === 498 || (status >= 500 && status !== 504))
    return { code: 'model_overloaded', passes: true }
  if (PASSING.has(status)) return { code: 'model_failed', passes: true }
  return { code: status < 400 || status === 407 ? 'model_failed' : 'model_invalid_request', passes: false }
}

function again(afterMs: number | undefined): RetryAdvice {
  return afterMs === undefined ? { retry: true } : { retry: true, afterMs }
}

/** Returns the ms after which a server may be asked again, by its headers: a number, or a date by its own clock. */
function waitOf(headers: Headers): number | undefined {
  const ms = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (Number.isFinite(ms)) return ms
  const named = headers.get('retry-after') ?? ''
  const seconds = /^\s*\d/.test(named) ? Number.parseFloat(named) : Number.NaN
  if (Number.isFinite(seconds)) return seconds * 1_000
  const left = Date.parse(named) - Date.parse(headers.get('date') ?? '')
  return Number.isFinite(left) ? Math.max(0, left) : undefined
}

/** Names of servers for what happened within a stream, where they send no status with it. */
const STATUS_OF_NAME: readonly (readonly [RegExp, number])[] = [
  [
    /context_length|invalid_?(request|argument|prompt)|bad_?request|failed_precondition|validation|tool_use_failed|content_filter/i,
    400,
  ],
  [/api_key|authentication|unauthenticated|unauthorized/i, 401],
  [/billing|insufficient|payment|credit/i, 402],
  [/permission|forbidden/i, 403],
  [/not_?found/i, 404],
  [/too_large/i, 413],
  [/rate_?limit|too_many|resource_exhausted|quota/i, 429],
  [/timeout|deadline/i, 504],
  [/overloaded|unavailable/i, 529],
]

/** Returns the status of an error that came inside a stream. An error without a name is a fault of the server (500). */
function statusIn({ status, code = '', type = '' }: SaidError): number {
  const named = [code, type].map((name) => STATUS_OF_NAME.find(([pattern]) => pattern.test(name))?.[1])
  return status ?? named.find((found) => found !== undefined) ?? 500
}

/** Nobody has to look for the address of a vendor's own API; that of another server may be wrong. */
function unreached(thrown: unknown, server: ServerPlace): ModelError {
  const isNoJson = causesOf(thrown).some((error) => error instanceof SyntaxError)
  const words = redacted(isNoJson ? 'it sent what is no JSON' : whyUnanswered(thrown), server.apiKey)
  const scheme = wrongScheme(words, server)
  if (scheme !== undefined) {
    const { call, at } = callTo(server)
    // The words of the library stand in the log alone.
    const cause = new Error(words.slice(0, MOST_WORDS))
    return new ModelError(scheme.code, `${call} at ${at}: ${scheme.remedy}`, { advice: NO_RETRY, cause })
  }
  const said = notAnswered(callTo(server), words)
  const where = isPublicApi(server) ? '' : `. Check models.${server.name}.baseUrl and that its server runs.`
  return new ModelError('model_failed', `${vendorOf(server)}${said}${where}`, { advice: { retry: true } })
}

const MOST_WORDS = 100

/** Words of a TLS library that was answered without TLS, and of servers in Go that were asked without it. */
const SPEAKS = {
  http: /wrong[ _]version[ _]number|packet[ _]length[ _]too[ _]long/i,
  https: /HTTP request to an HTTPS server/i,
} as const

/** Returns what is wrong where an address begins with the wrong one of http and https; undefined otherwise. */
function wrongScheme(words: string, { name, baseUrl }: ServerPlace): Verdict | undefined {
  const { protocol } = new URL(baseUrl)
  const [asked, spoken] = protocol === 'https:' ? (['https', 'http'] as const) : (['http', 'https'] as const)
  if (!SPEAKS[spoken].test(words)) return undefined
  const remedy = `the server speaks ${spoken}, not ${asked}: write ${spoken}:// in models.${name}.baseUrl.`
  return { code: 'model_unconfigured', remedy, passes: false }
}

const MOST_CAUSES = 5

function causesOf(thrown: unknown): Error[] {
  const causes: Error[] = []
  for (let error = thrown; error instanceof Error && causes.length < MOST_CAUSES; error = error.cause)
    causes.push(error)
  return causes
}

function redacted(words: string, apiKey: string): string {
  return apiKey === '' ? words : words.replaceAll(apiKey, '[redacted]')
}

function closed(said: string): string {
  return /[.!?\u2026]$/.test(said) ? '' : '.'
}

/** A server of models as messages and requests name it. */
export interface ServerPlace {
  /** Its key under `models`. */
  readonly name: string
  readonly kind: ServerKind
  readonly baseUrl: string
  /** Empty: none is sent. */
  readonly apiKey: string
}

const PUBLIC_HOST = { openai: /(^|\.)api\.openai\.com$/, anthropic: /(^|\.)api\.anthropic\.com$/ } as const

/** Returns true for the servers of the vendor of the protocol, whatever their region. */
export function isPublicApi({ kind, baseUrl }: Pick<ServerPlace, 'kind' | 'baseUrl'>): boolean {
  return PUBLIC_HOST[kind].test(new URL(baseUrl).hostname)
}

/** Returns the name of the server in messages: the models of a compatible one are not the vendor's. */
export function serverName(server: Pick<ServerPlace, 'kind' | 'baseUrl'>): string {
  if (!isPublicApi(server)) return new URL(server.baseUrl).host
  return server.kind === 'openai' ? 'OpenAI' : 'Anthropic'
}

/** Names the vendor in front of a call, which names the address of any other server itself. */
function vendorOf(server: ServerPlace): string {
  return isPublicApi(server) ? `${serverName(server)}: ` : ''
}

/** Returns the call of an answer as messages name it. */
export function callTo({ name, kind, baseUrl }: ServerPlace): WireCall {
  const at = publicUrl(baseUrl)
  const setting = `models.${name}.baseUrl`
  return kind === 'openai'
    ? { call: 'POST /chat/completions', at, api: 'the Chat Completions API of OpenAI', setting }
    : { call: 'POST /v1/messages', at, api: "Anthropic's Messages API", setting }
}
