import { afterEach, describe, expect, test } from 'vitest'
import { ManualClock } from '../telegram/manual-clock.ts'
import { openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

/** Ada in a channel, and the account, which listens. Pings come by the clock of the test. */
async function listening() {
  const clock = new ManualClock()
  const rig = await openRig({ clock, server: { clock } })
  rigs.push(rig)
  await rig.listen()
  const { world, ledger, faults, sockets, events } = rig.server
  const ada = world.addUser({ id: 'U333', name: 'ada' })
  const channel = world.addChannel({ name: 'workshop', members: [ada] })
  const say = (text: string) => world.say({ from: ada, channel, text })
  /** The next connection after the one that has ended. */
  const reconnected = async (after: number) => {
    await clock.armed(2000)
    await clock.advance(2000)
    await ledger.nextSocket({ after })
  }
  return { ...rig, clock, ledger, faults, sockets, events, say, reconnected }
}

const unavailable = {
  method: 'auth.test',
  times: Number.POSITIVE_INFINITY,
  action: { kind: 'answer', when: 'before', status: 503, body: 'upstream is gone' },
} as const

describe('a connection that is greeted and pinged', () => {
  test('is alive, and its pings prove no receipt; an event does', async () => {
    const { adapter, clock, ledger, say, sink } = await listening()
    const { lastProofAt = 0 } = adapter.health()
    await clock.advance(30_000)
    expect(adapter.health()).toMatchObject({ status: 'up', lastProofAt })
    expect(ledger.calls('apps.connections.open')).toHaveLength(1)
    say('hello')
    await sink.committed(1)

    expect(adapter.health().lastProofAt).toBe(lastProofAt + 30_000)
  })

  test('does not end an interruption; without an event or an answer it is replaced after 60 s', async () => {
    const { adapter, clock, ledger, faults, sockets, reconnected, health } = await listening()
    const outage = faults.add(unavailable)
    let mark = ledger.mark()
    sockets.cut()
    await health('down')
    await reconnected(mark)
    await ledger.nextCall('auth.test', { after: mark })
    expect(adapter.health().status).toBe('down')
    mark = ledger.mark()
    await clock.advance(60_000)
    await reconnected(mark)
    expect(adapter.health()).toMatchObject({ status: 'down', detail: expect.stringContaining('no event came') })
    outage.remove()
    await clock.armed(5000)
    await clock.advance(5000)
    await health('up')
  })

  test('ends no silence either: what the platform gave up in more than 60 s of it is read back', async () => {
    const { clock, ledger, faults, sockets, events, say, sink, reconnected, health } = await listening()
    const { ts } = say('zero')
    await sink.committed(1)
    await ledger.confirmed(ts)
    faults.add(unavailable)
    let mark = ledger.mark()
    sockets.cut()
    await health('down')
    say('given up')
    events.giveUp()
    await reconnected(mark)
    await ledger.nextCall('auth.test', { after: mark })
    mark = ledger.mark()
    await clock.advance(60_000)
    await reconnected(mark)
    await ledger.next((entry) => entry.kind === 'socket' && entry.change === 'closed', { after: mark })
    say('heard')
    await sink.committed(3)

    expect(new Set(sink.texts)).toEqual(new Set(['zero', 'given up', 'heard']))
  })

  test('ends an interruption with the first event', async () => {
    const { adapter, ledger, faults, sockets, say, sink, reconnected, health } = await listening()
    faults.add(unavailable)
    const mark = ledger.mark()
    sockets.cut()
    await health('down')
    await reconnected(mark)
    say('heard')
    await sink.committed(1)

    expect(adapter.health().status).toBe('up')
  })
})
