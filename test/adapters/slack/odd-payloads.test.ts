import { expect, test } from 'vitest'
import { isFields } from '../../../adapters/shared/fields.ts'
import { slackBodies } from '../odd-fixtures.ts'
import { mutationOf } from '../odd-payloads.ts'
import { openRig } from './rig.ts'

const COUNT = 300
const SEED = 5_000_000

test('F-G01: after each of 300 mutated events the next message is committed', async () => {
  const rig = await openRig()
  try {
    await rig.listen()
    const { world, events, sockets, ledger } = rig.server
    const ada = world.addUser({ id: 'U333', name: 'ada' })
    const channel = world.addChannel({ name: 'workshop', members: [ada] })
    for (let number = 0; number < COUNT; number++) {
      const body = mutationOf(slackBodies, SEED + number)
      if (isFields(body)) events.offerBody({ event: undefined, ...body, event_id: `Ev${number}` })
      else sockets.sendEnvelope('events_api', body as never)
      const text = `after seed ${SEED + number}`
      world.say({ from: ada, channel, text })
      await rig.sink.until(() => rig.sink.texts.includes(text))
    }
    expect(rig.adapter.health().status).toBe('up')
    expect(ledger.calls('apps.connections.open')).toHaveLength(1)
    expect(ledger.count((entry) => entry.kind === 'event' && entry.step === 'given_up')).toBe(0)
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
      if (kind === 'event:emoji_changed') throw new TypeError('a mistake of ours')
    }
    const { world, events, ledger } = rig.server
    const eventId = events.offer({ type: 'emoji_changed' } as never)
    await ledger.next((entry) => entry.kind === 'event' && entry.step === 'confirmed' && entry.eventId === eventId)
    const ada = world.addUser({ id: 'U333', name: 'ada' })
    const channel = world.addChannel({ name: 'workshop', members: [ada] })
    world.say({ from: ada, channel, text: 'the next' })
    await rig.sink.committed(1)
    expect(rig.sink.dropped).toEqual(['event:emoji_changed', 'unreadable:emoji_changed'])
  } finally {
    await rig.close()
  }
})
