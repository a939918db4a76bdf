import { expect, it } from 'vitest'
import { questioningHousehold } from './questioning.ts'
import { setClock } from './set-clock.ts'

it('C23: a question of an exchange that is taken back is over, and what it asked is in no later prompt', async () => {
  const clock = setClock('2026-11-23T10:00:00Z')
  const { press, heard, asked, say, anthropic } = await questioningHousehold({ clock })
  const waits = clock.timerOf(120_000, 5_000)
  const { code, at, after, closed } = await asked(111, 'ask me')
  await waits
  clock.skip(120_000)
  await heard(111, 'it says: Not yet answered', after)
  await say(111, '/undo', 'Taken back')
  expect((await closed()).text).toContain('not wanted any more')
  expect(await press(111, at, `/answer ${code} 1`)).toContain('is over')
  await say(111, 'and now?', 'heard: and now?')
  expect(JSON.stringify(anthropic?.ledger.requests().at(-1)?.messages)).not.toContain('colour')
})
