import { setMaxListeners } from 'node:events'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Telegram, TelegramError } from 'telegraf'
import type { Telegram as ApiMethods, Opts } from 'telegraf/types'
import type { Clock } from '../../src/core/clock.ts'
import { toError } from '../../src/core/errors.ts'
import { isFields } from './fields.ts'
import { redactToken } from './redact.ts'
import { watchWire } from './wire-watch.ts'

/**
 * How one call ended, classified by phase (RELIABILITY 3.2). `refused`: a 4xx with a Bot API body, nothing was done.
 * `failed`: no readable answer. Every text is free of the token.
 */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly result: unknown }
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'failed'; readonly reason: string; readonly bytesMayHaveLeft: boolean }

export interface Refusal {
  readonly code: number
  readonly description: string
  readonly retryAfterSeconds?: number
  readonly migratedTo?: number
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

/**
 * The Bot API as one bot sees it, with telegraf as the client and nothing else of it. Never throws, never retries, and
 * at its deadline lets a call go without waiting for it. Each client has its own pool of connections.
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

export function createClient({ token, apiRoot, clock }: ClientSettings): TelegramClient {
  const root = apiRoot === undefined ? undefined : apiRoot.replace(/\/*$/, '/')
  const pool = createPool(root)
  return {
    async call(method, params, options) {
      const wire = watchWire(pool, options.onWritten ?? (() => {}))
      const fail = (reason: string): CallOutcome => {
        return { kind: 'failed', reason: redactToken(reason, token), bytesMayHaveLeft: wire.bytesMayHaveLeft() }
      }
      if (options.signal.aborted) return fail('stopped')
      // telegraf takes no agent for plain http, but reads this field at each call.
      const telegram = new Telegram(token, root === undefined ? {} : { apiRoot: root })
      telegram.options.agent = wire.agent
      const call = telegram.callApi(method, params).then(
        (result): CallOutcome => ({ kind: 'answered', result }),
        (error: unknown) => readRefusal(error, token) ?? fail(toError(error).message),
      )
      return letGo({ options, clock, fail, cut: wire.cut }, call)
    },
    close: () => pool.destroy(),
  }
}

interface Patience {
  readonly options: CallOptions
  readonly clock: Clock
  readonly fail: (reason: string) => CallOutcome
  readonly cut: () => void
}

/**
 * Waits for a call until it ends, its deadline passes or the caller gives up; then it is cut and not waited for. It is
 * cut at the wire: a signal for each call would cost more than all the rest of waiting.
 */
function letGo(
  { options: { signal, deadlineMs }, clock, fail, cut }: Patience,
  call: Promise<CallOutcome>,
): Promise<CallOutcome> {
  return new Promise((resolve) => {
    const settle = (outcome: CallOutcome): void => {
      cancelTimer()
      signal.removeEventListener('abort', onStop)
      // Also for an answer that telegraf did not read to its end: that frees the connection.
      if (outcome.kind === 'failed') cut()
      resolve(outcome)
    }
    const onStop = (): void => settle(fail('stopped'))
    const cancelTimer = clock.after(deadlineMs, () => settle(fail(`no answer within ${deadlineMs / 1000} s`)))
    endsManyCalls(signal)
    signal.addEventListener('abort', onStop, { once: true })
    void call.then(settle)
  })
}

const unlimited = new WeakSet<AbortSignal>()

/** One signal ends many calls at once; that is no leak. */
function endsManyCalls(signal: AbortSignal): void {
  if (unlimited.has(signal)) return
  setMaxListeners(0, signal)
  unlimited.add(signal)
}

function createPool(root: string | undefined): HttpAgent {
  const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_CONNECTION_MS }
  return root?.startsWith('http://') === true ? new HttpAgent(options) : new HttpsAgent(options)
}

/** Null when the answer is none of the Bot API's refusals: a 5xx says nothing about what was done. */
function readRefusal(error: unknown, token: string): CallOutcome | null {
  if (!(error instanceof TelegramError)) return null
  const { error_code: code, description, parameters } = error.response
  if (!Number.isInteger(code) || code < 400 || code >= 500 || typeof description !== 'string') return null
  const given: unknown = parameters
  const { retry_after: wait, migrate_to_chat_id: moved } = isFields(given) ? given : {}
  return {
    kind: 'refused',
    code,
    description: redactToken(description, token),
    ...(typeof wait === 'number' ? { retryAfterSeconds: wait } : {}),
    ...(typeof moved === 'number' ? { migratedTo: moved } : {}),
  }
}
