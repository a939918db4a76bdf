import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withDatabase } from '../store/temp-database.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'

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
