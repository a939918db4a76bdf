import { expect, it } from 'vitest'
import { recorded } from './household.ts'
import { questioningHousehold } from './questioning.ts'
import { setClock } from './set-clock.ts'

it('C23: a question of an exchange that is taken back is over, deleted in the chat, and in no later prompt', async () => {
  const clock = setClock('2026-11-23T10:00:00Z')
  const house = await questioningHousehold({ clock })
  const { heard, asked, say, anthropic, ledger } = house
  const waits = clock.timerOf(120_000, 5_000)
  const { code, at, after } = await asked(111, 'ask me')
  await waits
  await recorded(house)
  clock.skip(120_000)
  await heard(111, 'it says: Not yet answered', after)
  await say(111, '/undo', 'Taken back')
  await ledger.nextFromBot('deleted', { after, where: ({ messageId }) => messageId === at.message })
  await say(111, `/answer ${code} 1`, 'is over')
  await say(111, 'and now?', 'heard: and now?')
  expect(JSON.stringify(anthropic?.ledger.requests().at(-1)?.messages)).not.toContain('colour')
})
