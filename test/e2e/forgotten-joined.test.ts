import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toPersonId, toScheduleId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { setClock } from './set-clock.ts'

/** A person with two chats, which share a session. */
const joined: Partial<RoutingPolicy> = {
  direct: 'person',
  people: [{ id: toPersonId('ada'), role: 'owner', ids: ['telegram:111', 'telegram:444'] }],
}

async function twoChats(routing: Partial<RoutingPolicy>) {
  const house = await forgettingHouse({ routing })
  await house.say('the bin goes out', { from: 444 })
  await house.say('the cat stays in', { from: 111 })
  const forget = (name: string) => house.home.daemon.operator.forgetting.forget({ kind: 'chat', name, confirmed: true })
  return { ...house, forget, held: (words: string) => holding(house.home.dataDir, words) }
}

it('S41: of a session that joins the chats of a person the one goes that was named', async () => {
  const { forget, held } = await twoChats(joined)
  await forget('telegram:direct:444')
  await expect.poll(() => held('the bin goes out'), { timeout: 30_000 }).toEqual([])
  expect(held('the cat stays in')).not.toEqual([])
})

it.each<[string, Partial<RoutingPolicy>, string]>([
  ['scope: global', { scope: 'global' }, 'main'],
  ['dimensions: []', { dimensions: [] }, 'telegram'],
  ['direct: person', joined, 'direct:ada'],
])('S41: a session that joins chats goes as a whole by its own name, with %s', async (_setting, routing, name) => {
  const { forget, held, say, prompt } = await twoChats(routing)
  await forget(name)
  await expect.poll(() => held('the bin goes out'), { timeout: 30_000 }).toEqual([])
  expect(held('the cat stays in')).toEqual([])
  await say('and now?')
  expect(prompt()).not.toContain('the cat stays in')
})

it.each(['Telegram:Direct:444', 'agent:main:telegram:direct:444', 'agent:main:telegram:default:direct:444'])(
  'S41: one chat of a person goes by each of its names, and no other: %s',
  async (name) => {
    const { forget, held } = await twoChats(joined)
    await forget(name)
    await expect.poll(() => held('the bin goes out'), { timeout: 30_000 }).toEqual([])
    expect(held('the cat stays in')).not.toEqual([])
  },
)

it('S41: a name that says neither all of a session nor one of its chats takes nothing', async () => {
  const { forget, held } = await twoChats(joined)
  await expect(forget('agent:main:direct:444')).rejects.toMatchObject({ code: 'invalid' })
  expect(held('the bin goes out')).not.toEqual([])
})

it('S41: a session that joins chats goes by its key with those before it, by its id alone', async () => {
  const { home, say, forget, held } = await twoChats({ scope: 'global' })
  const before = await home.daemon.operator.sessions.show('main')
  await say('/new', { from: 111 })
  await say('the dog is out', { from: 111 })
  await forget((await home.daemon.operator.sessions.show('main')).id)
  await expect.poll(() => held('the dog is out'), { timeout: 30_000 }).toEqual([])
  expect(held('the cat stays in')).not.toEqual([])
  await say('the fox is back', { from: 111 })
  await forget('main')
  await expect.poll(() => held('the cat stays in'), { timeout: 30_000 }).toEqual([])
  expect([...held('the fox is back'), ...held('the bin goes out')]).toEqual([])
  expect(before.id).not.toBe((await home.daemon.operator.sessions.show('main')).id)
})

it('S41: a session that joins chats goes with the commands and the reminders of its people', async () => {
  const { forget, held, say } = await twoChats({ scope: 'global' })
  await say('/remember the spare key is zq9canary-1', { from: 111 })
  await say('/remind in 3 hours fetch zq9canary-2 there', { from: 111 })
  await forget('main')
  await expect.poll(() => held('zq9canary-1'), { timeout: 30_000 }).toEqual([])
  expect(held('zq9canary-2')).toEqual([])
  expect(await say('/remind list', { from: 111 })).not.toContain('fetch')
})

it('S41: a session that joins chats goes with what has come into it by a fork, which stays where it was said', async () => {
  const { home, say, forget, prompt, addGroup } = await twoChats({ scope: 'global' })
  const club = addGroup('Club')
  await say('the dog is out', { from: 111, chat: club })
  await home.daemon.operator.archives.relocate(`telegram:group:${club}`, { kind: 'fork', to: 'main', confirmed: true })
  await say('what now?', { from: 111 })
  expect(prompt()).toContain('the dog is out')
  await forget('main')
  await say('and now?', { from: 111 })
  expect(prompt()).not.toContain('the dog is out')
  await say('and here?', { from: 111, chat: club })
  expect(prompt()).toContain('the dog is out')
})

it('S41: of a group in which everybody has a session of their own that one goes that was named', async () => {
  const { home, say, addGroup } = await forgettingHouse({ routing: { dimensions: ['chat', 'sender'] } })
  const club = addGroup('Club')
  await say('the bin goes out', { from: 444, chat: club })
  await say('the cat stays in', { from: 111, chat: club })
  const { sessions } = await home.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: false })
  const name = sessions.find(({ key }) => key.endsWith('sender=bob'))?.key ?? ''
  await home.daemon.operator.forgetting.forget({ kind: 'chat', name, confirmed: true })
  await expect.poll(() => holding(home.dataDir, 'the bin goes out')).toEqual([])
  await say('and now?', { from: 111, chat: club })
  expect(holding(home.dataDir, 'the cat stays in')).not.toEqual([])
})

it('S41: of a session that joins chats what was posted in the chat that is forgotten goes, and in another stays', async () => {
  const clock = setClock('2026-11-01T08:00:00Z')
  const timing = { cron: '0 9 * * *', timezone: 'Etc/UTC', missed: { kind: 'once' }, overlap: 'skip' } as const
  const schedules = [111, 444].map((chat) => ({
    id: toScheduleId(`to-${chat}`),
    definition: { ...timing, prompt: `Say it to ${chat}.`, deliverTo: parseAddress(`telegram:direct:${chat}`) },
  }))
  const script: Script = (request) => textReply(/Say it to \d+/.exec(lastUserText(request))?.[0] ?? 'fine')
  const routing = { scope: 'global' } as const
  const { home, ledger, say, prompt } = await forgettingHouse({ script, clock, routing, schedules: () => schedules })
  await say('hello', { from: 111 })
  await say('hello', { from: 444 })
  const after = ledger.mark()
  clock.set('2026-11-01T09:00:10Z')
  for (const chat of [111, 444]) await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
  await recorded(home)
  expect(await say('/forget chat yes', { from: 111 })).toMatch(/^Forgotten/)
  await say('what was said?', { from: 111 })
  expect(prompt()).not.toContain('Say it to 111')
  expect(prompt()).toContain('Say it to 444')
})

it('S41: a conversation that was ended goes by its id alone, with what the agent was told to remember in it', async () => {
  const { home, say, prompt } = await forgettingHouse()
  await say('the cat stays in')
  await say('/remember cats eat')
  const { id } = await home.daemon.operator.sessions.show('telegram:direct:111')
  await say('/new')
  await say('the bin goes out')
  await say('/remember dogs bark')
  const forget = (name: string) => home.daemon.operator.forgetting.forget({ kind: 'chat', name, confirmed: true })
  expect(await forget(id)).toMatchObject({ counts: { sessions: 1, memories: 1 } })
  await expect.poll(() => holding(home.dataDir, 'the cat stays in')).toEqual([])
  expect(holding(home.dataDir, 'cats eat')).toEqual([])
  await say('and now?')
  expect(prompt()).toContain('the bin goes out')
  expect(await say('/memory')).toContain('dogs bark')
  await forget('telegram:direct:111')
  await expect.poll(() => holding(home.dataDir, 'the bin goes out')).toEqual([])
})
