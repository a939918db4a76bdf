import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import type { GroupRule } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { household } from '../fakes/routing-policy.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { type SlackHousehold, type SlackHouseholdOptions, startSlackHousehold } from './slack-household.ts'

const repeats: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

const following = (followThreads: boolean) => {
  const groups: GroupRule[] = [{ match: {}, who: 'public', trigger: 'mention', followThreads }]
  return { access: { direct: 'owner', groups } } as const
}

async function workshop(
  followThreads: boolean,
  more: Partial<SlackHouseholdOptions> = {},
): Promise<SlackHousehold & { channel: string }> {
  const house = await startSlackHousehold({ script: repeats, routing: following(followThreads), ...more })
  const { id } = house.slack.world.addChannel({ name: 'workshop', members: ['U333', 'U444', 'U555'] })
  return Object.assign(house, { channel: id })
}

const answerTo = ({ slack }: SlackHousehold, words: string) =>
  slack.ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(words))

const decisionOn = async ({ daemon }: SlackHousehold, { ts }: { ts: string }) =>
  (await daemon.operator.why(ts)).map(({ decision, reason }) => `${decision}/${reason}`)

describe('a Slack thread where the bot was mentioned only first', () => {
  it('S25: what follows is stored and not answered, unless somebody mentions the bot again', async () => {
    const house = await workshop(false)
    const { world } = house.slack
    const { channel } = house
    const root = world.say({ from: 'U444', channel, text: '<@U0BOT> the boiler leaks' })
    await answerTo(house, 'the boiler leaks')
    const aside = world.say({ from: 'U555', channel, thread: root, text: 'it did last year too' })
    world.say({ from: 'U444', channel, thread: root, text: '<@U0BOT> what now?' })
    await answerTo(house, 'what now?')
    expect(await decisionOn(house, aside)).toEqual(['context/not_addressed'])
    expect(world.messages(channel, { by: 'bot' })).toHaveLength(2)
  })

  it('S25: with followThreads everybody in it is answered, those who speak to others are not, nor is another thread', async () => {
    const house = await workshop(true)
    const { world } = house.slack
    const { channel } = house
    const root = world.say({ from: 'U444', channel, text: '<@U0BOT> the boiler leaks' })
    await answerTo(house, 'the boiler leaks')
    const elsewhere = world.say({ from: 'U444', channel, text: 'lunch?' })
    const reply = world.say({ from: 'U555', channel, thread: elsewhere, text: 'at noon' })
    const toBob = world.say({ from: 'U555', channel, thread: root, text: '<@U444> did you see?' })
    world.say({ from: 'U555', channel, thread: root, text: 'it did last year too' })
    expect(await answerTo(house, 'last year too')).toMatchObject({ thread: root.ts })
    expect(await decisionOn(house, elsewhere)).toEqual(['context/not_addressed'])
    expect(await decisionOn(house, reply)).toEqual(['context/not_addressed'])
    expect(await decisionOn(house, toBob)).toEqual(['context/others_mentioned'])
  })

  it('S25: a restart does not make the bot forget which threads it is part of', async () => {
    const house = await workshop(true)
    const { world } = house.slack
    const { channel } = house
    const root = world.say({ from: 'U444', channel, text: '<@U0BOT> the boiler leaks' })
    await answerTo(house, 'the boiler leaks')
    await house.stop()
    await house.start()
    const next = world.say({ from: 'U555', channel, thread: root, text: 'and still does' })
    await answerTo(house, 'and still does')
    expect(await decisionOn(house, next)).toEqual(['run/followed_thread'])
  })

  it('F-H14: followThreads takes effect with the policy that sets it, for threads of before too', async () => {
    const reload = async () => ({ routing: household(following(true)), warnings: [], down: [] }) as unknown as Config
    const house = await workshop(false, { reload })
    const { world } = house.slack
    const { channel } = house
    const root = world.say({ from: 'U444', channel, text: '<@U0BOT> the boiler leaks' })
    await answerTo(house, 'the boiler leaks')
    await house.daemon.operator.config.reload()
    const next = world.say({ from: 'U555', channel, thread: root, text: 'and still does' })
    await answerTo(house, 'and still does')
    expect(await decisionOn(house, next)).toEqual(['run/followed_thread'])
    const other = world.say({ from: 'U444', channel, text: '<@U0BOT> so does the roof' })
    await answerTo(house, 'so does the roof')
    world.say({ from: 'U555', channel, thread: other, text: 'since spring' })
    await answerTo(house, 'since spring')
  })
})

it('S25: a Discord thread the bot has answered in is followed too, and its channel is not', async () => {
  const house = await startDiscordHousehold({ script: repeats, routing: following(true) })
  const { world, ledger } = house.discord
  const { channel, thread } = house
  const answer = (words: string) =>
    ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(words))
  // The owner needs no mention; that she was answered makes the bot part of the thread.
  const aloud = world.say({ from: '222', channel: thread, text: 'the pump is old' })
  await answer('the pump is old')
  await expect.poll(async () => (await house.daemon.operator.why(aloud.id))[0]?.outcome).toBe('answered')
  const root = world.say({ from: '444', channel, text: 'lunch?' })
  world.say({ from: '444', channel: thread, text: 'how old?' })
  await answer('how old?')
  expect(await house.daemon.operator.why(root.id)).toMatchObject([{ decision: 'context', reason: 'not_addressed' }])
})
