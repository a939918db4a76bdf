import { onTestFinished } from 'vitest'
import type { EditPolicy, GroupRule } from '../../src/core/policy.ts'
import type { Script } from '../../src/rehearsal/anthropic/script.ts'
import { type DiscordServer, startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { heard } from './forgetting-house.ts'

export const [PARLEY, SAGE] = ['900000000000000001', '900000000000000002']

/** Two bots of one daemon in one channel, with a thread; each receives all that is said there, also by the other. */
export async function twoBotsOnDiscord({
  script = heard,
  bots = {},
  edits = 'update',
}: {
  script?: Script
  bots?: Pick<GroupRule, 'bots' | 'botIds'>
  edits?: EditPolicy
} = {}) {
  const second = await startDiscordServer({ token: 'rehearsal.discord.sage', username: 'sage', botId: SAGE })
  onTestFinished(() => second.close())
  const house = await startDiscordHousehold({
    script,
    others: { sage: second },
    routing: {
      ownerAlwaysTriggers: false,
      edits,
      access: { direct: 'allowlist', groups: [{ match: {}, who: 'public', trigger: 'mention', ...bots }] },
    },
    settings: { streaming: false },
  })
  const { discord, channel, thread } = house
  const servers = { parley: discord, sage: second }
  for (const [id, username, displayName] of [
    ['222', 'ada', 'Ada'],
    ['444', 'bob', 'Bob'],
  ] as const)
    second.world.addUser({ id, username, displayName })
  second.world.addUser({ id: PARLEY, username: 'parley', isBot: true })
  discord.world.addUser({ id: SAGE, username: 'sage', isBot: true })
  const guild = second.world.addGuild({ name: 'Workshop', id: channel.guild_id ?? '' })
  second.world.addChannel({ guild, name: 'engines', id: channel.id })
  second.world.addThread({ channel: channel.id, name: 'boiler', id: thread.id })
  /** Says something that both are told. */
  const aside = async (text: string, { from = '444', where = channel.id } = {}): Promise<string> => {
    const { id } = discord.world.say({ from, channel: where, text })
    second.world.say({ from, channel: where, text, extra: { id } })
    return id
  }
  /** Says something and returns the next message of this bot's, which the other is told of, unless `tell` is to do it. */
  const ask = async (
    bot: keyof typeof servers,
    text: string,
    { isTold = true, ...more }: { from?: string; where?: string; isTold?: boolean } = {},
  ) => {
    const { ledger } = servers[bot]
    const after = ledger.mark()
    const id = await aside(text, { from: '222', ...more })
    const sent = await ledger.nextFromBot('sent', { after })
    const other: DiscordServer = bot === 'parley' ? second : discord
    const from = bot === 'parley' ? PARLEY : SAGE
    const { channelId, messageId, text: answer } = sent
    const tell = () => void other.world.say({ from, channel: channelId, text: answer, extra: { id: messageId } })
    if (isTold) tell()
    return { id, answer, answerId: messageId, tell }
  }
  const prompt = () => JSON.stringify(house.anthropic.ledger.requests().at(-1)?.messages)
  return { house, servers, channel, thread, aside, ask, prompt }
}
