import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import type { KeyedRequests } from '../core/keyed-request.ts'
import type { Logger } from '../core/logger.ts'
import { createApiServer, LIMITS, type ServerLimits } from './limited-server.ts'
import { allowedHosts } from './origin.ts'
import { createTokenGuard, type TokenGuardDeps } from './token-guard.ts'

export interface HttpApiOptions extends Pick<TokenGuardDeps, 'verify' | 'apiOf'> {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** Further names by which it is reached, `parley.example.org` or with a port. */
  readonly hosts: readonly string[]
  /** Pages of others that may use it, `https://example.org`. */
  readonly origins: readonly string[]
  /** The most requests of one token in a minute. */
  readonly requestsPerMinute?: number | undefined
  /** Absent: requests with a key are refused. */
  readonly requests?: KeyedRequests | undefined
  /** Nothing but a probe is answered before it resolves; absent: from the start. */
  readonly ready?: Promise<void> | undefined
  readonly logger: Logger
  readonly clock: Clock
  readonly limits?: Partial<ServerLimits>
}

export interface HttpApi {
  readonly port: number
  close(): Promise<void>
}

/** Connections of whoever has not shown a token yet; of more the oldest is dropped. */
const MOST_UNKNOWN = 256
/** The most of these that have sent a request, whose body is read, up to a megabyte; the oldest is dropped as well. */
const MOST_ASKING = 32
const MOST_CONNECTIONS = 4_096
/** The default of the configuration: a program that works all the time makes fewer. */
const REQUESTS_PER_MINUTE = 6_000

/** Serves the API on TCP, to whoever brings a token. Throws `config` where it cannot listen. */
export async function startHttpApi(options: HttpApiOptions): Promise<HttpApi> {
  const { host, hosts, origins, logger, clock, requests, ready, verify, apiOf } = options
  const allowed = { hosts: new Set<string>(), origins: new Set(origins) }
  const strangers = boundStrangers()
  const limits = { ...LIMITS, connections: MOST_CONNECTIONS, ...options.limits }
  const { requestsPerMinute = REQUESTS_PER_MINUTE } = options
  const guard = createTokenGuard({
    ...{ clock, allowed, verify, apiOf, ...strangers, requestsPerMinute },
    connections: limits.connections,
  })
  const { server, close } = createApiServer({ guard, requests, ready, logger, clock, limits })
  server.on('connection', strangers.came)
  const port = await listen(server, options)
  for (const name of allowedHosts({ host, port }, hosts)) allowed.hosts.add(name)
  server.on('error', (error) => logger.warn('The API has trouble', { err: error }))
  logger.info('The API is up', { host, port })
  return { port, close }
}

async function listen(server: Server, { host, port }: Pick<HttpApiOptions, 'host' | 'port'>): Promise<number> {
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    throw new ParleyError(
      'config',
      `The API cannot listen on ${host}:${port} (${cause}). Set another http.port or http.host.`,
    )
  }
  return (server.address() as AddressInfo).port
}

interface Strangers {
  came(this: void, socket: Socket): void
  known(this: void, socket: Socket): void
  asks(this: void, socket: Socket, answer: ServerResponse): void
}

/** Thousands of connections that never say who they are keep nobody out: the oldest of them makes room. */
function boundStrangers(): Strangers {
  const unknown = new Set<Socket>()
  const asking = new Set<Socket>()
  return {
    came(socket) {
      socket.once('close', () => unknown.delete(socket))
      addTo(unknown, socket, MOST_UNKNOWN)
    },
    known: (socket) => void unknown.delete(socket),
    asks(socket, answer) {
      answer.once('close', () => asking.delete(socket))
      addTo(asking, socket, MOST_ASKING)
    },
  }
}

function addTo(sockets: Set<Socket>, socket: Socket, most: number): void {
  sockets.add(socket)
  const [oldest] = sockets
  if (sockets.size <= most || oldest === undefined) return
  sockets.delete(oldest)
  oldest.destroy()
}
