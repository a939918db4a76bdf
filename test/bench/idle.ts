import { setTimeout as pause } from 'node:timers/promises'
import { startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { startSlackServer } from '../../src/rehearsal/slack/server.ts'
import { parleyWith } from './contenders.ts'
import type { BenchOptions } from './options.ts'
import { progress, withBot, withFolder } from './rig.ts'
import { atMost, type Row } from './row.ts'

const IDLE_MS = 5_000
const UP_WITHIN_MS = 30_000

/** What a bot holds that has nothing to do, five seconds after its first poll. */
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
  const everywhere = contenders.some(({ name }) => name === 'Parley') ? [await idleEverywhere()] : []
  progress('idle: done')
  return [{ what: 'idle RSS', unit: 'MB', goal: atMost(80), values }, ...everywhere]
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
