import type { Agent } from 'node:http'
import { Telegram, TelegramError } from 'telegraf'
import type { Telegram as ApiMethods, Opts } from 'telegraf/types'
import type { Clock } from '../../../src/core/clock.ts'
import { notAnswered, notTheApi, publicUrl, type WireCall, whyUnanswered } from '../../../src/core/wire-error.ts'
import { PlainAgent, SecureAgent } from '../../../src/platform/way-out.ts'
import { type Limits, underDeadline } from '../../shared/deadline.ts'
import { isFields } from '../../shared/fields.ts'
import { redactToken } from './redact.ts'
import { type WatchedWire, watchWire } from './wire-watch.ts'

/**
 * The result of one call (src/behaviour/guarantee.md, "Sending"). `refused`: a 4xx with a Bot API body, nothing was
 * done. `failed`: no readable answer. The token is redacted from every text.
 */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly result: unknown }
  | ({ readonly kind: 'refused' } & Refusal)
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly bytesMayHaveLeft: boolean
      /** The answer is larger than is read of one, and begins so. */
      readonly tooLong?: { readonly head: string }
    }

export interface Refusal {
  readonly code: number
  readonly description: string
  readonly retryAfterSeconds?: number
  readonly migratedTo?: number
}

export interface CallOptions extends Limits {
  /** The request was handed to the operating system, the answer not read. */
  readonly onWritten?: () => void
}

interface ClientSettings {
  readonly token: string
  /** A further secret of the calls, redacted from every text like the token. */
  readonly otherSecret?: string | undefined
  readonly apiRoot: string | undefined
  readonly clock: Clock
}

/**
 * The Bot API as one bot sees it, through the client of telegraf alone, without its framework. Never throws, never
 * retries, and at its deadline lets a call go without waiting for it. Each client has its own pool of connections.
 */
export interface TelegramClient {
  call<Method extends keyof ApiMethods>(
    method: Method,
    params: Opts<Method>,
    options: CallOptions,
  ): Promise<CallOutcome>
  /** Ends idle and busy connections. */
  close(): void
}

/** An idle connection older than this is not reused: what it would break by being closed already is a send. */
const IDLE_CONNECTION_MS = 20_000
const MAX_CONNECTIONS = 50
/** The most line objects kept for reuse: as many as calls are under way in a busy time. */
const MOST_IDLE_LINES = 256

/** The library objects that one call at a time needs; used again once the call was answered. */
interface Line {
  readonly telegram: Telegram
  readonly wire: WatchedWire
}

export function createClient({ token, otherSecret, apiRoot, clock }: ClientSettings): TelegramClient {
  const redact = (text: string): string => redactToken(redactToken(text, token), otherSecret ?? '')
  const root = apiRoot === undefined ? undefined : apiRoot.replace(/\/*$/, '/')
  const at = publicUrl(root ?? PUBLIC_API)
  const pool = createPool(root)
  const idle: Line[] = []

  function open(): Line {
    const telegram = new Telegram(token, root === undefined ? {} : { apiRoot: root })
    const wire = watchWire(pool)
    // telegraf takes no agent for plain http, but reads this field at each call.
    telegram.options.agent = wire.agent
    return { telegram, wire }
  }

  return {
    async call(method, params, options) {
      if (options.signal.aborted) return NEVER_BEGUN
      const line = idle.pop() ?? open()
      const { telegram, wire } = line
      wire.begin(options.onWritten)
      const wireCall: WireCall = { call: method, at, api: 'the Telegram Bot API', setting: 'apiRoot' }
      const failed = (text: string) => {
        const reason = redact(text)
        return { kind: 'failed', reason, bytesMayHaveLeft: wire.bytesMayHaveLeft() } as const
      }
      const outcome = await underDeadline<CallOutcome>(clock, options, {
        begin: () =>
          telegram.callApi(method, params).then(
            (result) => ({ kind: 'answered', result }),
            (error: unknown) => {
              const refusal = readRefusal(error, redact)
              const answer = wire.answer()
              const refused = wire.refused()
              if (refused) return { ...failed(notAnswered(wireCall, refused.reason)), tooLong: { head: refused.head } }
              if (refusal !== null) return refusal
              if (answer === undefined || brokeOff(error)) return failed(notAnswered(wireCall, causeOf(error, wire)))
              return failed(notTheApi(wireCall, answer))
            },
          ),
        cut: wire.cut,
        givenUp: (why) => failed(notAnswered(wireCall, why)),
        // Also for an answer that telegraf did not read to its end: that frees the connection.
        spoiled: ({ kind }) => kind === 'failed',
      })
      if (outcome.kind !== 'failed' && idle.length < MOST_IDLE_LINES) idle.push(line)
      return outcome
    },
    close: () => pool.destroy(),
  }
}

const PUBLIC_API = 'https://api.telegram.org/'

/** The line ended in the middle of the answer. */
function brokeOff(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

/** The client keeps of an error of the connection its words alone, behind the whole URL. */
function causeOf(error: unknown, wire: WatchedWire): string {
  return whyUnanswered(wire.failure() ?? error).replace(/^request to \S+ failed, reason: /, '')
}

const NEVER_BEGUN: CallOutcome = { kind: 'failed', reason: 'stopped', bytesMayHaveLeft: false }

function createPool(root: string | undefined): Agent {
  const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_CONNECTION_MS }
  return root?.startsWith('http://') === true ? new PlainAgent(options) : new SecureAgent(options)
}

/** Null when the answer is none of the Bot API's refusals: a 5xx says nothing about what was done. */
function readRefusal(error: unknown, redact: (text: string) => string): CallOutcome | null {
  if (!(error instanceof TelegramError)) return null
  const { error_code: code, description, parameters } = error.response
  if (!Number.isInteger(code) || code < 400 || code >= 500 || typeof description !== 'string') return null
  const given: unknown = parameters
  const { retry_after: wait, migrate_to_chat_id: moved } = isFields(given) ? given : {}
  return {
    kind: 'refused',
    code,
    description: redact(description),
    ...(typeof wait === 'number' ? { retryAfterSeconds: wait } : {}),
    ...(typeof moved === 'number' ? { migratedTo: moved } : {}),
  }
}
