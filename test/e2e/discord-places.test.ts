import { describe, expect, it } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type DiscordHousehold, startDiscordHousehold } from './discord-household.ts'

const BOT = '<@900000000000000001>'
/** The same as people read it. */
const NAME = '@parley'
const hear: Script = (request) => textReply(`heard ${lastUserText(request).split(NAME).at(-1)?.trim()}`)
const workshop = (routing: Partial<RoutingPolicy> = {}) => startDiscordHousehold({ script: hear, routing })

const answerTo = ({ discord }: DiscordHousehold, words: string) =>
  discord.ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(words))

async function keys({ daemon }: DiscordHousehold): Promise<readonly string[]> {
  const { sessions } = await daemon.operator.sessions.list({ limit: 20, offset: 0, inactive: true })
  return sessions.map(({ key }) => key).sort()
}

describe('places on Discord', () => {
  it('K12: a thread is under the rules of its channel and has a session of its own', async () => {
    const channelId = '800000000000000777'
    const groups = [{ match: { channel: 'discord', chat: channelId }, who: 'public', trigger: 'mention' }] as const
    const house = await workshop({
      access: { direct: 'owner', groups },
      dispatch: [{ name: 'pumps', match: { chat: channelId } }],
    })
    const { world } = house.discord
    const [elsewhere] = [house.channel]
    const channel = world.addChannel({ guild: house.channel.guild_id ?? '', name: 'pumps', id: channelId })
    const thread = world.addThread({ channel, name: 'seals' })
    const refused = world.say({ from: '444', channel: elsewhere, text: `${BOT} not here` })
    world.say({ from: '444', channel, text: `${BOT} in the channel` })
    await answerTo(house, 'in the channel')
    const asked = world.say({ from: '444', channel: thread, text: `${BOT} in the thread` })
    expect(await answerTo(house, 'in the thread')).toMatchObject({ channelId: thread.id })
    expect(await house.daemon.operator.why(refused.id)).toMatchObject([{ decision: 'refuse' }])
    const [why] = await house.daemon.operator.why(asked.id)
    expect(why?.steps).toContainEqual(
      expect.objectContaining({ stage: 'dispatch', because: expect.stringContaining('dispatch.rule:pumps') }),
    )
    expect(await keys(house)).toEqual([`discord:channel:${channel.id}`, `discord:channel:${channel.id}/${thread.id}`])
  })

  it('S25: a group direct message is a group: who does not address the bot is context', async () => {
    const house = await workshop()
    const { world } = house.discord
    const trio = world.addGroup({ members: ['222', '444'] })
    const aside = world.say({ from: '444', channel: trio, text: 'just between us' })
    world.say({ from: '444', channel: trio, text: `${BOT} what do you think?` })
    await answerTo(house, 'what do you think?')
    expect(await house.daemon.operator.why(aside.id)).toMatchObject([{ decision: 'context' }])
    expect(await keys(house)).toEqual([`discord:group:${trio.id}`])
  })
})
