import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withDatabase } from '../store/temp-database.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { setClock } from './set-clock.ts'
import { twoBots } from './two-bots.ts'

/** Of a message that was written before the agent was there nothing is on record but its edits. */
it('S41: edits of a message of which nothing else is known leave no byte, before it is forgotten and after', async () => {
  const { home, world, say, addGroup } = await forgettingHouse()
  const chat = addGroup('Family')
  await say('hello', { chat })
  const { message_id: message } = world.say({ from: 444, chat, text: 'zqx one' })
  await say('and?', { chat })
  withDatabase(join(home.dataDir, 'parley.db'), (database) => {
    database.prepare(`DELETE FROM events WHERE instr(data, 'zqx one') > 0`).run()
    database.prepare(`DELETE FROM inbox WHERE instr(dispatch, 'zqx one') > 0`).run()
  })
  world.edit({ chat, message, text: 'zqx two' })
  await say('hm', { chat })
  expect(holding(home.dataDir, 'zqx two')).toEqual([])
  expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
  world.edit({ chat, message, text: 'zqx two, three' })
  await say('and now?', { chat })
  expect(holding(home.dataDir, 'zqx two')).toEqual([])
})

/** Two bots that answer edits; the second has not received a message of Bob's. */
async function answeringEdits(small: boolean) {
  const clock = setClock('2026-11-24T09:20:00Z')
  const routing = { ownerAlwaysTriggers: false, edits: 'rerun' } as const
  const bots = await twoBots({ small, isPrivate: true, clock, routing })
  await bots.ask('parley', '@parley_bot hello')
  const message = await bots.aside('the key is zqx', 444)
  const edit = () => {
    clock.skip(5000)
    bots.world.edit({ chat: bots.chat, message, text: '@sage_bot the key is zqx' })
  }
  return { ...bots, edit }
}

it.each([
  ['in a group that numbers messages once', false],
  ['in a small group, where each bot numbers messages by itself', true],
])('S41: an edit brings what was forgotten to no other bot that would answer it, %s', async (_, small) => {
  const { ask, edit, heldBack, home, prompts } = await answeringEdits(small)
  expect((await ask('parley', '/forget@parley_bot last', { from: 444 })).answer).toMatch(/^Forgotten: /)
  const late = await heldBack('parley')
  edit()
  await ask('sage', '@sage_bot and now?')
  late.release()
  await ask('parley', '@parley_bot and now?')
  expect(prompts().filter((prompt) => prompt.includes('zqx'))).toEqual([])
  expect(holding(home.dataDir, 'zqx')).toEqual([])
})

it('S41: a message goes from the other bot also where one has received nothing of it but an edit', async () => {
  const { ask, edit, heldBack, home, prompts, ledger, SAGE } = await answeringEdits(false)
  const late = await heldBack('parley')
  const after = ledger.mark()
  edit()
  await ledger.nextFromBot('sent', { after, where: ({ botId }) => botId === SAGE })
  expect((await ask('sage', '/forget@sage_bot last', { from: 444 })).answer).toMatch(/^Forgotten: .*2 received/)
  late.release()
  await ask('parley', '@parley_bot and now?')
  expect(prompts().at(-1)).not.toContain('zqx')
  expect(holding(home.dataDir, 'zqx')).toEqual([])
})
