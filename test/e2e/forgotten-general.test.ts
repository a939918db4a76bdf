import { describe, expect, it } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'

/** A forum with something said in General and in a topic of it. */
async function forum(routing: Partial<RoutingPolicy> = {}, places: readonly string[] = ['general', 'rowing']) {
  const house = await forgettingHouse({ routing })
  const { world } = house
  const { id: chat } = world.addChat({ type: 'supergroup', title: 'Club', forum: true, members: [111, 444] })
  const rowing = world.addTopic({ chat, name: 'rowing' })
  const say = (text: string, { from = 111, topic }: { readonly from?: number; readonly topic?: number } = {}) =>
    house.answered(() => {
      const said = text.startsWith('/') ? text : `@parley_bot ${text}`
      world.say({ from, chat, text: said, ...(topic === undefined ? {} : { topic }) })
    }, chat)
  if (places.includes('rowing')) await say('the bin goes out', { from: 444, topic: rowing })
  if (places.includes('general')) await say('the cat stays in', { from: 444 })
  return { ...house, chat, rowing, say, held: (words: string) => holding(house.home.dataDir, words) }
}

const gone = (held: (words: string) => readonly string[], words: string) =>
  expect.poll(() => held(words), { timeout: 30_000 }).toEqual([])

describe.each([
  ['apart', {}],
  ['in one session', { dimensions: [] }],
] as const)('S41: General and the topics of a forum, %s', (_how, routing) => {
  it.each([
    ['/forget chat', 111],
    ['/forget 2h', 111],
    ['/forget me here', 444],
  ])('S41: %s in General means General, and says so', async (request, from) => {
    const { say, rowing, prompt, held, chat } = await forum(routing)
    const preview = await say(request, { from })
    expect(preview).toContain('General topic alone')
    if (from === 111) expect(preview).toContain(`parley forget chat telegram:group:${chat}`)
    const receipt = await say(`${request} yes`, { from })
    expect(receipt).toMatch(/^Forgotten/)
    expect(receipt).toContain('General topic alone')
    await gone(held, 'the cat stays in')
    await say('and now?', { topic: rowing })
    expect(prompt()).toContain('the bin goes out')
    expect(prompt()).not.toContain('the cat stays in')
  })

  it.each([[['general', 'rowing']], [['rowing']]])(
    'S41: a forum that is named goes with all its topics, where something was said in %j',
    async (places) => {
      const { home, held, chat } = await forum(routing, places)
      const name = `telegram:group:${chat}`
      await home.daemon.operator.forgetting.forget({ kind: 'chat', name, confirmed: true })
      await gone(held, 'the bin goes out')
      await gone(held, 'the cat stays in')
    },
  )
})

it('S41: in a group without topics /forget chat says nothing of General', async () => {
  const { addGroup, say } = await forgettingHouse()
  const group = addGroup('Club')
  await say('the cat stays in', { chat: group })
  expect(await say('/forget chat', { chat: group })).not.toContain('General')
})
