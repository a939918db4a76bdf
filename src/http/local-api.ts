import { rm } from 'node:fs/promises'
import { type Clock, systemClock } from '../core/clock.ts'
import type { KeyedRequests } from '../core/keyed-request.ts'
import type { Logger } from '../core/logger.ts'
import type { ApiService } from '../core/operator.ts'
import { OPERATOR_HOLDER, SCOPES } from '../core/token.ts'
import { bindSocket } from './bind-socket.ts'
import { createApiServer, LIMITS, lazily, type ServerLimits } from './limited-server.ts'

export interface LocalApiOptions {
  /** The path of the socket, whose folder is made 0700 if it does not exist. */
  readonly socketPath: string
  readonly service: ApiService
  /** Absent: requests with a key are refused. */
  readonly requests?: KeyedRequests | undefined
  /** Nothing but a probe is answered before it resolves; absent: from the start. */
  readonly ready?: Promise<void> | undefined
  readonly logger: Logger
  readonly clock?: Clock
  /** The limits that replace those of `LIMITS`. */
  readonly limits?: Partial<ServerLimits>
}

export interface LocalApi {
  readonly socketPath: string
  /**
   * Removes the socket, finishes the answers under way (2 s at most) and drops every other connection at once.
   * Idempotent.
   */
  close(): Promise<void>
}

/**
 * Serves the API on a local socket, to the operator. Only its file mode authorises callers: no header and no address is
 * trusted or read. Rejects like `bindSocket`.
 */
export async function startLocalApi({
  socketPath,
  service,
  requests,
  ready,
  logger,
  clock = systemClock,
  limits = {},
}: LocalApiOptions): Promise<LocalApi> {
  const entry = { api: service, scopes: new Set(SCOPES), holder: OPERATOR_HOLDER }
  const { server, close } = createApiServer({
    ...{ logger, clock, requests, ready, limits: { ...LIMITS, ...limits } },
    guard: { check() {}, identify: async () => entry, unknown: () => undefined, refused() {} },
  })
  await bindSocket(server, socketPath)
  server.on('error', (error) => logger.warn('The local socket has trouble', { err: error }))
  return {
    socketPath,
    close: lazily(async () => {
      await rm(socketPath, { force: true })
      await close()
    }),
  }
}
