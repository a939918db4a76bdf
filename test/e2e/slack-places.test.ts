import { describe, expect, it } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type SlackHousehold, startSlackHousehold } from './slack-household.ts'

const BOT = '<@U0BOT>'
const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

async function workshop(routing: Partial<RoutingPolicy> = {}): Promise<SlackHousehold & { channel: string }> {
  const house = await startSlackHousehold({ script: hear, routing })
  const { id } = house.slack.world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  return Object.assign(house, { channel: id })
}

const answerTo = ({ slack }: SlackHousehold, words: string) =>
  slack.ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(words))

function toldWith({ anthropic }: SlackHousehold, words: string): string {
  return JSON.stringify(anthropic.ledger.requests().find((asked) => lastUserText(asked).includes(words))?.messages)
}

async function keys({ daemon }: SlackHousehold): Promise<readonly string[]> {
  const { sessions } = await daemon.operator.sessions.list({ limit: 20, offset: 0, inactive: true })
  return sessions.map(({ key }) => key).sort()
}

describe('places on Slack', () => {
  it('K12: a thread is shown what was said at the root before it began, and both share a session where topic is no dimension', async () => {
    const house = await workshop()
    const { world } = house.slack
    const { channel } = house
    const chatter = world.say({ from: 'U444', channel, text: 'only at the root' })
    await house.slack.ledger.confirmed(chatter.ts)
    const root = world.say({ from: 'U444', channel, text: `${BOT} the boiler leaks` })
    await answerTo(house, 'the boiler leaks')
    world.say({ from: 'U444', channel, thread: root, text: `${BOT} and in the thread?` })
    expect(await answerTo(house, 'and in the thread?')).toMatchObject({ thread: root.ts })
    expect(toldWith(house, 'and in the thread?')).toContain('the boiler leaks')
    expect(toldWith(house, 'and in the thread?')).toContain('[in the channel before] only at the root')
    const aside = world.say({ from: 'U444', channel, text: 'later at the root' })
    await house.slack.ledger.confirmed(aside.ts)
    world.say({ from: 'U444', channel, thread: root, text: `${BOT} and now?` })
    await answerTo(house, 'and now?')
    expect(toldWith(house, 'and now?')).not.toContain('later at the root')
    const key = `slack:channel:${channel.toLowerCase()}`
    expect(await keys(house)).toEqual([key, `${key}/${root.ts}`])

    const joined = await workshop({ channelDimensions: { slack: ['chat'] } })
    const first = joined.slack.world.say({ from: 'U444', channel: joined.channel, text: 'only at the root' })
    await joined.slack.ledger.confirmed(first.ts)
    joined.slack.world.say({ from: 'U444', channel: joined.channel, text: `${BOT} what was said?` })
    await answerTo(joined, 'what was said?')
    expect(toldWith(joined, 'what was said?')).toContain('only at the root')
  })

  it('S25: a thread where the bot was mentioned only first goes on unanswered', async () => {
    const house = await workshop()
    const { world } = house.slack
    const { channel } = house
    const root = world.say({ from: 'U444', channel, text: `${BOT} the boiler leaks` })
    await answerTo(house, 'the boiler leaks')
    const aside = world.say({ from: 'U444', channel, thread: root, text: 'I will look at it myself' })
    await house.slack.ledger.confirmed(aside.ts)
    world.say({ from: 'U444', channel, thread: root, text: `${BOT} done` })
    await answerTo(house, 'done')
    expect(await house.daemon.operator.why(aside.ts)).toMatchObject([{ decision: 'context' }])
    expect(toldWith(house, 'done')).toContain('I will look at it myself')
    expect(world.messages(channel, { by: 'bot' })).toHaveLength(2)
  })

  it('F-H04: a user of another workspace with the same id is nobody we know, and has a session of their own', async () => {
    const house = await workshop({ channelDimensions: { slack: ['chat', 'sender'] } })
    const { world } = house.slack
    const { channel } = house
    const foreign = { team: 'T02', user_team: 'T02', source_team: 'T02' }
    world.say({ from: 'U333', channel, text: 'Ada thinks aloud' })
    await answerTo(house, 'Ada thinks aloud')
    const aside = world.say({ from: 'U333', channel, text: 'not Ada', extra: foreign })
    await house.slack.ledger.confirmed(aside.ts)
    world.say({ from: 'U333', channel, text: `${BOT} who am I?`, extra: foreign })
    await answerTo(house, 'who am I?')
    expect(toldWith(house, 'who am I?')).not.toContain('Ada thinks aloud')
    const [why] = await house.daemon.operator.why(aside.ts)
    expect(why).toMatchObject({ decision: 'context', reason: 'not_addressed' })
    expect(why?.steps).toContainEqual(expect.objectContaining({ stage: 'identity', because: 'guest by slack:U333' }))
    const key = `slack:channel:${channel.toLowerCase()}`
    expect(await keys(house)).toEqual([`${key}|sender=ada`, `${key}|sender=t02/u333`])
    world.say({ from: 'U333', text: 'let me in', extra: foreign })
    await answerTo(house, 'only talk to people')
  })

  it('F-H04: a message without a workspace is the owner’s only in a channel that nobody else can write in', async () => {
    const house = await workshop()
    const { world } = house.slack
    const shared = world.addChannel({ name: 'shared', members: ['U333'], external: true }).id
    // The platform leaves the team out of messages of some kinds.
    const extra = { team: undefined, subtype: 'me_message' }
    const whois = async (channel: string) => {
      const said = world.say({ from: 'U333', channel, text: `${BOT} who is at ${channel}?`, extra })
      await answerTo(house, `who is at ${channel}?`)
      const [why] = await house.daemon.operator.why(said.ts)
      return why?.steps.find(({ stage }) => stage === 'identity')?.because
    }
    expect(await whois(house.channel)).toContain('owner ada')
    expect(await whois(shared)).toBe('guest by slack:U333')
  })

  it('S25: a group direct message is a group: who does not address the bot is context', async () => {
    const house = await workshop()
    const { world } = house.slack
    const trio = world.addChannel({ kind: 'mpim', name: 'mpdm-ada--bob--parley', members: ['U333', 'U444'] }).id
    const aside = world.say({ from: 'U444', channel: trio, text: 'just between us three' })
    await house.slack.ledger.confirmed(aside.ts)
    world.say({ from: 'U444', channel: trio, text: `${BOT} what do you think?` })
    await answerTo(house, 'what do you think?')
    expect(await house.daemon.operator.why(aside.ts)).toMatchObject([{ decision: 'context' }])
    const { sessions } = await house.daemon.operator.sessions.list({ limit: 20, offset: 0, inactive: true })
    expect(sessions.map(({ kind }) => kind)).toEqual(sessions.map(() => 'group'))
    expect(await keys(house)).toContain(`slack:group:${trio.toLowerCase()}`)
  })
})
