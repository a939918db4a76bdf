import { expect, it } from 'vitest'
import type { ScheduleAsker } from '../../src/core/chat-schedules.ts'
import { type PersonId, toAgentId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createChatSchedules } from '../../src/schedule/chat-schedules.ts'
import { hourly, startRig } from './rig.ts'

const MINUTE_MS = 60_000

it('F-E08: a reminder that came due before it was on record, as after a crash in between, is said once', async () => {
  const { store, clock, accepted, scheduler, tick, finish } = await startRig({ roles: { ada: 'owner' } })
  const asker: ScheduleAsker = {
    ...{ person: 'ada' as PersonId, role: 'owner', agent: toAgentId('main'), authors: ['telegram:111'] },
    ...{ address: hourly.deliverTo, at: clock.now() },
  }
  const chats = createChatSchedules({
    ...{ store, clock, logger: silentLogger, zoneOf: () => 'UTC', askerOf: async () => asker },
    identityOf: async () => ({ role: 'owner' }),
    changed: () => scheduler().reload(),
  })
  clock.advance(20 * MINUTE_MS)
  const wish = { text: 'stretch', task: false, at: new Date(asker.at + 5 * MINUTE_MS).toISOString() }
  await chats.create(wish, asker, 'one')
  await tick()
  expect(accepted.map(({ event }) => 'text' in event && event.text)).toEqual([expect.stringContaining('stretch')])
  await finish()
  await chats.create(wish, asker, 'one')
  await tick()
  expect(accepted).toHaveLength(1)
  expect((await store.read.schedules.all()).map(({ id }) => id)).toEqual(['morning'])
})
