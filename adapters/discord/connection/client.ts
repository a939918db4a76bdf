import { DefaultRestOptions, DiscordAPIError, HTTPError, RateLimitError, REST, RESTEvents } from 'discord.js'
import { askedWait, type Clock } from '../../../src/core/clock.ts'
import { DOORS } from '../../../src/core/doors.ts'
import { errorCode } from '../../../src/core/errors.ts'
import { readBytes } from '../../../src/core/read-bytes.ts'
import { readJson } from '../../../src/core/read-json.ts'
import { notAnswered, notTheApi, publicUrl, type WireCall, whyUnanswered } from '../../../src/core/wire-error.ts'
import { type Limits, underDeadline } from '../../shared/deadline.ts'
import { isFields } from '../../shared/fields.ts'
import { InvalidRequests } from './invalid-requests.ts'
import { watchWritten } from './wire-watch.ts'

/**
 * The result of one call (src/behaviour/guarantee.md, "Sending"). `refused`: a 4xx with the platform's own body,
 * nothing was done. `failed`: no readable answer. The token is redacted from every text.
 */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly result: unknown }
  | ({ readonly kind: 'refused' } & Refusal)
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly bytesMayHaveLeft: boolean
      /** The answer is larger than is read of one. */
      readonly tooLong?: true
    }

export interface Refusal {
  readonly status: number
  /** The platform's own number, such as 50001. */
  readonly code: number
  readonly message: string
  readonly retryAfterMs?: number
}

/** Returns why a call was refused, in the platform's own words. */
export function reasonOf({ status, code, message }: Refusal): string {
  return code === 0 ? `${status}: ${message}` : `${code}: ${message}`
}

export interface Call {
  readonly verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: `/${string}`
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
  /** Sent beside the body, as a form. */
  readonly files?: readonly { readonly name: string; readonly data: Buffer; readonly contentType: string }[]
}

export type CallOptions = Limits

/**
 * The REST API as one bot sees it, through discord.js. Never throws, never repeats, and lets a call go at its deadline.
 */
export interface DiscordClient {
  call(call: Call, options: CallOptions): Promise<CallOutcome>
  /** Ms for which nothing leaves, so many requests having been refused; 0: all is well. */
  pausedMs(): number
  close(): void
}

interface ClientSettings {
  readonly token: string
  readonly apiRoot: string | undefined
  readonly clock: Clock
  /** Refused requests after which nothing leaves for a while; the platform's own half by default. */
  readonly mostRefused?: number
  /** Called each time the pause begins. */
  readonly onPaused?: (ms: number) => void
}

/** Errors that come before a connection stands: nothing can have left. Anything else may have. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** `retries: 0`: the library repeats creates whose answer was lost, up to four copies. */
function restOptions(apiRoot: string | undefined) {
  return {
    retries: 0,
    // Waiting is the affair of the one who keeps the queue: an empty bucket is an answer like a 429.
    rejectOnRateLimit: () => true,
    makeRequest: request,
    ...(apiRoot === undefined ? {} : { api: apiRoot.replace(/\/+$/, '') }),
  }
}

type Request = typeof DefaultRestOptions.makeRequest

/** Sends a request whose answer the library cannot read by itself: its bytes and its values have bounds. */
async function request(...[url, init]: Parameters<Request>): ReturnType<Request> {
  const answer = await sendBytes(url, init)
  const bounds = DOORS.platformAnswer
  const bytes = () => readBytes((answer.body ?? []) as AsyncIterable<Uint8Array>, bounds.bytes)
  return Object.assign(answer, {
    json: async () => readJson(await bytes(), bounds),
    text: async () => (await bytes()).toString('utf8'),
    arrayBuffer: async () => new Uint8Array(await bytes()).buffer,
  })
}

/**
 * Writes a form out before it is sent. All copies of undici in the process share one dispatcher, that of whichever is
 * loaded first, and it reads no forms but its own: Slack's library brings another copy than this one.
 */
async function sendBytes(...[url, init]: Parameters<Request>): ReturnType<Request> {
  if (!(init.body instanceof FormData)) return DefaultRestOptions.makeRequest(url, init)
  const form = new Response(init.body)
  const headers = { ...init.headers, 'content-type': form.headers.get('content-type') ?? '' }
  return DefaultRestOptions.makeRequest(url, { ...init, headers, body: new Uint8Array(await form.arrayBuffer()) })
}

export function createClient(settings: ClientSettings): DiscordClient {
  const { token, apiRoot, clock } = settings
  // One event for each request that the platform counts against us.
  const rest = new REST({ ...restOptions(apiRoot), invalidRequestWarningInterval: 1 })
  const invalid = new InvalidRequests(settings.mostRefused)
  rest.on(RESTEvents.InvalidRequestWarning, () => {
    const before = invalid.pauseMs(clock.elapsed())
    invalid.note(clock.elapsed())
    const after = invalid.pauseMs(clock.elapsed())
    if (before === 0 && after > 0) settings.onPaused?.(after)
  })
  const unwatch = watchWritten()
  const at = publicUrl(apiRoot ?? PUBLIC_API)
  return {
    call({ verb, path, query, body, files }, options) {
      if (options.signal.aborted) return Promise.resolve(NEVER_BEGUN)
      const retryAfterMs = invalid.pauseMs(clock.elapsed())
      if (retryAfterMs > 0) return Promise.resolve({ ...PAUSED, retryAfterMs })
      // The library forgets the token after one 401; a token may be given back.
      rest.setToken(token)
      const request = {
        fullRoute: path,
        ...(query === undefined ? {} : { query: new URLSearchParams(query) }),
        ...(body === undefined ? {} : { body }),
        ...(files === undefined ? {} : { files: [...files] }),
      }
      const wireCall: WireCall = { call: `${verb} ${shown(path)}`, at, api: 'the Discord API', setting: 'apiRoot' }
      const abort = new AbortController()
      return underDeadline<CallOutcome>(clock, options, {
        begin: () =>
          rest.request({ ...request, method: verb as never, signal: abort.signal }).then(
            (result) => readAnswer(result, wireCall),
            (error: unknown) => withoutToken(readFailure(error, wireCall), token),
          ),
        cut: () => abort.abort(),
        givenUp: (why) => ({ kind: 'failed', reason: notAnswered(wireCall, why), bytesMayHaveLeft: true }),
        spoiled: ({ kind }) => kind === 'failed',
      })
    },
    pausedMs: () => invalid.pauseMs(clock.elapsed()),
    close() {
      unwatch()
      rest.clearHashSweeper()
      rest.clearHandlerSweeper()
    },
  }
}

const NEVER_BEGUN: CallOutcome = { kind: 'failed', reason: 'stopped', bytesMayHaveLeft: false }

/** A server may repeat what it was sent in what it says. */
function withoutToken(outcome: CallOutcome, token: string): CallOutcome {
  const clean = (text: string): string => text.replaceAll(token, '[token]').slice(0, LONGEST_REASON)
  switch (outcome.kind) {
    case 'answered':
      return outcome
    case 'refused':
      return { ...outcome, message: clean(outcome.message) }
    case 'failed':
      return { ...outcome, reason: clean(outcome.reason) }
  }
}

const LONGEST_REASON = 300

const PAUSED = { kind: 'refused', status: 429, code: 0, message: 'too many requests were refused' } as const

const PUBLIC_API = 'https://discord.com/api'

/** The paths of interactions carry their tokens. */
function shown(path: string): string {
  return path.replace(/^(\/(?:webhooks|interactions)\/[^/]+\/)[^/]+/, '$1…')
}

/** The library reads what is not JSON as bytes. Nothing at all is an answer: so is a deletion confirmed. */
function readAnswer(result: unknown, wireCall: WireCall): CallOutcome {
  if (!(result instanceof ArrayBuffer) || result.byteLength === 0) return { kind: 'answered', result }
  const reason = notTheApi(wireCall, { status: 200, type: typeOf(result) })
  return { kind: 'failed', reason, bytesMayHaveLeft: true }
}

/** The library does not hand on the content type. */
function typeOf(body: unknown): string {
  if (isFields(body) && !(body instanceof ArrayBuffer)) return 'application/json'
  const text = body instanceof ArrayBuffer ? new TextDecoder().decode(body.slice(0, 100)) : String(body)
  return text.trimStart().startsWith('<') ? 'text/html' : ''
}

function readFailure(error: unknown, wireCall: WireCall): CallOutcome {
  if (error instanceof RateLimitError) {
    const retryAfterMs = askedWait(Math.max(error.retryAfter, error.timeToReset, 1))
    return { kind: 'refused', status: 429, code: 0, message: 'rate limited', retryAfterMs }
  }
  if (error instanceof DiscordAPIError) return refusal(error, wireCall)
  if (error instanceof HTTPError) {
    const { call, at } = wireCall
    const reason = `${call} at ${at} was answered ${error.status} ${error.message}`
    return { kind: 'failed', reason, bytesMayHaveLeft: true }
  }
  const readAs = errorCode(error)
  if (readAs === 'too_long') {
    return {
      kind: 'failed',
      reason: notAnswered(wireCall, whyUnanswered(error)),
      bytesMayHaveLeft: true,
      tooLong: true,
    }
  }
  // The body is called JSON and is not; a connection that breaks off has an error code instead.
  if (readAs === 'invalid') {
    const reason = notTheApi(wireCall, { status: 200, type: 'application/json' })
    return { kind: 'failed', reason, bytesMayHaveLeft: true }
  }
  const code = codeOf(error)
  return {
    kind: 'failed',
    reason: notAnswered(wireCall, whyUnanswered(error)),
    bytesMayHaveLeft: !NOT_CONNECTED.has(code),
  }
}

/** Slow mode and the like come as a 4xx with a time to wait. */
function refusal({ status, code, message, rawError }: DiscordAPIError, wireCall: WireCall): CallOutcome {
  const raw: unknown = rawError
  // A page of some proxy says nothing about what was done behind it.
  if (!isFields(raw) || typeof raw.message !== 'string') {
    return { kind: 'failed', reason: notTheApi(wireCall, { status, type: typeOf(raw) }), bytesMayHaveLeft: true }
  }
  const wait = raw.retry_after
  return {
    kind: 'refused',
    status,
    code: typeof code === 'number' ? code : 0,
    message: message.replaceAll('\n', ' '),
    ...(typeof wait === 'number' ? { retryAfterMs: askedWait(wait * 1000) } : {}),
  }
}

/** The code of an error or of what caused it; of several addresses tried, all must have failed alike. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  if (error instanceof AggregateError && error.errors.length > 0) {
    const codes = new Set(error.errors.map(codeOf))
    return [...codes].every((code) => NOT_CONNECTED.has(code)) ? ([...codes][0] ?? '') : ''
  }
  return codeOf(error.cause)
}
