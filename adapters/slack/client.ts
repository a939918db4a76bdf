import { setMaxListeners } from 'node:events'
import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebClient,
  type WebClientOptions,
} from '@slack/web-api'
import type { Clock } from '../../src/core/clock.ts'
import { toError } from '../../src/core/errors.ts'
import { type Fields, isFields } from './fields.ts'
import { quietLogger } from './quiet-logger.ts'
import { createWire } from './wire.ts'

/**
 * How one call ended, classified by phase (RELIABILITY 3.2). `refused`: the platform said no and did nothing.
 * `failed`: no readable answer, or one that leaves open what was done. Every text is free of the token.
 */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly result: Fields }
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'failed'; readonly reason: string; readonly bytesMayHaveLeft: boolean }

export interface Refusal {
  /** The platform's word, such as `channel_not_found`. */
  readonly error: string
  readonly retryAfterSeconds?: number
  /** Of `missing_scope`. */
  readonly needed?: string
}

export interface CallOptions {
  /** The whole call, from the first byte out to the last byte in, ms. */
  readonly deadlineMs: number
  readonly signal: AbortSignal
  /** The request was handed to the operating system, the answer not read. */
  readonly onWritten?: () => void
}

interface ClientSettings {
  readonly token: string
  readonly apiRoot: string | undefined
  readonly clock: Clock
}

/** The Web API as one bot sees it. Never throws, never retries, and at its deadline lets a call go. */
export interface SlackClient {
  call(method: string, args: Fields, options: CallOptions): Promise<CallOutcome>
  /** Ends idle and busy connections. */
  close(): void
}

/** Of every call: the package's defaults are no deadline, and ten retries that each may repeat a send (M8). */
export const CLIENT_OPTIONS = {
  retryConfig: { retries: 0 },
  timeout: 15_000,
  rejectRateLimitedCalls: true,
  logger: quietLogger,
  allowAbsoluteUrls: false,
} as const satisfies WebClientOptions

/** Answers after which something may have been done all the same (documented with each method's errors). */
const UNCERTAIN: ReadonlySet<string> = new Set(['fatal_error', 'internal_error', 'request_timeout'])

export function createClient({ token, apiRoot, clock }: ClientSettings): SlackClient {
  const wire = createWire()
  const root = apiRoot === undefined ? {} : { slackApiUrl: apiRoot }
  return {
    async call(method, args, options) {
      const watched = wire.watch(options.onWritten ?? (() => {}))
      const fail = (reason: string): CallOutcome => {
        const bytesMayHaveLeft = watched.bytesMayHaveLeft()
        return { kind: 'failed', reason: reason.replaceAll(token, '[token]'), bytesMayHaveLeft }
      }
      if (options.signal.aborted) return fail('stopped')
      return letGo({ options, clock, fail }, (signal) => {
        const fetch = withSignal(watched.fetch, signal)
        // One for each call, so that what left the machine is known of this call and no other.
        return new WebClient(token, { ...CLIENT_OPTIONS, ...root, fetch }).apiCall(method, { ...args }).then(
          (result): CallOutcome => ({ kind: 'answered', result: { ...result } }),
          (error: unknown): CallOutcome => readRefusal(error) ?? fail(reasonOf(error)),
        )
      })
    },
    close: () => wire.close(),
  }
}

type Fetch = NonNullable<WebClientOptions['fetch']>

function withSignal(fetch: Fetch, signal: AbortSignal): Fetch {
  return (input, init) =>
    fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal })
}

interface Patience {
  readonly options: CallOptions
  readonly clock: Clock
  readonly fail: (reason: string) => CallOutcome
}

/** Runs a call until it ends, its deadline passes or the caller gives up; then it is cut and not waited for. */
function letGo(
  { options: { signal, deadlineMs }, clock, fail }: Patience,
  run: (signal: AbortSignal) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  return new Promise((resolve) => {
    const cut = new AbortController()
    const settle = (outcome: CallOutcome): void => {
      cancelTimer()
      signal.removeEventListener('abort', onStop)
      if (outcome.kind === 'failed') cut.abort()
      resolve(outcome)
    }
    const onStop = (): void => settle(fail('stopped'))
    const cancelTimer = clock.after(deadlineMs, () => settle(fail(`no answer within ${deadlineMs / 1000} s`)))
    // One signal ends many calls at once; that is no leak.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', onStop, { once: true })
    void run(cut.signal).then(settle)
  })
}

/** Null when the answer says nothing certain: a 5xx, a page of a proxy, an error after which something may stand. */
export function readRefusal(error: unknown): ({ readonly kind: 'refused' } & Refusal) | null {
  if (error instanceof WebAPIRateLimitedError) {
    return { kind: 'refused', error: 'ratelimited', retryAfterSeconds: error.retryAfter }
  }
  if (error instanceof WebAPIHTTPError) {
    return error.statusCode < 500 ? { kind: 'refused', error: `http_${error.statusCode}` } : null
  }
  if (!(error instanceof WebAPIPlatformError)) return null
  const data: unknown = error.data
  const { error: code, needed } = isFields(data) ? data : {}
  if (typeof code !== 'string' || !/^[a-z0-9_]{1,80}$/.test(code) || UNCERTAIN.has(code)) return null
  return { kind: 'refused', error: code, ...(typeof needed === 'string' ? { needed } : {}) }
}

function reasonOf(error: unknown): string {
  // What could not be read may be a page of any length.
  return toError(error).message.slice(0, 200)
}
