import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { discordAccountSchema } from '../../adapters/discord/config.ts'
import { catalogue } from '../../adapters/index.ts'
import type { Config } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Logger } from '../../src/core/logger.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { type Daemon, startDaemon } from '../../src/daemon/start.ts'
import type { Script } from '../../src/rehearsal/anthropic/script.ts'
import { type AnthropicServer, startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import type { ApiChannel } from '../../src/rehearsal/discord/api-types.ts'
import {
  type DiscordServer,
  type DiscordServerOptions,
  startDiscordServer,
} from '../../src/rehearsal/discord/server.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { household } from '../fakes/routing-policy.ts'
import { logOfFailure } from './log-of-failure.ts'

/** A daemon on a store of its own, in a Discord guild through the real discord.js. */
export interface DiscordHousehold {
  readonly discord: DiscordServer
  readonly anthropic: AnthropicServer
  readonly daemon: Daemon
  readonly dataDir: string
  /** A channel of the guild, and a thread in it. */
  readonly channel: ApiChannel
  readonly thread: ApiChannel
  stop(): Promise<void>
  /** Starts a daemon again on the same store. */
  start(): Promise<void>
}

export interface DiscordHouseholdOptions {
  readonly agents?: Config['agents']
  readonly script: Script
  readonly discord?: DiscordServerOptions
  readonly logger?: Logger
  readonly settings?: Readonly<Record<string, unknown>>
  readonly routing?: Partial<RoutingPolicy>
  readonly config?: Partial<Config>
  /** More bots of the daemon, by their names. */
  readonly others?: Readonly<Record<string, Pick<DiscordServer, 'token' | 'apiRoot'>>>
}

/** Ada (222) owns the agent; Bob (444) and Cy (555) are guests, and the guild is open to whoever addresses it. */
export async function startDiscordHousehold(options: DiscordHouseholdOptions): Promise<DiscordHousehold> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-'))
  const { logger = logOfFailure() } = options
  const discord = await startDiscordServer(options.discord)
  const { world } = discord
  world.addUser({ id: '222', username: 'ada', displayName: 'Ada' })
  world.addUser({ id: '444', username: 'bob', displayName: 'Bob' })
  world.addUser({ id: '555', username: 'cy', displayName: 'Cy' })
  const guild = world.addGuild({ name: 'Workshop' })
  const channel = world.addChannel({ guild, name: 'engines' })
  const thread = world.addThread({ channel, name: 'boiler' })
  const anthropic = await startAnthropicServer({ script: options.script })
  const config = configOf(options, { discord, anthropic, dataDir })
  const start = async (): Promise<Daemon> => {
    const started = await startDaemon({
      config,
      logger,
      version: 'test',
      plugins: catalogue,
      socketPath: join(dataDir, 'parley.sock'),
    })
    await started.settled()
    return started
  }
  let daemon = await start()
  onTestFinished(async () => {
    await daemon.stop()
    await discord.close()
    await anthropic.close()
    rmSync(dataDir, { recursive: true })
  })
  return {
    discord,
    anthropic,
    dataDir,
    channel,
    thread,
    get daemon() {
      return daemon
    },
    stop: () => daemon.stop(),
    async start() {
      daemon = await start()
    },
  }
}

interface Servers {
  readonly discord: DiscordServer
  readonly anthropic: AnthropicServer
  readonly dataDir: string
}

function configOf(
  { settings, routing, agents, config, others = {} }: DiscordHouseholdOptions,
  { discord, anthropic, dataDir }: Servers,
): Config {
  const limits = { perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 }
  const account = ({ token, apiRoot }: Pick<DiscordServer, 'token' | 'apiRoot'>) =>
    discordAccountSchema.parse({ token, apiRoot, limits, ...settings })
  const rest = Object.entries(others).map(([name, other]) => [name, account(other)] as const)
  return {
    agents: agents ?? [
      { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'You are Parley.', tools: ['time'] },
    ],
    models: { anthropic: { kind: 'anthropic', apiKey: new Secret(anthropic.apiKey), baseUrl: anthropic.baseUrl } },
    channels: { discord: { accounts: { default: account(discord), ...Object.fromEntries(rest) } } },
    down: [],
    schedules: [],
    routing: household(routing),
    session: { queue: { max: 100, busy: 'queue' } },
    store: { path: readyDatabase(join(dataDir, 'parley.db')) },
    logging: { level: 'info', pretty: false },
    scriptFolder: dataDir,
    dataDir,
    warnings: [],
    ...config,
  }
}
