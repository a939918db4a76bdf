import { describe, expect, it } from 'vitest'
import type { ScheduleAsker } from '../../src/core/chat-schedules.ts'
import { type PersonId, toAgentId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createChatSchedules } from '../../src/schedule/chat-schedules.ts'
import { hourly, startRig } from './rig.ts'

async function chatSchedules() {
  const { store, clock, scheduler } = await startRig({ roles: { ada: 'owner', bob: 'member' } })
  const askerOf = (person: string, platformId: string): ScheduleAsker => ({
    ...{ person: person as PersonId, role: 'owner', agent: toAgentId('main'), authors: [platformId] },
    ...{ address: hourly.deliverTo, at: clock.now() },
  })
  const [ada, bob] = [askerOf('ada', 'telegram:111'), askerOf('bob', 'telegram:444')]
  const chats = createChatSchedules({
    ...{ store, clock, logger: silentLogger, zoneOf: () => 'UTC', askerOf: async () => ada },
    identityOf: async () => ({ role: 'owner' }),
    changed: () => scheduler().reload(),
  })
  const made = async () =>
    (await store.read.schedules.all()).flatMap(({ source, definition: { prompt } }) =>
      source === 'command' ? [prompt] : [],
    )
  return { chats, ada, bob, made }
}

describe('a request for a reminder', () => {
  it('F-E08: that is repeated after a crash makes none that was cancelled meanwhile', async () => {
    const { chats, ada, made } = await chatSchedules()
    const wish = { text: 'stretch', task: false, every: '2h' }
    const { id } = await chats.create(wish, ada, 'turn_1 call_1')
    expect(await chats.create(wish, ada, 'turn_1 call_1')).toMatchObject({ id })
    await chats.cancel(id, ada, 'turn_3 call_1')
    expect(await chats.cancel(id, ada, 'turn_3 call_1'), 'the same call').toBeUndefined()
    await expect(chats.cancel(id, ada, 'turn_4 call_1')).rejects.toMatchObject({ code: 'not_found' })
    await chats.create(wish, ada, 'turn_1 call_1')
    expect(await made()).toEqual([])
    await chats.create(wish, ada, 'turn_2 call_1')
    expect(await made()).toEqual(['stretch'])
  })

  it('F-E08: whose short id is taken by another has an id of its own', async () => {
    const { chats, ada, bob, made } = await chatSchedules()
    // Both have the same short hash.
    const [first, second] = ['request 39029', 'request 57077']
    const one = await chats.create({ text: 'stretch', task: false, every: '2h' }, ada, first)
    const other = await chats.create({ text: 'drink', task: false, every: '3h' }, bob, second)
    expect(other).toMatchObject({ text: 'drink', creator: 'bob' })
    expect(other.id).not.toBe(one.id)
    expect((await made()).sort()).toEqual(['drink', 'stretch'])
    const again = await chats.create({ text: 'drink', task: false, every: '3h' }, bob, second)
    expect(again.id).toBe(other.id)
    expect(await made()).toHaveLength(2)
  })
})
