import { describe, expect, it } from 'vitest'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { owner, policy } from '../fakes/routing-policy.ts'
import { type SlackHousehold, startSlackHousehold } from './slack-household.ts'

async function workshop(): Promise<SlackHousehold & { channel: string }> {
  const app = { slashCommands: ['/parley', '/whoami'] }
  const house = await startSlackHousehold({ script: () => textReply('answered'), slack: { app } })
  const { id } = house.slack.world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  return Object.assign(house, { channel: id })
}

/** Runs a slash command and resolves with what its person alone is shown. */
async function run(house: SlackHousehold, input: Parameters<SlackHousehold['slack']['world']['slash']>[0]) {
  const { ledger, world } = house.slack
  const mark = ledger.mark()
  world.slash(input)
  return ledger.nextWhisper({ after: mark })
}

/** What the bot says next with these words, once something was done. */
async function answered({ slack: { ledger } }: SlackHousehold, act: () => unknown, words = '') {
  const after = ledger.mark()
  act()
  return ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes(words) })
}

describe('Slack slash commands', () => {
  it('T27: are acknowledged after their commit and answered to who ran them alone', async () => {
    const house = await workshop()
    const { channel, slack } = house
    expect(await run(house, { from: 'U333', channel, command: '/parley', text: 'whoami' })).toMatchObject({
      userId: 'U333',
      channel,
      text: expect.stringContaining('your role is owner'),
    })
    expect((await slack.ledger.nextSlash('acknowledged')).command).toBe('/parley')
    expect(slack.ledger.fromBot()).toEqual([])
    expect(house.anthropic.ledger.requests()).toEqual([])
  })

  it('work by their own name where the app declares it, with arguments, and ask for help where they name nothing', async () => {
    const house = await workshop()
    const { channel } = house
    expect((await run(house, { from: 'U444', channel, command: '/whoami' })).text).toContain('your role is guest')
    const muted = await run(house, { from: 'U333', channel, command: '/parley', text: 'mute 2h' })
    expect(muted.text).toContain('I say nothing here until')
    expect((await run(house, { from: 'U333', channel, command: '/parley', text: 'mute off' })).text).toBe('I am back.')
    expect((await run(house, { from: 'U333', channel, command: '/parley', text: 'dance' })).text).toContain('!whoami:')
    expect((await run(house, { from: 'U333', channel, command: '/parley', text: 'mute' })).text).toContain('!mute off')
  })

  it("T27: an owner's command of a member leaves the chat silent", async () => {
    const house = await workshop()
    const { channel, slack } = house
    slack.world.slash({ from: 'U444', channel, command: '/parley', text: 'status' })
    expect(await slack.ledger.nextWhisper()).toMatchObject({ userId: 'U444', text: 'Only my owner may do that.' })
    expect(slack.ledger.fromBot()).toEqual([])
  })

  it.each([
    ['once the owner has written to the bot', true],
    ['nor before', false],
  ])(
    "an owner's, typed in a direct chat with somebody else, are not where the owner is told what comes, %s",
    async (_, wrote) => {
      const house = await startSlackHousehold({
        script: () => textReply('answered'),
        slack: { app: { slashCommands: ['/parley'] } },
        routing: policy({ people: [owner('ada', 'slack:T01/U333')] }),
      })
      const { world, ledger } = house.slack
      const hello = () => world.say({ from: 'U333', text: 'hello' })
      if (wrote) await answered(house, hello)
      const members = ['U333', 'U444']
      const { id: channel } = world.addChannel({ kind: 'im', name: 'ada and bob', members, botJoined: false })
      await answered(house, () => world.slash({ from: 'U333', channel, command: '/parley', text: 'status' }))
      const after = ledger.mark()
      await answered(house, () => world.say({ from: 'U555', text: 'let me in' }), 'I only talk to people')
      if (!wrote) hello()
      const card = await ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('!admit') })
      expect(card.channel).toBe(world.direct('U333').id)
    },
  )

  it('T27: in a conversation without the bot they are answered in the direct chat', async () => {
    const house = await workshop()
    const { world, ledger } = house.slack
    const { id: elsewhere } = world.addChannel({ name: 'elsewhere', members: ['U333'], botJoined: false })
    world.slash({ from: 'U333', channel: elsewhere, command: '/whoami' })
    const sent = await ledger.nextFromBot('sent')
    expect(sent).toMatchObject({ channel: world.direct('U333').id, text: expect.stringContaining('owner') })
  })

  it('typed with a mark they work in threads too, and are shown to who typed them alone', async () => {
    const { slack, channel } = await workshop()
    const root = slack.world.say({ from: 'U444', channel, text: 'hello' })
    slack.world.say({ from: 'U444', channel, thread: root, text: '!whoami' })
    expect(await slack.ledger.nextWhisper()).toMatchObject({ userId: 'U444', channel, thread: root.ts })
    expect(slack.ledger.fromBot()).toEqual([])
  })
})
