import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { forgettingHouse, heard, holding } from './forgetting-house.ts'
import { setClock } from './set-clock.ts'

const MARK = 'zq9canary-4711'
const BOB = 444

const script: Script = (request, no) => {
  const text = lastUserText(request)
  return text.includes('Summarise it') ? textReply(`digest: ${text}`) : heard(request, no)
}

/** One session of all chats, whose messages with the word `lost` say of their chat what is no address. */
async function houseWithLost() {
  const clock = setClock('2026-11-01T08:00:00Z')
  const timing = { cron: '0 9 * * *', timezone: 'Etc/UTC', missed: { kind: 'once' }, overlap: 'skip' } as const
  const places = { digestOf: parseAddress(`telegram:direct:${BOB}`), deliverTo: parseAddress('telegram:direct:111') }
  const schedules = () => [
    { id: toScheduleId('morning'), definition: { ...timing, ...places, prompt: 'Summarise it.' } },
  ]
  const house = await forgettingHouse({ script, clock, routing: { dimensions: [] }, schedules })
  await house.say('where am I, lost')
  await house.say(`my code is ${MARK}`, { from: BOB })
  await house.say('the bin goes out', { from: BOB })
  await house.home.daemon.stop()
  withDatabase(join(house.home.dataDir, 'parley.db'), (database) => {
    const change = "UPDATE events SET data = json_set(data, '$.chat', 'nowhere') WHERE data LIKE '%, lost%'"
    expect(database.prepare(`${change} AND type = 'user_message'`).run().changes).toBe(1)
  })
  await house.home.restart()
  return { ...house, clock }
}

it.each([
  ['a chat', { kind: 'chat', name: `telegram:direct:${BOB}`, confirmed: true }],
  ['somebody', { kind: 'person', name: `telegram:${BOB}`, confirmed: true }],
] as const)('S41: a message whose chat is no address is of no chat when %s is forgotten', async (_, target) => {
  const { home, say, prompt } = await houseWithLost()
  await home.daemon.operator.forgetting.forget(target)
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
  await say('what was said?')
  expect(prompt()).toContain('where am I, lost')
})

it('T4: a digest has nothing of a message whose chat is no address', async () => {
  const { ledger, clock } = await houseWithLost()
  const after = ledger.mark()
  clock.set('2026-11-01T09:00:10Z')
  const { text } = await ledger.nextFromBot('sent', { after, where: (sent) => sent.text.startsWith('digest:') })
  expect(text).toContain('the bin goes out')
  expect(text).not.toContain('lost')
})
