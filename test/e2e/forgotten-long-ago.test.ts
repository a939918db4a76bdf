import { expect, it } from 'vitest'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { setClock } from './set-clock.ts'

const DAY = 86_400_000
const WORDS = 'the bin goes out'

/** A message and its answer that were forgotten when they were too old to be deleted in the chat, days ago by now. */
async function longAgo(said: string, days: number) {
  const clock = setClock('2026-06-01T08:00:00Z')
  const house = await forgettingHouse({ clock })
  const { ledger, say, addGroup, home } = house
  const chat = addGroup('Family')
  await say('hello', { chat })
  const after = ledger.mark()
  const { id: asked } = await house.exchange(said, { from: 444, chat })
  const { messageId: answer } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
  clock.skip(3 * DAY)
  await recorded(home)
  expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
  const held = () => holding(home.dataDir, WORDS)
  await expect.poll(held, { timeout: 30_000 }).toEqual([])
  for (let day = 0; day < days; day += 10) {
    clock.skip(10 * DAY)
    await say(`day ${day}`, { chat })
  }
  return { ...house, chat, asked, answer, held }
}

it.each([
  ['a message', WORDS, 'asked', 40],
  ['a command', `/remember ${WORDS}`, 'asked', 40],
  ['the answer to a command', `/remember ${WORDS}`, 'answer', 40],
  ['an answer', WORDS, 'answer', 100],
] as const)(
  'S41: a reply brings %s back that was forgotten long ago no more than one of yesterday',
  async (_what, said, of, days) => {
    const { chat, say, held, ...messages } = await longAgo(said, days)
    await say('what about this?', { chat, replyTo: messages[of] })
    expect(held()).toEqual([])
  },
)

it('S41: nor does a late edit', async () => {
  const { world, chat, asked, say, held } = await longAgo(`/remember ${WORDS}`, 40)
  world.edit({ chat, message: asked, text: `/remember ${WORDS} today` })
  await say('and now?', { chat })
  expect(held()).toEqual([])
})
