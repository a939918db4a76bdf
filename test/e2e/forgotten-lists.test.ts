import { expect, it } from 'vitest'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'

/** Too short to be known by itself wherever it is repeated. */
const WORDS = 'zqx eel'

it.each([
  ['/memory', `/remember ${WORDS}`],
  ['/remind list', `/remind in 3 hours ${WORDS}`],
])('S41: an answer to %s that waits to be sent is not sent once what it lists is forgotten', async (list, made) => {
  const { home, world, ledger, say, addGroup, rows } = await forgettingHouse({})
  const chat = addGroup('Family')
  await say('hello', { chat })
  await say(made, { from: 444, chat })
  const said = () => world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? '')
  const before = said().length
  const held = home.telegram.faults.add({
    method: 'sendMessage',
    where: ({ params }) => String(params.text).includes('one more'),
    action: { kind: 'hold', when: 'after' },
  })
  world.say({ from: 111, chat, text: '@parley_bot one more' })
  await held.reached
  world.say({ from: 111, chat, text: list })
  await expect
    .poll(() => rows(`SELECT state FROM outbox WHERE part LIKE '%${WORDS}%' AND state = 'planned'`))
    .toContain('planned')
  const after = ledger.mark()
  world.say({ from: 444, text: '/forget me yes' })
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('Forgotten') })
  held.release()
  await say('and now?', { chat })
  await recorded(home)
  expect(said().slice(before).join()).not.toContain(WORDS)
  await expect.poll(() => holding(home.dataDir, 'zqx')).toEqual([])
})

it('S41: an answer that lists an entry of few words above others keeps nothing of it', async () => {
  const { home, say, addGroup, rows } = await forgettingHouse({})
  const chat = addGroup('Family')
  await say('hello', { chat })
  await say('/remember zqy cod', { chat })
  await say(`/remember ${WORDS}`, { from: 444, chat })
  await say('/memory zq', { chat })
  await say('/memory cod', { chat })
  expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
  const listed = rows("SELECT part FROM outbox WHERE part LIKE '%#1 %'")
  expect(listed).not.toContain(WORDS)
  expect(listed).toContain('cod')
  await expect.poll(() => holding(home.dataDir, WORDS)).toEqual([])
})
