import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { withDatabase } from '../store/temp-database.ts'
import { askingHousehold, codeOf, GROUP, leftOpen } from './asking-household.ts'
import { holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { setClock } from './set-clock.ts'

/** The model makes it of what Bob says, so that it repeats none of the words. */
const MARK = 'zq9canaryzq9canary'

/** Bob has asked for a payment with the mark in a group, nobody has answered in time, and the turn has ended. */
async function paymentLeftOpen() {
  const clock = setClock('2026-11-23T10:00:00Z')
  const gate = createGate()
  const home = await askingHousehold({ clock, gate })
  const asked = { from: 444, chat: GROUP, text: '@parley_bot pay zq9canary x2' }
  const code = codeOf(await leftOpen(home, clock, asked))
  await recorded(home)
  const stored = (query: string): unknown =>
    withDatabase(join(home.dataDir, 'parley.db'), (database) => database.prepare(query).all())
  return { ...home, clock, gate, code, stored }
}

describe('a call that was allowed late', () => {
  it('S41: is forgotten with the words that led to it, where it was made', async () => {
    const { say, heard, ledger, code, paid, dataDir, stored, ...home } = await paymentLeftOpen()
    const late = ledger.mark()
    await say(111, `/approve ${code}`, 'I do it now')
    await heard(GROUP, 'it says: paid', late)
    await recorded(home)
    expect(paid).toEqual([MARK])
    await say(444, '/forget me yes', 'Forgotten', GROUP)
    expect(stored(`SELECT type, data FROM events WHERE data LIKE '%${MARK}%'`)).toEqual([])
    await expect.poll(() => holding(dataDir, MARK)).toEqual([])
  })

  it('S41: is made no more once the words that led to it are forgotten', async () => {
    const { say, world, gate, code, paid, ledger, stored, ...home } = await paymentLeftOpen()
    // What was allowed late waits behind this.
    world.say({ from: 111, chat: GROUP, text: '@parley_bot work slowly' })
    await gate.reached
    await say(111, `/approve ${code}`, 'I do it now')
    await say(444, '/forget me yes', 'Forgotten', GROUP)
    expect(stored('SELECT state, args FROM approvals')).toEqual([{ state: 'denied', args: '{}' }])
    const after = ledger.mark()
    gate.release()
    await home.heard(GROUP, 'fine', after)
    await say(111, '@parley_bot hello', 'fine', GROUP)
    await recorded(home)
    expect(paid).toEqual([])
    expect(stored("SELECT outcome FROM inbox WHERE event_key LIKE 'approval:%'")).toEqual([{ outcome: 'forgotten' }])
  })
})

it('S41: a call that somebody allows while the words that led to it are being forgotten is not made', async () => {
  const { say, heard, world, ledger, paid, dataDir } = await askingHousehold()
  const after = ledger.mark()
  world.say({ from: 444, chat: GROUP, text: '@parley_bot pay zq9canary x2' })
  const code = codeOf((await heard(111, 'May I use', after)).text)
  await say(444, '/forget me yes', 'I am still answering', GROUP)
  const answered = heard(GROUP, 'is being forgotten', ledger.mark())
  world.say({ from: 111, text: `/approve ${code}` })
  await answered
  expect(paid).toEqual([])
  await expect.poll(() => holding(dataDir, MARK)).toEqual([])
})
