import { expect, it } from 'vitest'
import { toPersonId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'

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
