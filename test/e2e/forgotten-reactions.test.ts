import { expect, it } from 'vitest'
import { forgettingHouse, holding } from './forgetting-house.ts'

const CANARY = 'zqxreacted'

/** A group of which the bot is an administrator, so that it learns of reactions: Cy puts one on a message. */
async function house() {
  const home = await forgettingHouse()
  const chat = home.addGroup('Family')
  const react = (message_id: number): void => {
    const user = { id: 555, is_bot: false, first_name: 'Cy' }
    const reaction = { old_reaction: [], new_reaction: [{ type: 'emoji', emoji: '👍' }] }
    const place = { chat: { id: chat, type: 'supergroup', title: 'Family' }, message_id }
    home.world.raw({ update: { message_reaction: { ...place, ...reaction, user, date: 1_795_000_000 } } })
  }
  return { ...home, chat, react }
}

it('S41: a message that somebody else has reacted to is explained to an owner, and forgotten by whoever wrote it', async () => {
  const { exchange, heardAfter, say, chat, react, home, world } = await house()
  await say('hello')
  const { id: replyTo } = await exchange(`the key is ${CANARY}`, { from: 444, chat })
  react(replyTo)
  const explained = await heardAfter(() => void world.say({ from: 111, chat, text: '/why', replyTo }), 111)
  expect(explained.text).toMatch(/^Answered/)
  expect(await say('/forget', { from: 444, chat, replyTo })).toMatch(/^Forgotten: /)
  expect(holding(home.dataDir, CANARY)).toEqual([])
})

it('S41: so is what was answered, by a reply to an answer that somebody else has reacted to', async () => {
  const { heardAfter, say, chat, react, home, world } = await house()
  const ask = () => void world.say({ from: 444, chat, text: `@parley_bot the key is ${CANARY}` })
  const { messageId: replyTo } = await heardAfter(ask, chat)
  react(replyTo)
  expect(await say('/forget', { from: 444, chat, replyTo })).toMatch(/^Forgotten: /)
  expect(holding(home.dataDir, CANARY)).toEqual([])
})
