import { expect, it } from 'vitest'
import { type Address, parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { ConfiguredSchedule } from '../../src/core/schedule.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, heard } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { setClock } from './set-clock.ts'
import { startSlackHousehold } from './slack-household.ts'

const CLUB = -1001234567890

/** Repeats the digest that it was given, and else what it was told last. */
const script: Script = (request, no) => {
  const text = lastUserText(request)
  return text.includes('Summarise it') ? textReply(`digest: ${text}`) : heard(request, no)
}

/** What was said in a place, in the morning. */
function digest(digestOf: Address, deliverTo: Address): ConfiguredSchedule {
  const definition = { cron: '0 9 * * *', timezone: 'Etc/UTC', prompt: 'Summarise it.', digestOf, deliverTo }
  return { id: toScheduleId('morning'), definition: { ...definition, missed: { kind: 'once' }, overlap: 'skip' } }
}

/** A household whose chats share one session, with a digest of one of them in the morning. */
async function digestOf(of: string, routing: Partial<RoutingPolicy> = { dimensions: [] }) {
  const clock = setClock('2026-11-01T08:00:00Z')
  const schedule = digest(parseAddress(of), parseAddress('telegram:direct:111'))
  const house = await forgettingHouse({ script, clock, routing, schedules: () => [schedule] })
  const morning = async () => {
    const after = house.ledger.mark()
    clock.set('2026-11-01T09:00:10Z')
    const where = ({ text, chatId }: { text: string; chatId: number }) => chatId === 111 && text.startsWith('digest:')
    return (await house.ledger.nextFromBot('sent', { after, where })).text
  }
  return { ...house, morning }
}

it.each<[string, Partial<RoutingPolicy>, string]>([
  ['in one session with the others', { dimensions: [] }, `telegram:group:${CLUB}`],
  ['in the main session', { scope: 'global' }, 'telegram:direct:444'],
])('T4: a digest of a chat that is %s has what was said in it, and nothing of the others', async (_, routing, of) => {
  const { world, say, home, morning } = await digestOf(of, routing)
  world.addChat({ type: 'supergroup', title: 'Club', id: CLUB, members: [111, 444] })
  await say('my own secret')
  await say('the bin goes out', { from: 444, ...(of.includes('group') ? { chat: CLUB } : {}) })
  const text = await morning()
  expect(text).toContain('Bob: ')
  expect(text).toContain('the bin goes out')
  expect(text).toContain('you: heard:')
  expect(text).not.toContain('my own secret')
  expect((await home.daemon.operator.status()).outbox).not.toHaveProperty('rejected')
})

it('T4: a digest of a group that got a new id has what was said before, too', async () => {
  const { world, say, morning } = await digestOf('telegram:group:-2001')
  world.addChat({ type: 'group', title: 'Family', id: -2001, members: [111, 444] })
  await say('the bin goes out', { from: 444, chat: -2001 })
  const { id } = world.migrate(-2001)
  await say('and the bottles', { from: 444, chat: id })
  await say('my own secret')
  const text = await morning()
  expect(text).toContain('and the bottles')
  expect(text).toContain('the bin goes out')
  expect(text.match(/you: heard:/g)).toHaveLength(2)
  expect(text).not.toContain('my own secret')
})

it('T4: a digest of a topic has what was said in it, and nothing of the others of its chat', async () => {
  const topic = 3
  const { world, home, ledger, say, morning } = await digestOf(`telegram:group:${CLUB}/${topic}`)
  world.addChat({ type: 'supergroup', title: 'Club', id: CLUB, forum: true, members: [111, 444] })
  const topics = ['Chess', 'Rowing', 'Cooking', 'Bees'].map((name) => world.addTopic({ chat: CLUB, name }))
  expect(topics).toContain(topic)
  await say('my own secret')
  await say('said in General', { from: 444, chat: CLUB })
  for (const one of topics) {
    const after = ledger.mark()
    world.say({ from: 444, chat: CLUB, topic: one, text: `@parley_bot said in ${one}` })
    await ledger.nextFromBot('sent', { after })
    await recorded(home)
  }
  const text = await morning()
  expect(text.match(/Bob: /g)).toHaveLength(1)
  expect(text).toContain(`said in ${topic}`)
  expect(text.match(/you: heard:/g)).toHaveLength(1)
})

it('T4: a digest of a topic has no message of before its group got a new id, though it has the same number', async () => {
  const topic = 3
  const { world, home, ledger, say, exchange, morning } = await digestOf(`telegram:group:-1001000000001/${topic}`)
  world.addChat({ type: 'group', title: 'Family', id: -2001, members: [111, 444] })
  await say('hello')
  await say('the bin goes out', { from: 444, chat: -2001 })
  const { id: number } = await exchange('and the bottles', { from: 444, chat: -2001 })
  const chat = Object.assign(world.migrate(-2001), { is_forum: true }).id
  expect(world.addTopic({ chat, name: 'Chess' })).toBe(topic)
  const after = ledger.mark()
  const said = world.say({ from: 444, chat, topic, text: '@parley_bot said in the topic' })
  expect(said.message_id).toBe(number)
  await ledger.nextFromBot('sent', { after })
  await recorded(home)
  const text = await morning()
  expect(text).toContain('said in the topic')
  expect(text).not.toContain('the bottles')
})

it('T4: a digest of a thread has what was said in it where one session holds its channel with all threads', async () => {
  const clock = setClock('2026-11-01T08:00:00Z')
  const schedules: ConfiguredSchedule[] = []
  const routing: Partial<RoutingPolicy> = { channelDimensions: { slack: ['chat'] } }
  const house = await startSlackHousehold({ script, clock, routing, config: { schedules } })
  const { world, ledger } = house.slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  const answer = async (words: string, act: () => void): Promise<string> => {
    const after = ledger.mark()
    act()
    const entry = await ledger.next((one) => one.kind === 'message' && one.byBot && one.text.includes(words), { after })
    await recorded(house)
    return entry.kind === 'message' ? entry.text : ''
  }
  const say = async (words: string, thread?: string): Promise<string> => {
    let ts = ''
    const text = `<@U0BOT> ${words}`
    await answer(words, () => ({ ts } = world.say({ from: 'U444', channel, text, ...(thread && { thread }) })))
    return ts
  }
  await say('the bin goes out')
  const root = await say('the boiler leaks')
  await say('since Monday', root)
  await house.stop()
  const of = parseAddress(`slack:channel:${channel}/${root}`)
  schedules.push(digest(of, parseAddress(`slack:channel:${channel}`)))
  await house.start()
  const text = await answer('Summarise it', () => clock.set('2026-11-01T09:00:10Z'))
  expect(text).toContain('since Monday')
  expect(text).not.toContain('the bin goes out')
})
