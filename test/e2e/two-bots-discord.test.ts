import { expect, it, onTestFinished } from 'vitest'
import { type DiscordServer, startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { heard, holding } from './forgetting-house.ts'

const CANARY = 'canaryboth'
const [PARLEY, SAGE] = ['900000000000000001', '900000000000000002']

/** Two bots of one daemon in one channel, with a thread; each receives all that is said there, also by the other. */
async function twoBots() {
  const second = await startDiscordServer({ token: 'rehearsal.discord.sage', username: 'sage', botId: SAGE })
  onTestFinished(() => second.close())
  const house = await startDiscordHousehold({
    script: heard,
    others: { sage: second },
    routing: { ownerAlwaysTriggers: false },
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
  /** Says something and returns the next message of this bot's, which the other is told of, too. */
  const ask = async (bot: keyof typeof servers, text: string, more: { from?: string; where?: string } = {}) => {
    const { ledger } = servers[bot]
    const after = ledger.mark()
    const id = await aside(text, { from: '222', ...more })
    const sent = await ledger.nextFromBot('sent', { after })
    const other: DiscordServer = bot === 'parley' ? second : discord
    const from = bot === 'parley' ? PARLEY : SAGE
    other.world.say({ from, channel: sent.channelId, text: sent.text, extra: { id: sent.messageId } })
    return { id, answer: sent.text, answerId: sent.messageId }
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
