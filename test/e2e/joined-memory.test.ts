import { expect, it } from 'vitest'
import { forgettingHouse } from './forgetting-house.ts'

const CLUB = -1001234567890

it('S39: where chats share a session /memory shows a member their own entries alone, and an owner all', async () => {
  const { world, say } = await forgettingHouse({ routing: { dimensions: [] } })
  world.addChat({ type: 'supergroup', title: 'Club', id: CLUB, members: [111, 444] })
  await say('/remember the gate is open')
  await say('/remember the bin goes out', { from: 444 })
  for (const chat of [CLUB, 444]) {
    const shown = await say('/memory', { from: 444, chat })
    expect(shown).toContain('bin')
    expect(shown).not.toContain('gate')
    expect(await say('/memory gate', { from: 444, chat })).toContain('nothing like that')
  }
  expect(await say('/memory remove 1', { from: 444 })).toContain('I remember nothing here under 1')
  const all = await say('/memory')
  expect(all).toContain('gate')
  expect(all).toContain('bin')
})
