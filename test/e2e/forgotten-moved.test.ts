import { expect, it } from 'vitest'
import type { Dimension } from '../../src/core/session.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'

const GROUP = -2001

it.each([
  ['/forget chat yes', 111, 'chat'],
  ['/forget me here yes', 444, 'chat'],
  ['/forget chat yes', 111, 'chat and people'],
] as const)(
  'S41: %s takes what was said before the group became a supergroup, too (%i, sessions by %s)',
  async (request, from, by) => {
    const dimensions: readonly Dimension[] = by === 'chat' ? ['chat'] : []
    const { home, world, say } = await forgettingHouse({ routing: { dimensions } })
    world.addChat({ type: 'group', title: 'Family', id: GROUP, members: [111, 444] })
    await say('the cat stays in', { from, chat: GROUP })
    expect(await say('/remember the bin goes out', { from: 111, chat: GROUP })).toContain('remember')
    const { id } = world.migrate(GROUP)
    await say('here we are', { from, chat: id })
    expect(await say(request, { from, chat: id })).toMatch(/^Forgotten/)
    await expect.poll(() => holding(home.dataDir, 'the cat stays in')).toEqual([])
    if (by === 'chat' && from === 111) expect(holding(home.dataDir, 'the bin goes out')).toEqual([])
  },
)

it('S41: of two messages of one number, before and after that, the one goes that is named, with its quotations', async () => {
  const { home, world, say, exchange, prompt } = await forgettingHouse()
  world.addChat({ type: 'group', title: 'Family', id: GROUP, members: [111, 444] })
  for (const text of ['one', 'two', 'three']) world.say({ from: 444, chat: GROUP, text })
  const old = await exchange('the cat stays in', { from: 444, chat: GROUP })
  await say('who let it in?', { from: 111, chat: GROUP, replyTo: old.id })
  const { id } = world.migrate(GROUP)
  let last = 0
  while (last < old.id - 1) last = world.say({ from: 444, chat: id, text: 'here we are' }).message_id
  const now = await exchange('the bin goes out', { from: 444, chat: id })
  expect(now.id).toBe(old.id)
  const shown = () => prompt().split('the cat stays in').length
  const before = shown()
  await say('/forget', { from: 444, chat: id, replyTo: now.id })
  await expect.poll(() => holding(home.dataDir, 'the bin goes out')).toEqual([])
  await say('and now?', { from: 111, chat: id })
  expect([before > 3, shown()]).toEqual([true, before])
})

it('S41: /forget last means what was said last, also if that was before the group became a supergroup', async () => {
  const { home, world, say } = await forgettingHouse()
  world.addChat({ type: 'group', title: 'Family', id: GROUP, members: [111, 444] })
  await say('the cat stays in', { from: 444, chat: GROUP })
  const { id } = world.migrate(GROUP)
  await say('here we are', { from: 111, chat: id })
  expect(await say('/forget last', { from: 444, chat: id })).toMatch(/^Forgotten/)
  await expect.poll(() => holding(home.dataDir, 'the cat stays in')).toEqual([])
})

it.each([
  ['/forget last', 444],
  ['/forget me yes', 444],
  ['/forget chat yes', 111],
] as const)(
  'S41: %s takes the answer out of what quoted it before the group became a supergroup (%i)',
  async (request, from) => {
    const { home, world, say, exchange, ledger } = await forgettingHouse({
      script: (asked) => textReply(JSON.stringify(asked.messages.at(-1)).includes('who let') ? 'zq cat' : 'fine'),
    })
    world.addChat({ type: 'group', title: 'Family', id: GROUP, members: [111, 444] })
    const after = ledger.mark()
    await exchange('who let it in?', { from: 444, chat: GROUP })
    const { messageId } = await ledger.nextFromBot('sent', { after, where: ({ text }) => text === 'zq cat' })
    await say('really?', { from: 111, chat: GROUP, replyTo: messageId })
    const { id } = world.migrate(GROUP)
    await say('here we are', { from: 111, chat: id })
    expect(holding(home.dataDir, 'zq cat')).not.toEqual([])
    expect(await say(request, { from, chat: id })).toMatch(/^Forgotten/)
    await expect.poll(() => holding(home.dataDir, 'zq cat')).toEqual([])
    if (from === 444) expect(holding(home.dataDir, 'really?')).not.toEqual([])
  },
)
