import { rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { OperatorService } from '../core/operator.ts'
import { bindSocket } from './bind-socket.ts'

export interface LocalApiOptions {
  /** Its folder is made 0700 if it is not there. */
  readonly socketPath: string
  readonly service: OperatorService
  readonly logger: Logger
  readonly clock?: Clock
}

export interface LocalApi {
  readonly socketPath: string
  /** Takes the socket away, lets answers in the making leave (2 s at most) and drops every other connection at once. Idempotent. */
  close(): Promise<void>
}

const GRACE_MS = 2000

/**
 * Serves the operator's API on a local socket. Only its file mode says who may ask: no header and no address is
 * trusted or read. Rejects as `bindSocket` does.
 */
export async function startLocalApi({
  socketPath,
  service,
  logger,
  clock = systemClock,
}: LocalApiOptions): Promise<LocalApi> {
  const load = lazily(() => loadListener(service, logger))
  const server = createServer((request, response) => {
    load().then(
      (listener) => listener(request, response),
      (error) => {
        logger.error('The local API could not be loaded', { err: error })
        response.writeHead(500).end()
      },
    )
  })
  const active = countActive(server)
  await bindSocket(server, socketPath)
  server.on('error', (error) => logger.warn('The local socket has trouble', { err: error }))
  const close = async (): Promise<void> => {
    await rm(socketPath, { force: true })
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    const cancel = clock.after(GRACE_MS, () => server.closeAllConnections())
    await active.none()
    // What is open now is idle; `closeIdleConnections` would still wait a minute for one that never sent a byte.
    server.closeAllConnections()
    await closed
    cancel()
  }
  return { socketPath, close: lazily(close) }
}

/** The router and its web globals cost 30 ms and some megabytes, which a daemon that is never asked does not pay. */
async function loadListener(service: OperatorService, logger: Logger): Promise<RequestListener> {
  const [{ createApp }, { getRequestListener }] = await Promise.all([import('./app.ts'), import('@hono/node-server')])
  const listener = getRequestListener(createApp(service, logger).fetch, { overrideGlobalObjects: false })
  return (request, response) => void listener(request, response)
}

interface ActiveRequests {
  /** Resolves as soon as no request is being answered. */
  none(): Promise<void>
}

function countActive(server: Server): ActiveRequests {
  let active = 0
  let idle: (() => void) | undefined
  server.on('request', (_request, response) => {
    active++
    response.once('close', () => {
      active--
      if (active === 0) idle?.()
    })
  })
  return {
    none: () =>
      new Promise((resolve) => {
        if (active === 0) resolve()
        else idle = resolve
      }),
  }
}

/** Does `work` on the first call and gives every call its one result. */
function lazily<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => (result ??= work())
}
