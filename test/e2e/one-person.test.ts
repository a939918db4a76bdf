import { describe, expect, it } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type Household, startHousehold } from './household.ts'
import { startTwoMore, type TwoMore } from './three-platforms.ts'

type Whole = Household & TwoMore

const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

/** Ada owns the agent and has an id on each platform. */
async function everywhere(routing: Partial<RoutingPolicy> = {}): Promise<Whole> {
  const more = await startTwoMore()
  return Object.assign(await startHousehold({ script: hear, streaming: false, routing, beside: more }), more)
}

/** Ada's direct chats, one on each platform: says it there and resolves when it is answered in the same chat. */
function chatsOf({ telegram, discord, slack }: Whole) {
  return {
    async telegram(text: string): Promise<void> {
      telegram.world.say({ from: 111, text })
      await telegram.ledger.next(
        (one) => one.kind === 'message' && one.botId !== null && one.chatId === 111 && one.text.includes(text),
      )
    },
    async discord(text: string): Promise<void> {
      const room = discord.world.direct('222').channel.id
      discord.world.say({ from: '222', text })
      await discord.ledger.next(
        (one) => one.kind === 'message' && one.byBot && one.channelId === room && one.text.includes(text),
      )
    },
    async slack(text: string): Promise<void> {
      const room = slack.world.direct('U333').id
      slack.world.say({ from: 'U333', text })
      await slack.ledger.next(
        (one) => one.kind === 'message' && one.byBot && one.channel === room && one.text.includes(text),
      )
    },
  }
}

async function keys({ daemon }: Whole): Promise<readonly string[]> {
  const { sessions } = await daemon.operator.sessions.list({ limit: 20, offset: 0, inactive: true })
  return sessions.map(({ key }) => key).sort()
}

function toldWith({ anthropic }: Whole, words: string): string {
  return JSON.stringify(anthropic?.ledger.requests().find((asked) => lastUserText(asked).includes(words))?.messages)
}

describe('one person on three platforms', () => {
  it('K14, K46: is one identity and has three sessions', async () => {
    const house = await everywhere()
    const ada = chatsOf(house)
    await ada.telegram('one')
    await ada.discord('two')
    await ada.slack('three')
    expect(await keys(house)).toEqual([
      'discord:direct:222',
      `slack:direct:${house.slack.world.direct('U333').id.toLowerCase()}`,
      'telegram:direct:111',
    ])
    expect(toldWith(house, 'three')).not.toContain('one')
    const names = ['agent:main:discord:direct:222', 'agent:main:slack:direct:slack:U333', 'telegram:direct:111']
    const shown = await Promise.all(names.map((name) => house.daemon.operator.sessions.show(name)))
    expect(shown.map(({ key }) => key)).toEqual(['discord:direct:222', 'slack:direct:d333', 'telegram:direct:111'])
  })

  it('K46: with direct: person has one session, and each answer goes to the chat the message came from', async () => {
    const house = await everywhere({ direct: 'person' })
    const ada = chatsOf(house)
    await ada.telegram('one')
    await ada.discord('two')
    await ada.slack('three')
    await house.restart()
    await ada.telegram('four')
    expect(await keys(house)).toEqual(['direct:ada'])
    for (const word of ['one', 'two', 'three']) expect(toldWith(house, 'four')).toContain(word)
    const { id } = await house.daemon.operator.sessions.show('direct:ada')
    for (const name of ['telegram:direct:111', 'agent:main:discord:direct:discord:222', 'agent:main:direct:ADA'])
      expect((await house.daemon.operator.sessions.show(name)).id).toBe(id)
    expect(house.telegram.world.messages(111, { by: 'bot' })).toHaveLength(2)
    expect(house.slack.world.messages(house.slack.world.direct('U333'), { by: 'bot' })).toHaveLength(1)
  })

  it('K46: direct: main joins the chats of the owner, and of nobody else', async () => {
    const house = await everywhere({ direct: 'main' })
    const ada = chatsOf(house)
    await ada.telegram('one')
    await ada.slack('two')
    house.telegram.world.say({ from: 444, text: 'Bob here' })
    await house.telegram.ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === 444 })
    expect(await keys(house)).toEqual(['main', 'telegram:direct:444'])
    expect(toldWith(house, 'two')).toContain('one')
    expect(toldWith(house, 'Bob here')).not.toContain('one')
  })
})
