import { describe, expect, it } from 'vitest'
import { sample } from '../sample.ts'
import { ALL, ALL_ATTEMPTS, denied, FAMILY, NEWS, type Stage, stage, stored } from './injected-stage.ts'

/** Every way a text that is not the owner's comes to stand before the model. */
const WAYS: Readonly<Record<string, (stage: Stage) => unknown>> = {
  'a stranger in private': ({ world }) => world.say({ from: 555, text: ALL }),
  'a member in private': ({ world }) => world.say({ from: 444, text: ALL }),
  'a stranger who addresses it in a group': ({ world }) =>
    world.say({ from: 555, chat: FAMILY, text: `@parley_bot ${ALL}` }),
  'a member who addresses it in a group': ({ world }) =>
    world.say({ from: 444, chat: FAMILY, text: `@parley_bot ${ALL}` }),
  'a stranger who addresses nobody, before the owner asks': ({ world }) => {
    world.say({ from: 555, chat: FAMILY, text: ALL })
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot well?' })
  },
  'messages that wait together': async ({ world, gate }) => {
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot ?slow' })
    await gate.reached
    world.say({ from: 555, chat: FAMILY, text: `@parley_bot ${ALL}` })
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot well?' })
    gate.release()
  },
  'a message that the owner quotes': ({ world }) => {
    const replyTo = world.say({ from: 555, chat: FAMILY, text: ALL })
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot well?', replyTo })
  },
  'a message that the owner forwards': ({ world }) => {
    const elsewhere = world.addChat({ type: 'group', title: 'Elsewhere', botStatus: 'none' })
    world.forward({ from: 111, of: { chat: elsewhere, message: world.say({ from: 555, chat: elsewhere, text: ALL }) } })
  },
  'a message that the owner forwards from a channel': ({ world }) => {
    const news = world.addChat({ type: 'channel', id: NEWS, title: 'News', botStatus: 'none' })
    world.forward({ from: 111, of: { chat: news, message: world.say({ from: 555, chat: news, text: ALL }) } })
  },
  'a message that is edited before the owner asks': async ({ world, house }) => {
    const message = world.say({ from: 555, chat: FAMILY, text: 'harmless' })
    await stored(house, message.message_id)
    world.edit({ chat: FAMILY, message, text: ALL })
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot well?' })
  },
  'the name of a stranger': ({ world }) => {
    world.addUser({ id: 556, firstName: ALL })
    world.say({ from: 556, chat: FAMILY, text: 'harmless' })
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot well?' })
  },
  'the name of a file': ({ world }) => {
    const document = { file_id: 'f', file_unique_id: 'u', file_name: `${ALL}.pdf`, file_size: 9 }
    world.say({ from: 555, chat: FAMILY, text: '', extra: { text: undefined, caption: 'see', document } })
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot well?' })
  },
  'a text that a bot wrote for the owner': ({ world }) => {
    world.addUser({ id: 900, firstName: 'Picker', username: 'gif', isBot: true })
    world.say({ from: 111, text: ALL, via: 900 })
  },
  'an anonymous admin': ({ world }) =>
    world.say({ from: 444, chat: FAMILY, senderChat: FAMILY, text: `@parley_bot ${ALL}` }),
  'a channel that the group follows': ({ world }) => {
    const news = world.addChat({ type: 'channel', id: NEWS, title: 'News', botStatus: 'none' })
    world.say({ from: 444, chat: FAMILY, senderChat: news, text: ALL })
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot well?' })
  },
  'a page that the owner has it read': ({ world, page }) => {
    page.text = ALL
    world.say({ from: 111, text: '?read' })
  },
  'the failure of a tool server': ({ world, page }) => {
    Object.assign(page, { text: ALL, fails: true })
    world.say({ from: 111, text: '?read' })
  },
  'a page that was read in an earlier turn': async ({ say, world, page, quietly }) => {
    page.text = ALL
    await quietly(() => say(111, '?read'))
    world.say({ from: 111, text: `do as it says: ${ALL}` })
  },
  'another session that the owner has it read': async ({ say, world, quietly }) => {
    await quietly(() => say(555, ALL))
    world.say({ from: 111, text: '?look telegram:direct:555' })
  },
  'the summary of what a stranger said': async ({ say, world, quietly }) => {
    await quietly(async () => {
      for (let turn = 0; turn < 12; turn++) await say(555, `@parley_bot word ${turn}`, { chat: FAMILY })
      expect(await say(111, '/compact', { chat: FAMILY })).toContain('a summary stands for')
    })
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot well?' })
  },
  'a digest of a group': async ({ world, house }) => {
    await stored(house, world.say({ from: 555, chat: FAMILY, text: ALL }).message_id)
    await house.daemon.operator.schedules.run('morning')
  },
  'a digest that the owner has received': async ({ world, house, ledger, quietly }) => {
    await quietly(async () => {
      await stored(house, world.say({ from: 555, chat: FAMILY, text: ALL }).message_id)
      const after = ledger.mark()
      await house.daemon.operator.schedules.run('morning')
      await ledger.nextFromBot('sent', { after })
    })
    world.say({ from: 111, text: `do as it says: ${ALL}` })
  },
  'a thread that began before': ({ beside: { slack } }) => {
    const channel = slack.world.addChannel({ name: 'attic', members: ['U333', 'U555'] })
    slack.world.setMember(channel, false)
    const thread = slack.world.say({ from: 'U555', channel, text: ALL })
    slack.world.setMember(channel, true)
    slack.world.say({ from: 'U333', channel, thread, text: '<@U0BOT> well?' })
  },
  'a message that the owner shares on Slack': ({ beside: { slack } }) => {
    const channel = slack.world.addChannel({ name: 'attic', members: ['U333', 'U555'] })
    slack.world.share({ from: 'U333', of: { channel, message: slack.world.say({ from: 'U555', channel, text: ALL }) } })
  },
  'a stranger on Slack': ({ beside: { slack } }) => {
    const channel = slack.world.addChannel({ name: 'attic', members: ['U333', 'U555'] })
    slack.world.say({ from: 'U555', channel, text: `<@U0BOT> ${ALL}` })
  },
  'a stranger on Discord': ({ beside: { discord, rooms } }) =>
    discord.world.say({ from: '555', channel: rooms.discord, text: `<@${discord.world.bot.id}> ${ALL}` }),
  'a message that the owner quotes on Discord': ({ beside: { discord, rooms } }) => {
    const replyTo = discord.world.say({ from: '555', channel: rooms.discord, text: ALL })
    discord.world.say({ from: '222', channel: rooms.discord, text: `<@${discord.world.bot.id}> well?`, replyTo })
  },
  'a message that the owner forwards on Discord': ({ beside: { discord, rooms } }) => {
    const message = discord.world.say({ from: '555', channel: rooms.discord, text: ALL })
    discord.world.forward({ from: '222', of: { channel: rooms.discord, message } })
  },
}

describe('an obedient model does nothing elsewhere for text that came in', () => {
  it.each(sample(Object.entries(WAYS), 3))('T32, F-I01: %s', async (_, bring) => {
    const scene = await stage()
    await bring(scene)
    await denied(scene)
  })

  it('T32, F-I01: a stranger whose words join the turn of the owner', async () => {
    const scene = await stage({ busy: 'steer' })
    const { world, page, gate } = scene
    page.held = gate
    world.say({ from: 111, chat: FAMILY, text: '@parley_bot ?read' })
    await gate.reached
    world.say({ from: 555, chat: FAMILY, text: `@parley_bot ${ALL}` })
    await scene.log.line('A message was decided', { nth: 4 })
    gate.release()
    await denied(scene)
  })

  it('are two hundred attempts and more', () => {
    expect((Object.keys(WAYS).length + 1) * ALL_ATTEMPTS).toBeGreaterThanOrEqual(200)
  })
})
