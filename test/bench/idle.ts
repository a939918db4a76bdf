import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { startSlackServer } from '../../src/rehearsal/slack/server.ts'
import { built, environment, parley, parleyWith } from './contenders.ts'
import type { BenchOptions } from './options.ts'
import { progress, withBot, withFolder } from './rig.ts'
import { atMost, type Row } from './row.ts'

/** After 10 to 20 s without work the engine gives back the room that the start or a burst needed. */
const IDLE_MS = 30_000
const UP_WITHIN_MS = 30_000

/** What a bot holds that has nothing to do, half a minute after its first poll. */
export async function benchIdle({ contenders }: BenchOptions): Promise<Row[]> {
  const measured = contenders.map(async (contender): Promise<[string, number]> => {
    const rss = await withFolder((folder) =>
      withBot(contender, folder, async ({ bot }) => {
        await pause(IDLE_MS)
        return bot.rss()
      }),
    )
    return [contender.name, rss]
  })
  const values = Object.fromEntries(await Promise.all(measured))
  const alone = contenders.some(({ name }) => name === 'Parley') ? [await firstCall(), await idleEverywhere()] : []
  progress('idle: done')
  return [{ what: 'idle RSS', unit: 'MB', goal: atMost(80), values }, ...alone]
}

/** What the first call of the API costs an idle bot, here by a command: its routes are loaded with it. */
async function firstCall(): Promise<Row> {
  const grown = await withFolder((folder) =>
    withBot(parley, folder, async ({ server, bot }) => {
      await pause(IDLE_MS)
      const before = bot.rss()
      const list = [built('../main.js'), 'sessions', 'list', '--config', join(folder, 'parley.yaml')]
      const env = environment({ apiRoot: server.apiRoot, token: server.token, folder })
      await promisify(execFile)(process.execPath, list, { env, cwd: folder })
      await pause(IDLE_MS)
      return bot.rss() - before
    }),
  )
  return { what: '… more after the first call of the API', unit: 'MB', goal: atMost(20), values: { Parley: grown } }
}

/** The same with Discord and Slack beside Telegram, counted from when it hears all three. */
async function idleEverywhere(): Promise<Row> {
  const [discord, slack] = [await startDiscordServer(), await startSlackServer()]
  discord.world.addChannel({ guild: discord.world.addGuild({ name: 'Workshop' }), name: 'engines' })
  slack.world.addChannel({ name: 'workshop' })
  const { botToken, appToken } = slack.app
  const accounts = {
    discord: { accounts: { default: { token: discord.token, apiRoot: discord.apiRoot } } },
    slack: { accounts: { default: { botToken, appToken, apiRoot: slack.apiRoot } } },
  }
  try {
    const rss = await withFolder((folder) =>
      withBot(parleyWith(accounts), folder, async ({ bot }) => {
        const timeoutMs = UP_WITHIN_MS
        await Promise.all([discord.ledger.listening({ timeoutMs }), slack.ledger.nextSocket({ timeoutMs })])
        await pause(IDLE_MS)
        return bot.rss()
      }),
    )
    return { what: 'idle RSS, all three platforms', unit: 'MB', goal: atMost(120), values: { Parley: rss } }
  } finally {
    await Promise.all([discord.close(), slack.close()])
  }
}
