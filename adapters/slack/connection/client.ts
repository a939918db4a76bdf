import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebClient,
  type WebClientOptions,
} from '@slack/web-api'
import type { Clock } from '../../../src/core/clock.ts'
import { notAnswered, notTheApi, publicUrl, type WireCall, whyUnanswered } from '../../../src/core/wire-error.ts'
import { type Limits, underDeadline } from '../../shared/deadline.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import { quietLogger } from './quiet-logger.ts'
import type { SlackMethod } from './scopes.ts'
import { createWire, type WatchedCall } from './wire-watch.ts'

/**
 * The result of one call (src/behaviour/guarantee.md, "Sending"). `refused`: the platform refused and did nothing.
 * `failed`: no readable answer, or one that leaves open what was done. The token is redacted from every text.
 */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly result: Fields }
  | ({ readonly kind: 'refused' } & Refusal)
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly bytesMayHaveLeft: boolean
      /** The answer is larger than is read of one. */
      readonly tooLong?: true
    }

export interface Refusal {
  /** The platform's word, such as `channel_not_found`. */
  readonly error: string
  readonly retryAfterSeconds?: number
  /** The scope that `missing_scope` names. */
  readonly needed?: string
  /** Says what answered where it was not the platform. */
  readonly stranger?: string
}

export interface CallOptions extends Limits {
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
  call(method: SlackMethod, args: Fields, options: CallOptions): Promise<CallOutcome>
  /** Ends idle and busy connections. */
  close(): void
}

/** The one call that is none of the API. */
export interface SlackUploads {
  /** Sends the content of a file to the address that the API has named for it; the token does not go there. */
  upload(address: string, content: Buffer, options: CallOptions): Promise<CallOutcome>
}

/** For every call: the package would repeat each ten times, sends too. Deadline and signal are ours. */
export const CLIENT_OPTIONS = {
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
  logger: quietLogger,
  allowAbsoluteUrls: false,
} as const satisfies WebClientOptions

/** Answers after which something may have been done all the same (documented with each method's errors). */
const UNCERTAIN: ReadonlySet<string> = new Set(['fatal_error', 'internal_error', 'request_timeout'])

export function createClient({ token, apiRoot, clock }: ClientSettings): SlackClient & SlackUploads {
  const wire = createWire()
  const root = apiRoot === undefined ? {} : { slackApiUrl: apiRoot }
  const at = publicUrl(apiRoot ?? PUBLIC_API)
  return {
    call(method, args, options) {
      const watched = wire.watch(options.onWritten ?? (() => {}))
      const wireCall = slackCall(method, at)
      const fail = (why: string): CallOutcome => {
        const reason = notAnswered(wireCall, why).replaceAll(token, '[token]')
        const outcome = { kind: 'failed', reason, bytesMayHaveLeft: watched.bytesMayHaveLeft() } as const
        return watched.isTooLong() ? { ...outcome, tooLong: true } : outcome
      }
      const abort = new AbortController()
      const begin = (): Promise<CallOutcome> => {
        const fetch: WatchedCall['fetch'] = (input, init) => watched.fetch(input, { ...init, signal: abort.signal })
        // One for each call, so that what left the machine is known of this call and no other.
        return new WebClient(token, { ...CLIENT_OPTIONS, ...root, fetch }).apiCall(method, { ...args }).then(
          (result): CallOutcome => ({ kind: 'answered', result: { ...result } }),
          (error: unknown): CallOutcome => {
            const refusal = readRefusal(error)
            const stranger = strangerIn(error, { watched, wireCall })
            if (refusal !== null) return stranger === undefined ? refusal : { ...refusal, stranger }
            if (stranger === undefined) return fail(reasonOf(error))
            return { kind: 'failed', reason: stranger, bytesMayHaveLeft: true }
          },
        )
      }
      return underDeadline(clock, options, {
        begin,
        cut: () => abort.abort(),
        givenUp: fail,
        spoiled: ({ kind }) => kind === 'failed',
      })
    },
    upload(address, content, options) {
      const watched = wire.watch(options.onWritten ?? (() => {}))
      const wireCall: WireCall = { ...slackCall('the upload of a file'), at: publicUrl(new URL(address).origin) }
      const abort = new AbortController()
      const fail = (why: string): CallOutcome => {
        const reason = notAnswered(wireCall, why)
        return { kind: 'failed', reason, bytesMayHaveLeft: watched.bytesMayHaveLeft() }
      }
      return underDeadline(clock, options, {
        begin: () =>
          watched.send(address, { content, signal: abort.signal }).then(
            ({ ok, status }): CallOutcome => {
              if (ok) return { kind: 'answered', result: {} }
              return status < 500 ? { kind: 'refused', error: `http_${status}` } : fail(`it was answered ${status}`)
            },
            (error: unknown) => fail(reasonOf(error)),
          ),
        cut: () => abort.abort(),
        givenUp: fail,
        spoiled: ({ kind }) => kind === 'failed',
      })
    },
    close: () => wire.close(),
  }
}

const PUBLIC_API = 'https://slack.com/api/'

export function slackCall(method: string, at = publicUrl(PUBLIC_API)): WireCall {
  return { call: method, at, api: 'the Slack Web API', setting: 'apiRoot' }
}

/** Says what answered if it was not the platform; undefined where it was, or where nothing answered to the end. */
export function strangerIn(
  error: unknown,
  { watched, wireCall }: { readonly watched: WatchedCall; readonly wireCall: WireCall },
): string | undefined {
  const answer = watched.isTooLong() ? undefined : watched.answer()
  if (answer === undefined || brokeOff(error) || error instanceof WebAPIRateLimitedError) return undefined
  if (error instanceof WebAPIPlatformError && isWord(error.data.error)) return undefined
  return notTheApi(wireCall, answer)
}

/** The line ended in the middle of the answer; the package may wrap the error of the line. */
function brokeOff(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const codes = [error, error.cause, Reflect.get(error, 'original')].map((one) => isFields(one) && one.code)
  return codes.some((code) => typeof code === 'string' && /^E[A-Z_]+$/.test(code))
}

/** Names of scopes; a server may say anything. */
const SCOPES = /^[a-z_.:, ]{1,300}$/i

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
  if (!isWord(code) || UNCERTAIN.has(code)) return null
  return { kind: 'refused', error: code, ...(typeof needed === 'string' && SCOPES.test(needed) ? { needed } : {}) }
}

/** The platform's errors are words; the package puts there what it could not read. */
function isWord(error: unknown): error is string {
  return typeof error === 'string' && /^[a-z0-9_]{1,80}$/.test(error)
}

const LONGEST_REASON = 300

function reasonOf(error: unknown): string {
  // An unreadable answer may be a page of any length.
  return whyUnanswered(error).slice(0, LONGEST_REASON)
}
