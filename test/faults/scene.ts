import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, type TestContext } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import type { VoiceMode } from '../../src/core/audio.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { ConfiguredSchedule } from '../../src/core/schedule.ts'
import type { Script } from '../../src/rehearsal/anthropic/script.ts'
import { type AnthropicServer, startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import type { MessageEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { startTelegramServer, type TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { household } from '../fakes/routing-policy.ts'
import { DaemonChild, TEST_BUILD } from './daemon-child.ts'
import type { BotMessage } from './delivery-invariants.ts'
import { countOf } from './fault-count.ts'
import type { HeardMessage } from './inbound-invariants.ts'
import { leftRunning, violations } from './invariants.ts'
import { type OtherAccounts, type ProbeLine, readProbes, type SetupFile } from './setup-file.ts'
import { readStored, readUnderWay, type Stored } from './stored.ts'

/** A daemon process on a state of its own, between a rehearsal of Telegram and one of the model's API. */
export interface Scene {
  readonly telegram: TelegramServer
  readonly anthropic: AnthropicServer
  readonly daemon: DaemonChild
  /** Where the daemon answers an operator. */
  readonly socketPath: string
  /** Lays settings over those of the Telegram account, for the next start. */
  changeTelegram(settings: Partial<SetupFile['telegram']>): void
  /** Executions of the probe tools so far. */
  probes(): ProbeLine[]
  /** Texts of the bot's messages in a chat as they stand, oldest first. */
  texts(chat: number): string[]
  /** Waits for a message of the bot that contains `text`. */
  sent(text: string, more?: { readonly chat?: number; readonly timeoutMs?: number }): Promise<MessageEntry>
  /**
   * Says goodbye in these chats and waits for the answers: a conversation is in order, so behind them nothing is owed.
   */
  settle(chats: readonly number[], timeoutMs?: number): Promise<void>
  /**
   * Stops the daemon as a service manager does, holds everything against the invariants, and returns what is stored.
   */
  finish(): Promise<Stored>
}

export interface SceneOptions {
  /** An audio endpoint without a key, and which answers are spoken. */
  readonly audio?: Config['audio']
  readonly voice?: VoiceMode
  /** How the model answers. Default: echo. */
  readonly script?: Script
  /** Default: the Messages API rehearsal; `scripted/echo` answers without a network. */
  readonly model?: string
  /** A server of the Chat Completions API, whose models are `chat/<model>`. */
  readonly chat?: SetupFile['chat']
  /** Show answers while they are written. Default: no. */
  readonly streaming?: boolean
  readonly schedules?: readonly ConfiguredSchedule[]
  /** Variables of the daemon's environment, beside those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Default: everybody may talk to the agent. */
  readonly routing?: RoutingPolicy
  readonly hooks?: Config['hooks']
  readonly inboundHooks?: SetupFile['inboundHooks']
  /** Laid over the configuration. */
  readonly config?: Partial<SetupFile['config']>
  readonly mcp?: Config['mcp']
  /** Groups of tools beside those that every scene has. */
  readonly tools?: readonly string[]
  /** `@sage_bot` is there too. */
  readonly sage?: boolean
  /** Platforms beside Telegram. */
  readonly others?: readonly OtherPlatform[]
}

/** The caller starts and closes its server. */
export interface OtherPlatform {
  readonly accounts: OtherAccounts
  /** What the bot has there, for the invariants. */
  botMessages(): readonly BotMessage[]
  /** Messages of people that the daemon owes an outcome, as far as the platform promises. */
  heard(): readonly HeardMessage[]
  /** The bot may not read there what it has said. */
  readonly blind?: boolean
}

export const ADA = 111
export const BOB = 444
export const KILLED = { code: null, signal: 'SIGKILL' }
/** How long they are is proven with a moved clock (test/delivery); here it counts what follows. */
const SHORT_WAITS = { uncertainAfterMs: 500, visibleAfterMs: 500 }
/** Without the platform's pauses of minutes: a case kills more often than a platform waits. */
const SOON = { waitMs: () => 50 }
const TOKEN = '7000001:canary-of-the-bot-token'
const SAGE = {
  token: '7000002:canary-of-the-second-token',
  firstName: 'Sage',
  username: 'sage_bot',
  canReadAllGroupMessages: true,
}
const API_KEY = 'canary-of-the-model-key'

export async function startScene(test: TestContext, options: SceneOptions = {}): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-fault-'))
  const telegram = await startTelegramServer({
    bots: [{ token: TOKEN, canReadAllGroupMessages: true }, ...(options.sage ? [SAGE] : [])],
    redelivery: SOON,
  })
  const { script, others = [] } = options
  const anthropic = await startAnthropicServer({ apiKey: API_KEY, ...(script ? { script } : {}) })
  telegram.world.addUser({ id: ADA, firstName: 'Ada' })
  telegram.world.addUser({ id: BOB, firstName: 'Bob' })
  let setup = setupOf({ folder, telegram, anthropic }, options)
  const setupFile = join(folder, 'setup.json')
  const logFile = join(folder, 'daemon.log')
  for (const file of [logFile, setup.probeFile]) writeFileSync(file, '')
  writeFileSync(setupFile, JSON.stringify(setup))
  const daemon = new DaemonChild({ entry: TEST_BUILD, args: [setupFile], logFile, telegram, env: options.env ?? {} })

  test.onTestFinished(async () => {
    if (test.task.result?.state === 'fail') console.error(daemon.logTail())
    if (daemon.running) await daemon.kill()
    await telegram.close()
    await anthropic.close()
    rmSync(folder, { recursive: true })
  })

  const probes = () => readProbes(setup.probeFile)
  const sent: Scene['sent'] = (text, { chat, timeoutMs = 50_000 } = {}) =>
    telegram.ledger.nextFromBot('sent', {
      timeoutMs,
      where: (entry) => entry.text.includes(text) && (chat === undefined || entry.chatId === chat),
    })
  return {
    telegram,
    anthropic,
    daemon,
    socketPath: setup.socketPath,
    changeTelegram(settings) {
      setup = { ...setup, telegram: { ...setup.telegram, ...settings } }
      writeFileSync(setupFile, JSON.stringify(setup))
    },
    probes,
    texts: (chat) =>
      telegram.world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? message.caption ?? ''),
    sent,
    async settle(chats, timeoutMs = 50_000) {
      for (const from of chats) telegram.world.say({ from, text: 'goodbye' })
      await Promise.all(chats.map((chat) => sent('goodbye', { chat, timeoutMs })))
    },
    async finish() {
      // What the test awaited may have gone out in an earlier life; a stop leaves the rest to the next start.
      await test.expect.poll(() => leftRunning(readUnderWay(setup.config.store.path)), { timeout: 50_000 }).toEqual([])
      expect(await daemon.terminate()).toEqual({ code: 0, signal: null })
      const stored = readStored(setup.config.store.path)
      const sinks = [setup.config.store.path, logFile].map((file) => ({ file, bytes: readFileSync(file) }))
      const elsewhere = others.flatMap((other) => other.botMessages())
      const heardElsewhere = others.flatMap((other) => other.heard())
      const said = { telegram: telegram.ledger.entries, elsewhere, heardElsewhere, model: anthropic.ledger.entries }
      const blind = others.flatMap((other) => (other.blind ? Object.keys(other.accounts) : []))
      const evidence = { stored, ...said, blind, probes: probes() }
      const broken = violations({ ...evidence, sinks, canaries: [TOKEN, API_KEY, ...secretsOf(setup.telegram)] })
      Object.assign(test.task.meta, { faults: countOf(broken, stored) })
      expect(broken).toEqual([])
      return stored
    },
  }
}

function secretsOf({ webhookSecret }: SetupFile['telegram']): string[] {
  return webhookSecret === undefined ? [] : [webhookSecret]
}

interface Ground {
  readonly folder: string
  readonly telegram: TelegramServer
  readonly anthropic: AnthropicServer
}

const TOOLS = ['probe', 'sessions', 'task', 'ask', 'files']

function setupOf({ folder, telegram, anthropic }: Ground, options: SceneOptions): SetupFile {
  const { model = 'anthropic/rehearsal', streaming = false, audio, voice } = options
  const { token, apiRoot } = telegram
  const account = { apiRoot, streaming, limits: { perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 } }
  const access = { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] } as const
  return {
    config: {
      agents: [
        {
          id: toAgentId('main'),
          model,
          prompt: 'You are Parley.',
          tools: [...TOOLS, ...(options.tools ?? [])],
          ...(voice ? { voice } : {}),
        },
      ],
      ...(audio ? { audio } : {}),
      routing: options.routing ?? household({ access }),
      // Many strangers at once stand for many people: nobody is to be turned away here.
      session: { queue: { max: 100, busy: 'queue' }, publicTurns: { atOnce: 1000, perPerson: 1000, waiting: 1000 } },
      store: { path: readyDatabase(join(folder, 'parley.db')) },
      logging: { level: 'info', pretty: false },
      scriptFolder: folder,
      dataDir: folder,
      down: [],
      schedules: options.schedules ?? [],
      hooks: options.hooks ?? [],
      mcp: options.mcp ?? [],
      warnings: [],
      ...options.config,
    },
    telegram: { token, ...account },
    others: Object.assign(
      options.sage ? { telegram: { token: SAGE.token, ...account } } : {},
      ...(options.others ?? []).map(({ accounts }) => accounts),
    ),
    anthropic: { apiKey: anthropic.apiKey, baseUrl: anthropic.baseUrl },
    ...(options.chat && { chat: { apiKey: options.chat.apiKey, baseUrl: options.chat.baseUrl } }),
    probeFile: join(folder, 'probes.jsonl'),
    socketPath: join(folder, 'parley.sock'),
    delivery: SHORT_WAITS,
    inboundHooks: options.inboundHooks ?? [],
  }
}
