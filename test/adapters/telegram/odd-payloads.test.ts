import { expect, test } from 'vitest'
import { isFields } from '../../../adapters/shared/fields.ts'
import { telegramUpdates } from '../odd-fixtures.ts'
import { mutationOf } from '../odd-payloads.ts'
import { openRig } from './rig.ts'

const COUNT = 300
const SEED = 4_000_000

test('F-G01: after each of 300 mutated updates the next message is committed', async () => {
  const rig = await openRig()
  try {
    await rig.listen()
    const { world } = rig.server
    const { queue, poller } = world.bot()
    const ada = world.addUser({ firstName: 'Ada' })
    for (let number = 0; number < COUNT; number++) {
      const update = mutationOf(telegramUpdates, SEED + number)
      const write = (id: number): string => JSON.stringify(isFields(update) ? { ...update, update_id: id } : update)
      queue.offer({ type: 'message', payload: null, write })
      const text = `after seed ${SEED + number}`
      world.say({ from: ada, text })
      poller.wake()
      await rig.sink.until(() => rig.sink.texts.at(-1) === text)
    }
    expect(rig.adapter.health().status).toBe('up')
  } finally {
    await rig.close()
  }
})

test('what makes us throw is counted and confirmed, and does not come again', async () => {
  const rig = await openRig()
  try {
    await rig.listen()
    rig.sink.unknown = (kind) => {
      rig.sink.dropped.push(kind)
      if (kind === 'update:poll') throw new TypeError('a mistake of ours')
    }
    const { world, ledger } = rig.server
    const { queue, poller } = world.bot()
    queue.offer({ type: 'poll', payload: null, write: (id) => JSON.stringify({ update_id: id, poll: {} }) })
    poller.wake()
    await ledger.next((entry) => entry.kind === 'confirmed')
    world.say({ from: world.addUser({ firstName: 'Ada' }), text: 'the next' })
    await rig.sink.committed(1)
    expect(rig.sink.dropped).toEqual(['update:poll', 'unreadable:update'])
  } finally {
    await rig.close()
  }
})
