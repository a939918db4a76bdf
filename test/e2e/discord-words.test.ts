import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type DiscordHousehold, startDiscordHousehold } from './discord-household.ts'

const script: Script = (request) => textReply(`heard ${lastUserText(request).split(' ').at(-1)}`)

const answerTo = ({ discord }: DiscordHousehold, word: string) =>
  discord.ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(word))

/** Returns what the model was shown last, and its system prompt. */
function prompted({ anthropic }: DiscordHousehold) {
  const request = anthropic.ledger.requests().at(-1)
  if (request === undefined) throw new Error('the model was asked')
  return { text: lastUserText(request), system: JSON.stringify(request.system) }
}

const field = (name: string, value: string) => ({ name, value, inline: true })

describe('words on Discord', () => {
  it('the model is shown the embed of an alert that somebody asks about by a reply', async () => {
    const house = await startDiscordHousehold({ script })
    const { world } = house.discord
    const { channel } = house
    const bot = `<@${world.bot.id}>`
    const alerts = world.addUser({ username: 'Alerts' })
    const embeds = [{ type: 'rich', title: 'CPU high', description: 'on web-1', fields: [field('load', '9.2')] }]
    const replyTo = world.say({ from: alerts, channel, text: '', webhook: true, fields: { embeds } })
    world.say({ from: '444', channel, text: `${bot} what failed?`, replyTo })
    await answerTo(house, 'failed?')
    expect(prompted(house).text).toContain(
      '[in reply to app: Alerts: CPU high on web-1 load: 9.2] @parley what failed?',
    )
  })

  it('a post of a forum is shown nothing of other posts', async () => {
    const house = await startDiscordHousehold({ script })
    const { world } = house.discord
    const forum = world.addChannel({ guild: house.channel.guild_id ?? '', name: 'help', type: 15 })
    const ask = async (id: string, owner: string, words: string) => {
      const channel = world.addThread({ channel: forum, name: id, owner, id })
      world.say({ from: owner, channel, text: `<@${world.bot.id}> ${words}`, extra: { id } })
      await answerTo(house, words)
    }
    await ask('7001', '444', 'boiler')
    await ask('7002', '555', 'lamp')
    expect(prompted(house).text).not.toContain('boiler')
  })

  it('the role that the platform manages for the bot calls it, whatever it is called and whenever it was made', async () => {
    const house = await startDiscordHousehold({ script })
    const { world } = house.discord
    const { channel } = house
    const guild = channel.guild_id ?? ''
    const own = world.addRole({ guild, name: 'Helper', bot: world.bot.id })
    const other = world.addRole({ guild, name: 'parley' })
    world.setNick(guild, '444', 'Bobby')
    world.setNick(guild, '555', 'Captain Cy')
    const aside = world.say({ from: '444', channel, text: `<@&${other.id}> not you` })
    world.say({ from: '444', channel, text: `<@&${own.id}> ask <@555> in <#${channel.id}> now` })
    await answerTo(house, 'now')
    expect(await house.daemon.operator.why(aside.id)).toMatchObject([{ decision: 'context' }])
    const { text } = prompted(house)
    expect(text).toContain('[Bobby] [not directed at you] [mentions: "parley"] @parley not you')
    expect(text).toContain('[Bobby] [mentions: "Captain Cy" (cy), "engines"] @Helper ask @Captain Cy in #engines now')
    await house.stop()
    world.say({ from: '444', channel, text: `<@&${own.id}> missed` })
    await house.start()
    await answerTo(house, 'missed')
    expect(prompted(house).text).toContain('[Bob] @Helper missed')
  })

  it('the name of a forum post and of its forum are in the prompt, and a later name of the post too', async () => {
    const house = await startDiscordHousehold({ script })
    const { world } = house.discord
    const forum = world.addChannel({ guild: house.channel.guild_id ?? '', name: 'help', type: 15 })
    const post = world.addThread({ channel: forum, name: 'The boiler leaks', owner: '444' })
    const bot = `<@${world.bot.id}>`
    world.say({ from: '444', channel: post, text: `${bot} see the title` })
    await answerTo(house, 'title')
    expect(prompted(house).system).toContain('the chat \\"help\\", the topic \\"The boiler leaks\\"')
    world.setThread(post, { name: 'It leaks again' })
    world.say({ from: '444', channel: post, text: `${bot} and again` })
    await answerTo(house, 'again')
    expect(prompted(house).system).toContain('the topic \\"It leaks again\\"')
  })

  it('an answer of another app that came without words is context once they come, and not before', async () => {
    const robots = { bots: 'mentioned', botIds: ['discord:601'] } as const
    const house = await startDiscordHousehold({
      script,
      routing: { access: { direct: 'owner', groups: [{ match: {}, who: 'public', trigger: 'mention', ...robots }] } },
    })
    const { world } = house.discord
    const { channel } = house
    const app = world.addUser({ id: '601', username: 'Deployer', isBot: true })
    const answer = world.say({ from: app, channel, text: '', fields: { type: 20, flags: 128 } })
    world.update({ channel, message: answer, fields: { flags: 0, embeds: [{ type: 'rich', title: 'deployed 7' }] } })
    world.update({ channel, message: answer, fields: { components: [{ type: 14 }] } })
    world.say({ from: '444', channel, text: `<@${world.bot.id}> which one?` })
    await answerTo(house, 'one?')
    expect(prompted(house).text.match(/deployed 7/g)).toHaveLength(1)
    expect(prompted(house).text).toContain('[app: Deployer] [not directed at you] deployed 7')
  })
})
