import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { slackAccountSchema } from '../../adapters/slack/config.ts'
import type { Config } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'
import type { Clock } from '../../src/core/clock.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Logger } from '../../src/core/logger.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { type Daemon, startDaemon } from '../../src/daemon/start.ts'
import type { Script } from '../../src/rehearsal/anthropic/script.ts'
import { type AnthropicServer, startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { type SlackServer, type SlackServerOptions, startSlackServer } from '../../src/rehearsal/slack/server.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { household } from '../fakes/routing-policy.ts'
import { logOfFailure } from './log-of-failure.ts'

/** A daemon on a store of its own, in a Slack workspace through the real packages. */
export interface SlackHousehold {
  readonly slack: SlackServer
  readonly anthropic: AnthropicServer
  readonly daemon: Daemon
  readonly dataDir: string
  stop(): Promise<void>
  /** Starts a daemon again on the same store, and resolves once it listens. */
  start(): Promise<void>
}

export interface SlackHouseholdOptions {
  readonly agents?: Config['agents']
  readonly script: Script
  readonly slack?: SlackServerOptions
  readonly logger?: Logger
  readonly clock?: Clock
  /** Further accounts of the daemon, by name, their settings laid over the first one's. */
  readonly others?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly routing?: Partial<RoutingPolicy>
  readonly config?: Partial<Config>
  /** What the daemon finds in its file when it reads it again. */
  readonly reload?: () => Promise<Config>
}

/** Ada (U333) owns the agent, Bob (U444) is a member; channels are open to whoever addresses it. */
export async function startSlackHousehold(options: SlackHouseholdOptions): Promise<SlackHousehold> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-'))
  const { logger = logOfFailure() } = options
  const slack = await startSlackServer(options.slack)
  slack.world.addUser({ id: 'U333', name: 'ada', displayName: 'Ada' })
  slack.world.addUser({ id: 'U444', name: 'bob', displayName: 'Bob' })
  slack.world.addUser({ id: 'U555', name: 'cy', displayName: 'Cy' })
  const anthropic = await startAnthropicServer({ script: options.script })
  const config = configOf(options, { slack, anthropic, dataDir })
  const start = async (): Promise<Daemon> => {
    const mark = slack.ledger.mark()
    const started = await startDaemon({
      config,
      logger,
      version: 'test',
      plugins: catalogue,
      socketPath: join(dataDir, 'parley.sock'),
      ...(options.clock ? { clock: options.clock } : {}),
      ...(options.reload ? { reload: options.reload } : {}),
    })
    await slack.ledger.nextSocket({ after: mark })
    await started.settled()
    return started
  }
  let daemon = await start()
  onTestFinished(async () => {
    await daemon.stop()
    await slack.close()
    await anthropic.close()
    rmSync(dataDir, { recursive: true })
  })
  return {
    slack,
    anthropic,
    dataDir,
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
  readonly slack: SlackServer
  readonly anthropic: AnthropicServer
  readonly dataDir: string
}

function configOf(
  { others = {}, routing, agents, config }: SlackHouseholdOptions,
  { slack, anthropic, dataDir }: Servers,
): Config {
  const { botToken, appToken, signingSecret } = slack.app
  const limits = { perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 }
  const account = { botToken, appToken, signingSecret, apiRoot: slack.apiRoot, limits }
  const settings = Object.entries({ default: {}, ...others })
  const accounts = Object.fromEntries(
    settings.map(([name, own]) => [name, slackAccountSchema.parse({ ...account, ...own })]),
  )
  return {
    agents: agents ?? [
      { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'You are Parley.', tools: ['time'] },
    ],
    models: { anthropic: { kind: 'anthropic', apiKey: new Secret(anthropic.apiKey), baseUrl: anthropic.baseUrl } },
    channels: { slack: { accounts } },
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
