import { SlackAdapter } from '../../../adapters/slack/adapter.ts'
import { slackAccountSchema } from '../../../adapters/slack/config.ts'
import type { ChannelHealth } from '../../../src/channels/adapter.ts'
import { type Clock, systemClock } from '../../../src/core/clock.ts'
import { type Logger, silentLogger } from '../../../src/core/logger.ts'
import type { SlackServer, SlackServerOptions } from '../../../src/rehearsal/slack/server.ts'
import { startSlackServer } from '../../../src/rehearsal/slack/server.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'
import { WatchedLog } from './watched-log.ts'

/** Redelivery in a moment, so that no test waits for the platform's three seconds. */
export const quickRedelivery = { ackMs: 500, retryAfterMs: [0, 20, 20] }

export interface AdapterOptions {
  clock?: Clock
  logger?: Logger
  /** Laid over the settings of the account. */
  settings?: Readonly<Record<string, unknown>>
}

/** The adapter with the real packages against `server`. Back-off has no jitter here: it waits its longest. */
export function adapterFor(server: Pick<SlackServer, 'apiRoot' | 'app'>, options: AdapterOptions = {}): SlackAdapter {
  const { clock = systemClock, logger = silentLogger, settings = {} } = options
  const { botToken, appToken, signingSecret } = server.app
  const config = slackAccountSchema.parse({ botToken, appToken, signingSecret, apiRoot: server.apiRoot, ...settings })
  return new SlackAdapter({ account: 'default', config, services: { clock, logger, random: () => 0.999 } })
}

export interface Rig {
  readonly server: SlackServer
  readonly adapter: SlackAdapter
  readonly sink: RecordingSink
  readonly log: WatchedLog
  /** Resolves once the adapter says so of itself. */
  health(status: ChannelHealth['status']): Promise<void>
  /** Starts the adapter and resolves once a socket of it was greeted. */
  listen(): Promise<void>
  readonly signal: AbortSignal
  close(): Promise<void>
}

export async function openRig(options: AdapterOptions & { server?: SlackServerOptions } = {}): Promise<Rig> {
  const server = await startSlackServer({ redelivery: quickRedelivery, ...options.server })
  const log = new WatchedLog()
  const adapter = adapterFor(server, { logger: log, ...options })
  const sink = new RecordingSink()
  const abort = new AbortController()
  return {
    server,
    adapter,
    sink,
    log,
    health: (status) => log.until(() => adapter.health().status === status),
    signal: abort.signal,
    async listen() {
      await adapter.start(sink, abort.signal)
      await server.ledger.nextSocket()
    },
    async close() {
      await adapter.stop()
      await server.close()
    },
  }
}
