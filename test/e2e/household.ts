import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { telegramAccountSchema } from '../../adapters/telegram/config.ts'
import type { Config } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'
import type { Clock } from '../../src/core/clock.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Logger } from '../../src/core/logger.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { ConfiguredSchedule } from '../../src/core/schedule.ts'
import type { Tool } from '../../src/core/turn.ts'
import type { OwnNet } from '../../src/daemon/make-web.ts'
import type { UsualPlaces } from '../../src/daemon/old-stores.ts'
import { type Daemon, startDaemon } from '../../src/daemon/start.ts'
import type { SendLimits } from '../../src/delivery/rate-limiter.ts'
import type { DeliverySettings } from '../../src/delivery/settings.ts'
import type { Script } from '../../src/rehearsal/anthropic/script.ts'
import { type AnthropicServer, startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import {
  startTelegramServer,
  type TelegramServer,
  type TelegramServerOptions,
} from '../../src/rehearsal/telegram/server.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { household } from '../fakes/routing-policy.ts'
import { logOfFailure } from './log-of-failure.ts'

/** A daemon on a store of its own, wired to a rehearsal server through the real client. */
export interface Household {
  readonly telegram: TelegramServer
  /** The model's server; only there if a script was given. */
  readonly anthropic: AnthropicServer | undefined
  readonly daemon: Daemon
  readonly dataDir: string
  /** The configuration of the daemon that runs. */
  readonly config: Config
  /** Stops the daemon and starts another on the same store, with what changed in its configuration. */
  restart(changes?: Partial<Config>): Promise<Daemon>
}

export interface HouseholdOptions {
  /** Answers as the real model's API would, through the real client; without one the model is `scripted/echo`. */
  readonly script?: Script
  readonly routing?: Partial<RoutingPolicy>
  readonly config?: Partial<Config>
  /** Tool servers may still be starting when the household is there. */
  readonly lateTools?: boolean
  readonly telegram?: TelegramServerOptions
  /** Further accounts of the daemon, by name: each a bot of the server, by its token. */
  readonly others?: Readonly<Record<string, string>>
  /** What the account may send; so much that nothing waits, if absent. */
  readonly limits?: SendLimits
  /** False: an answer is shown once it is whole, for tests that read the first message of it. */
  readonly streaming?: boolean
  readonly logger?: Logger
  readonly clock?: Clock
  readonly delivery?: Partial<DeliverySettings>
  /** Tools by group name, beside the built-in groups; the agent may use those named in `config`. */
  readonly tools?: Readonly<Record<string, readonly Tool[]>>
  /** The names and addresses of the web that tools reach. */
  readonly net?: OwnNet
  /** What the daemon finds in its file when it reads it again. */
  readonly reload?: () => Promise<Config>
  /** Sets the scene the schedules speak of, before the daemon starts. */
  readonly schedules?: (telegram: TelegramServer) => readonly ConfiguredSchedule[]
  /** The places in which the daemon looks for conversations of older programs. */
  readonly oldStores?: UsualPlaces
  /** Other platforms, which the caller starts and closes. */
  readonly beside?: OtherChannels
}

export interface OtherChannels {
  readonly channels: Config['channels']
  /** Called before each start: resolves once that daemon hears these platforms too. */
  listening(): Promise<unknown>
}

const UNLIMITED: SendLimits = { perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 }

/** Ada (111) owns the agent; it reads everything in groups, which are open to whoever addresses it. */
export async function startHousehold(options: HouseholdOptions = {}): Promise<Household> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-'))
  const { logger = logOfFailure() } = options
  const bots = [{ token: '7000001:rehearsal', canReadAllGroupMessages: true }]
  const telegram = await startTelegramServer({ bots, ...options.telegram })
  telegram.world.addUser({ id: 111, firstName: 'Ada' })
  telegram.world.addUser({ id: 444, firstName: 'Bob' })
  telegram.world.addUser({ id: 555, firstName: 'Cy' })
  const anthropic = options.script && (await startAnthropicServer({ script: options.script }))
  const schedules = options.schedules?.(telegram) ?? []
  let config = configOf(options, { telegram, anthropic, schedules, dataDir })
  const start = async (): Promise<Daemon> => {
    const mark = telegram.ledger.mark()
    const beside = options.beside?.listening()
    const daemon = await startDaemon({
      config,
      logger,
      version: 'test',
      plugins: catalogue,
      socketPath: join(dataDir, 'parley.sock'),
      ...(options.clock ? { clock: options.clock } : {}),
      ...(options.delivery ? { delivery: options.delivery } : {}),
      ...(options.tools ? { tools: options.tools } : {}),
      ...(options.net ? { net: options.net } : {}),
      ...(options.oldStores ? { oldStores: options.oldStores } : {}),
      ...(options.reload ? { reload: options.reload } : {}),
    })
    const polls = Object.values(options.others ?? {}).map((token) =>
      telegram.ledger.next((entry) => entry.kind === 'poll' && token.startsWith(`${entry.botId}:`), { after: mark }),
    )
    await Promise.all([telegram.ledger.listening({ after: mark }), ...polls])
    await beside
    await (options.beside && daemon.settled())
    await toolsSettled(daemon, options)
    return daemon
  }
  let daemon = await start()
  onTestFinished(async () => {
    await daemon.stop()
    await telegram.close()
    await anthropic?.close()
    rmSync(dataDir, { recursive: true })
  })
  return {
    telegram,
    anthropic,
    dataDir,
    get daemon() {
      return daemon
    },
    get config() {
      return config
    },
    async restart(changes) {
      await daemon.stop()
      config = { ...config, ...changes }
      daemon = await start()
      return daemon
    },
  }
}

interface Servers {
  readonly telegram: TelegramServer
  readonly anthropic: AnthropicServer | undefined
  readonly schedules: readonly ConfiguredSchedule[]
  readonly dataDir: string
}

function configOf(
  { routing, config, beside, others = {}, streaming = true, limits = UNLIMITED }: HouseholdOptions,
  { telegram, anthropic, schedules, dataDir }: Servers,
): Config {
  const { apiRoot, token: first } = telegram
  const accounts = Object.entries({ default: first, ...others }).map(([name, token]) => [
    name,
    telegramAccountSchema.parse({ token, apiRoot, limits, streaming }),
  ])
  const model = anthropic ? 'anthropic/rehearsal' : 'scripted/echo'
  const models = anthropic
    ? { anthropic: { kind: 'anthropic' as const, apiKey: new Secret(anthropic.apiKey), baseUrl: anthropic.baseUrl } }
    : {}
  return {
    agents: [{ id: toAgentId('main'), model, prompt: 'You are Parley.', tools: ['time'] }],
    models,
    channels: {
      telegram: { accounts: Object.fromEntries(accounts) },
      ...beside?.channels,
    },
    routing: household(routing),
    session: { queue: { max: 100, busy: 'queue' } },
    store: { path: readyDatabase(join(dataDir, 'parley.db')) },
    logging: { level: 'info', pretty: false },
    scriptFolder: dataDir,
    dataDir,
    down: [],
    schedules,
    warnings: [],
    ...config,
  }
}

const GIVE_UP = { timeout: 50_000, interval: 25 }

/** Resolves once every tool server has listed its tools or failed: until then a turn may do without its tools. */
async function toolsSettled(daemon: Daemon, { config, lateTools }: HouseholdOptions): Promise<void> {
  if (config?.mcp === undefined || lateTools) return
  const starting = async () =>
    ((await daemon.operator.status()).toolServers ?? []).filter(
      ({ status, tools, lastTrouble }) =>
        status === 'starting' || status === 'unused' || (status === 'up' && tools === undefined && !lastTrouble),
    )
  await vi.waitFor(async () => expect(await starting()).toEqual([]), GIVE_UP)
}

/** Resolves once every answer that was seen is on record as sent: a clock that is moved before that cuts the send. */
export async function recorded({ daemon }: Pick<Household, 'daemon'>): Promise<void> {
  await vi.waitFor(async () => expect((await daemon.operator.status()).outbox).not.toHaveProperty('sending'), GIVE_UP)
}
