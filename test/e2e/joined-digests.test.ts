import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, heard } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { setClock } from './set-clock.ts'

const CLUB = -1001234567890

/** A household whose chats share one session, with a digest of one of them in the morning. */
async function digestOf(of: string, routing: Partial<RoutingPolicy> = { dimensions: [] }) {
  const clock = setClock('2026-11-01T08:00:00Z')
  const digest = {
    id: toScheduleId('morning'),
    definition: {
      ...{ cron: '0 9 * * *', timezone: 'Etc/UTC', prompt: 'Summarise it.', missed: { kind: 'once' as const } },
      ...{ overlap: 'skip' as const, digestOf: parseAddress(of), deliverTo: parseAddress('telegram:direct:111') },
    },
  }
  const script: Script = (request, no) => {
    const text = lastUserText(request)
    return text.includes('Summarise it') ? textReply(`digest: ${text}`) : heard(request, no)
  }
  const house = await forgettingHouse({ script, clock, routing, schedules: () => [digest] })
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
