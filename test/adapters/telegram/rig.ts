import { TelegramAdapter } from '../../../adapters/telegram/adapter.ts'
import { telegramAccountSchema } from '../../../adapters/telegram/config.ts'
import { type Clock, systemClock } from '../../../src/core/clock.ts'
import { type Logger, silentLogger } from '../../../src/core/logger.ts'
import type { TelegramServer, TelegramServerOptions } from '../../../src/rehearsal/telegram/server.ts'
import { startTelegramServer } from '../../../src/rehearsal/telegram/server.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'
import { freePort } from '../free-port.ts'

export interface AdapterOptions {
  apiRoot?: string
  token?: string
  clock?: Clock
  logger?: Logger
  /** Laid over the settings of the account. */
  settings?: Readonly<Record<string, unknown>>
}

/** The adapter with the real telegraf against `server`. Back-off has no jitter here: it waits its longest. */
export function adapterFor(
  server: Pick<TelegramServer, 'apiRoot' | 'token'>,
  options: AdapterOptions = {},
): TelegramAdapter {
  const { apiRoot = server.apiRoot, token = server.token, clock = systemClock, logger = silentLogger } = options
  const services = { clock, logger, random: () => 0.999 }
  const config = telegramAccountSchema.parse({ token, apiRoot, ...options.settings })
  return new TelegramAdapter({ account: 'default', config, services })
}

export interface Rig {
  readonly server: TelegramServer
  readonly adapter: TelegramAdapter
  readonly sink: RecordingSink
  /** Starts the adapter and resolves once it stands in a long poll. */
  listen(): Promise<void>
  readonly signal: AbortSignal
  close(): Promise<void>
}

export async function openRig(options: AdapterOptions & { server?: TelegramServerOptions } = {}): Promise<Rig> {
  const server = await startTelegramServer(options.server)
  const adapter = adapterFor(server, options)
  const sink = new RecordingSink()
  const abort = new AbortController()
  return {
    server,
    adapter,
    sink,
    signal: abort.signal,
    async listen() {
      await adapter.start(sink, abort.signal)
      await server.ledger.listening()
    },
    async close() {
      await adapter.stop()
      await server.close()
    },
  }
}

export const SECRET = 'canary-of-the-webhook'

/** The settings of an account that receives by a webhook at a free port, and the address of that. */
export async function webhookSettings() {
  const port = await freePort()
  const webhookUrl = `http://127.0.0.1:${port}/telegram/webhook`
  return { mode: 'webhook', webhookUrl, webhookSecret: SECRET, listen: { port } }
}

/** Deadlines of calls, polls and the stop, the time in which calls share one, and the pace of the probe: they are no waits. */
const DEADLINES: ReadonlySet<number> = new Set([200, 5000, 15_000, 40_000, 90_000])

/** A clock on which every wait is over at once and time has moved by it; no deadline is ever reached. */
export class WaitlessClock implements Clock {
  readonly waits: number[] = []
  #now = Date.parse('2026-11-21T12:00:00Z')

  now = (): number => this.#now
  elapsed = (): number => this.#now

  after(ms: number, callback: () => void): () => void {
    if (DEADLINES.has(ms)) return () => {}
    this.waits.push(ms)
    const immediate = setImmediate(() => {
      this.#now += ms
      callback()
    })
    return () => clearImmediate(immediate)
  }
}
