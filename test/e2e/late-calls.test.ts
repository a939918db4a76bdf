import { expect, it } from 'vitest'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { askingHousehold, codeOf, leftOpen } from './asking-household.ts'
import { recorded } from './household.ts'
import { setClock } from './set-clock.ts'

it('S8: a call that was allowed late is made no more once a fresh conversation has begun', async () => {
  const clock = setClock('2026-11-23T10:00:00Z')
  const gate = createGate()
  const home = await askingHousehold({ clock, gate })
  const card = await leftOpen(home, clock)
  // What was allowed late waits behind this.
  home.world.say({ from: 111, text: 'work slowly' })
  await gate.reached
  await home.say(111, `/approve ${codeOf(card)}`, 'I do it now')
  await home.say(111, '/new', 'a fresh conversation')
  await home.say(111, 'hello', 'fine')
  await recorded(home)
  await home.restart()
  await home.say(111, 'hello again', 'fine')
  expect(home.paid).toEqual([])
})
