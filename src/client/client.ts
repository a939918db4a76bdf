import { createCall, type Fetch } from './call.ts'
import { operationsOf } from './operations.ts'

// biome-ignore lint/performance/noBarrelFile: a program has one file to import from, and it is bundled.
export { ApiError } from './call.ts'
export { type EventsDeps, type FollowOptions, followEvents } from './events.ts'

export interface ClientOptions {
  /** The address of the daemon: `http://127.0.0.1:7275`. */
  readonly baseUrl: string
  /** Made by `parley token create`. */
  readonly token?: string
  /**
   * Names one request, which may then be sent again for a day and has its effect once: make a client for it, with the
   * same key whenever it is sent.
   */
  readonly idempotencyKey?: string
  /** Absent: the one of the program. */
  readonly fetch?: Fetch
  /** An answer that takes longer is given up, 30 s if absent; a post may wait as long as it asks for besides. */
  readonly timeoutMs?: number
}

/** The API of a daemon: `client.session.list()` is its operation `session.list`. */
export type ParleyClient = ReturnType<typeof operationsOf>

const TIMEOUT_MS = 30_000

/** Returns a client of the daemon there. Its calls reject with an `ApiError`. */
export function createClient({
  baseUrl,
  token,
  idempotencyKey,
  fetch = ownFetch,
  timeoutMs = TIMEOUT_MS,
}: ClientOptions): ParleyClient {
  return operationsOf(createCall({ baseUrl, token, idempotencyKey, fetch, timeoutMs }))
}

const ownFetch: Fetch = (url, init) => globalThis.fetch(url, init)
