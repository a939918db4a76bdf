import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { catalogue } from '../../adapters/index.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type Daemon, startDaemon } from '../../src/daemon/start.ts'
import type { Script } from '../../src/rehearsal/anthropic/script.ts'
import { type AnthropicServer, startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { startTelegramServer, type TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { type SetClock, setClock } from '../e2e/set-clock.ts'
import { householdTools } from './money-tools.ts'
import { withFolder } from './rig.ts'

const START = '2026-11-21T09:30:00Z'
const MODEL = 'claude-sonnet-5'
export const ADA = 111
export const BOB = 222

/** A daemon between two rehearsal servers, all three by one clock. */
export interface MoneyRig {
  readonly telegram: TelegramServer
  readonly anthropic: AnthropicServer
  readonly daemon: Daemon
  readonly clock: SetClock
  /** Sends a message and resolves when its answer stands and nothing is under way any more. */
  ask(say: Parameters<TelegramServer['world']['say']>[0], answer: string): Promise<void>
}

/**
 * Runs the daemon in this process, unlike the other rows: only so can its clock be moved. The configuration, the store,
 * Telegram's client and the model's SDK are those of a user.
 */
export async function withMoneyRig<T>(script: Script, work: (rig: MoneyRig) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    const clock = setClock(START)
    const bots = [{ token: '7000001:rehearsal', canReadAllGroupMessages: true }]
    const telegram = await startTelegramServer({ bots, now: clock.now })
    const anthropic = await startAnthropicServer({ script, models: [MODEL], now: clock.now })
    const daemon = await start(folder, { telegram, anthropic, clock })
    try {
      return await work({
        telegram,
        anthropic,
        daemon,
        clock,
        ask: (say, answer) => ask({ telegram, daemon }, say, answer),
      })
    } finally {
      await daemon.stop()
      await telegram.close()
      await anthropic.close()
    }
  })
}

type Parts = Pick<MoneyRig, 'telegram' | 'anthropic' | 'clock'>

async function start(folder: string, { telegram, anthropic, clock }: Parts): Promise<Daemon> {
  telegram.world.addUser({ id: ADA, firstName: 'Ada' })
  telegram.world.addUser({ id: BOB, firstName: 'Bob' })
  const path = join(folder, 'parley.yaml')
  writeFileSync(path, configOf(folder, { telegram, anthropic }))
  const surroundings = { env: { HOME: folder }, cwd: folder }
  const { config } = await loadConfig({ path, ...surroundings, catalogue, toolGroups: ['household'] })
  const daemon = await startDaemon({
    ...{ config, clock, plugins: catalogue, logger: silentLogger, version: 'bench' },
    socketPath: join(folder, 'parley.sock'),
    tools: { household: householdTools },
  })
  await telegram.ledger.listening()
  return daemon
}

/** The agent has the prompt of a new installation. JSON is YAML. */
function configOf(folder: string, { telegram, anthropic }: Omit<Parts, 'clock'>): string {
  const { apiRoot, token } = telegram
  const limits = { perSecond: 1e6, perChatPerSecond: 1e6, perGroupPerMinute: 1e6 }
  return JSON.stringify({
    people: { ada: { role: 'owner', ids: [`telegram:${ADA}`] }, bob: { ids: [`telegram:${BOB}`] } },
    agents: [{ id: 'main', model: `anthropic/${MODEL}`, tools: ['time', 'sessions', 'household'] }],
    models: { anthropic: { apiKey: anthropic.apiKey, baseUrl: anthropic.baseUrl } },
    channels: { telegram: { accounts: { default: { token, apiRoot, limits } } } },
    routing: { access: { direct: 'allowlist', groups: [{ who: 'allowlist', trigger: 'mention' }] } },
    store: { url: `sqlite:${join(folder, 'parley.db')}` },
  })
}

async function ask(
  { telegram, daemon }: Pick<MoneyRig, 'telegram' | 'daemon'>,
  say: Parameters<TelegramServer['world']['say']>[0],
  answer: string,
): Promise<void> {
  const after = telegram.ledger.mark()
  telegram.world.say(say)
  const answers = { after, timeoutMs: 30_000 }
  await telegram.ledger.next((one) => one.kind === 'message' && one.botId !== null && one.text === answer, answers)
  // A clock that is moved while something is under way would time it out.
  while (await isBusy(daemon)) await turnOfLoop()
}

async function isBusy({ operator }: Daemon): Promise<boolean> {
  const { runningTurns, outbox } = await operator.status()
  return runningTurns > 0 || (outbox.sending ?? 0) + (outbox.pending ?? 0) > 0
}
