import { expect, it, onTestFinished } from 'vitest'
import type { GroupRule } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type DiscordServer, startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { heard, holding } from './forgetting-house.ts'

const CANARY = 'canaryboth'
const [PARLEY, SAGE] = ['900000000000000001', '900000000000000002']

/** Two bots of one daemon in one channel, with a thread; each receives all that is said there, also by the other. */
async function twoBots({
  script = heard,
  bots = {},
}: {
  script?: Script
  bots?: Pick<GroupRule, 'bots' | 'botIds'>
} = {}) {
  const second = await startDiscordServer({ token: 'rehearsal.discord.sage', username: 'sage', botId: SAGE })
  onTestFinished(() => second.close())
  const house = await startDiscordHousehold({
    script,
    others: { sage: second },
    routing: {
      ownerAlwaysTriggers: false,
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

const sentBy = ({ ledger }: DiscordServer): readonly string[] =>
  ledger.entries.flatMap((one) => (one.kind === 'message' && one.byBot && one.change === 'sent' ? [one.text] : []))

it.each(['channel', 'thread'] as const)(
  'F-D11: each of two bots in one %s answers once whoever addresses it, and never the other',
  async (where) => {
    const { servers, ask, aside, prompt, ...places } = await twoBots()
    const at = { where: places[where].id }
    await aside('beside', at)
    expect((await ask('parley', `<@${PARLEY}> hello`, at)).answer).toContain('hello')
    expect((await ask('sage', `<@${SAGE}> good day`, at)).answer).toContain('good day')
    expect(prompt()).not.toContain('heard')
    const after = servers.sage.ledger.mark()
    await ask('parley', `<@${PARLEY}> and <@${SAGE}>`, at)
    await servers.sage.ledger.next((one) => one.kind === 'message' && one.byBot, { after })
    await ask('sage', `<@${SAGE}> last`, at)
    expect([sentBy(servers.parley).length, sentBy(servers.sage).length]).toEqual([2, 3])
  },
)

it.each(['channel', 'thread'] as const)(
  'S41, T27: what one of two bots in one %s is asked to forget by its slash command goes from both',
  async (where) => {
    const { house, servers, ask, ...places } = await twoBots()
    const at = { where: places[where].id }
    await ask('parley', `<@${PARLEY}> hello`, at)
    await ask('sage', `<@${SAGE}> hello`, at)
    await ask('parley', `<@${PARLEY}> my code is ${CANARY}`, at)
    const { ledger, world } = servers.sage
    const after = ledger.mark()
    world.slash({ from: '222', channel: at.where, command: 'forget', input: 'last' })
    expect((await ledger.nextWhisper('edited', { after })).text).toMatch(/^Forgotten: .*2 received messages/)
    expect(holding(house.dataDir, CANARY)).toEqual([])
  },
)

it.each(['in time', 'late'])(
  'S41: an answer goes from the other bot too, where that may hear the first, if it has received it %s',
  async (when) => {
    const script: Script = (request) =>
      textReply(lastUserText(request).endsWith('where is the key?') ? `in ${CANARY}` : 'fine')
    const bots = { bots: 'allow', botIds: [`discord:${PARLEY}`] } as const
    const { house, servers, channel, ask, prompt } = await twoBots({ script, bots })
    await ask('sage', `<@${SAGE}> hello`)
    const isTold = when === 'in time'
    const { tell } = await ask('parley', `<@${PARLEY}> where is the key?`, { isTold })
    await ask('sage', `<@${SAGE}> well?`, { from: '444' })
    expect(prompt().includes(CANARY)).toBe(isTold)
    const { ledger, world } = servers.parley
    const after = ledger.mark()
    world.slash({ from: '222', channel: channel.id, command: 'forget', input: 'last' })
    expect((await ledger.nextWhisper('edited', { after })).text).toMatch(/^Forgotten: .* received messages/)
    if (!isTold) tell()
    await ask('sage', `<@${SAGE}> and now?`)
    expect(prompt()).not.toContain(CANARY)
    expect(holding(house.dataDir, CANARY)).toEqual([])
  },
)
