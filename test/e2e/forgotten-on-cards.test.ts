import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withDatabase } from '../store/temp-database.ts'
import { askingHousehold, codeOf, GROUP } from './asking-household.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { setClock } from './set-clock.ts'

/** Too short to be known by itself wherever it is repeated. */
const WORDS = 'zqx eel'

/** Bob has said something, Ada has asked for a payment then, and nobody has answered the card that quotes him. */
async function quoted() {
  const clock = setClock('2026-11-23T10:00:00Z')
  const home = await askingHousehold({ clock })
  const { world, ledger, heard, say } = home
  await say(111, '@parley_bot hello', 'fine', GROUP)
  world.say({ from: 444, chat: GROUP, text: WORDS })
  const waits = clock.timerOf(120_000, 5_000)
  const after = ledger.mark()
  world.say({ from: 111, chat: GROUP, text: '@parley_bot pay zoe' })
  const card = await heard(GROUP, 'May I use', after)
  expect(card.text).toContain(WORDS)
  await waits
  await recorded(home)
  clock.skip(120_000)
  await heard(GROUP, 'Not yet approved', after)
  await recorded(home)
  const parts = (): string =>
    withDatabase(join(home.dataDir, 'parley.db'), (database) =>
      JSON.stringify(database.prepare("SELECT part FROM outbox WHERE part LIKE '%May I use%'").all()),
    )
  const shown = (): string =>
    world.messages(GROUP, { by: 'bot' }).find(({ message }) => message.text?.includes('May I use'))?.message.text ?? ''
  return { ...home, clock, parts, shown, code: codeOf(card.text) }
}

it('S41: a card keeps what it asks for, and none of the words that it quoted once these are forgotten', async () => {
  const { say, heard, ledger, dataDir, parts, shown, code, paid, ...home } = await quoted()
  await say(444, '/forget me yes', 'Forgotten', GROUP)
  expect(parts()).not.toContain(WORDS)
  expect(parts()).toContain('zoe')
  expect(parts()).toContain(`/approve ${code} here`)
  const after = ledger.mark()
  await say(111, `/approve ${code}`, 'I do it now')
  await heard(GROUP, 'it says: paid', after)
  await recorded(home)
  expect(paid).toEqual(['zoe'])
  await expect.poll(shown).toContain('Allowed once by ada')
  expect(shown()).toContain('zoe')
  expect(shown()).not.toContain(WORDS)
  await expect.poll(() => holding(dataDir, 'zqx')).toEqual([])
})

it('S41: a card that is closed loses the words that it quotes once these are forgotten', async () => {
  const { say, dataDir, parts, shown, code, ...home } = await quoted()
  await say(111, `/deny ${code}`, 'Refused')
  await expect.poll(shown).toContain('Refused by ada')
  await recorded(home)
  expect(parts()).toContain(WORDS)
  await say(444, '/forget me yes', 'Forgotten', GROUP)
  expect(parts()).not.toContain(WORDS)
  expect(parts()).toContain('Refused by ada')
  await expect.poll(() => holding(dataDir, 'zqx')).toEqual([])
})

it('S41: whoever asks to be let in goes by an id alone on the cards about them once they are forgotten', async () => {
  const { home, world, ledger, say, rows } = await forgettingHouse({})
  world.addUser({ id: 1_110, firstName: 'zqx' })
  world.addUser({ id: 11_101, firstName: 'zqxo' })
  await say('hello')
  for (const from of [1_110, 11_101]) {
    const after = ledger.mark()
    world.say({ from, text: 'let me in' })
    await ledger.nextFromBot('sent', {
      after,
      where: ({ chatId, text }) => chatId === 111 && text.includes(`:${from} `),
    })
  }
  await recorded(home)
  expect(await say('/forget telegram:1110 yes')).toMatch(/^Forgotten/)
  const cards = rows("SELECT part FROM outbox WHERE part LIKE '%asks to talk%'")
  expect(cards).not.toContain('zqx<')
  expect(cards).toContain('telegram:1110')
  expect(cards).toContain('zqxo')
})
