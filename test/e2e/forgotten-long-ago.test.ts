import { expect, it } from 'vitest'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { setClock } from './set-clock.ts'

const DAY = 86_400_000
const WORDS = 'the bin goes out'
/** Rows of commands and their answers would go after 30 days, those of answers in sessions after 90. */
const DAYS = 100

it('S41: what was forgotten long ago comes back by a reply or an edit no more than what was forgotten yesterday', async () => {
  const clock = setClock('2026-06-01T08:00:00Z')
  const house = await forgettingHouse({ clock })
  const { world, ledger, say, addGroup, home } = house
  const chat = addGroup('Family')
  await say('hello', { chat })
  const exchange = async (said: string) => {
    const after = ledger.mark()
    const { id: asked } = await house.exchange(said, { from: 444, chat })
    const { messageId: answer } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
    return { asked, answer }
  }
  const message = await exchange(WORDS)
  const command = await exchange(`/remember ${WORDS}`)
  // They are too old to be deleted in the chat.
  clock.skip(3 * DAY)
  await recorded(home)
  expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
  const held = () => holding(home.dataDir, WORDS)
  await expect.poll(held, { timeout: 30_000 }).toEqual([])
  for (let day = 0; day < DAYS; day += 20) {
    clock.skip(20 * DAY)
    await say(`day ${day}`, { chat })
  }
  for (const replyTo of [message.asked, command.asked, command.answer, message.answer]) {
    await say('what about this?', { chat, replyTo })
    expect([replyTo, held()]).toEqual([replyTo, []])
  }
  world.edit({ chat, message: command.asked, text: `/remember ${WORDS} today` })
  await say('and now?', { chat })
  expect(held()).toEqual([])
})
