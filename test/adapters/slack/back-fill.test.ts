import { afterEach, describe, expect, test } from 'vitest'
import { ReceiptGap } from '../../../adapters/slack/connection/receipt-gap.ts'
import { movedClock } from '../../agent/moved-clock.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'
import { ManualClock } from '../telegram/manual-clock.ts'
import { adapterFor, openRig, type Rig } from './rig.ts'

const HOUR = 3_600_000

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Ada in a channel, and the account after a first message there. */
async function open(options: Parameters<typeof openRig>[0] = {}) {
  const rig: Rig = await openRig(options)
  closers.push(() => rig.close())
  const { world } = rig.server
  const ada = world.addUser({ id: 'U333', name: 'ada' })
  const { id: channel } = world.addChannel({ name: 'workshop', members: [ada] })
  await rig.listen()
  const root = world.say({ from: ada, channel, text: 'zero' })
  await rig.sink.committed(1)
  await rig.server.ledger.confirmed(root.ts)
  /** Says it while nobody listens; the platform gives up on all of it. */
  const missed = (...said: Parameters<typeof world.say>[0][]) => {
    for (const input of said) world.say(input)
    rig.server.events.giveUp()
  }
  const next = async () => {
    const sink = new RecordingSink(rig.sink.stored)
    const adapter = adapterFor(rig.server)
    closers.push(() => adapter.stop())
    await adapter.start(sink, rig.signal)
    return sink
  }
  return { ...rig, world, ada, channel, root, missed, next }
}

describe('what Slack no longer repeats', () => {
  test('is read back at the next start, oldest first, in channels, threads and direct chats', async () => {
    const { world, ada, channel, root, adapter, sink, server, missed, next } = await open()
    const known = world.say({ from: ada, text: 'known from now on' })
    await sink.committed(2)
    await server.ledger.confirmed(known.ts)
    await adapter.stop()
    missed(
      { from: ada, channel, text: 'one' },
      { from: ada, channel, thread: root, text: 'two' },
      { from: ada, channel, text: '<@U0BOT> three' },
      { from: ada, text: 'four' },
    )
    const after = await next()
    const events = await after.committed(4)
    expect(events.map((event) => ('text' in event ? event.text : ''))).toEqual([
      'one',
      'two',
      expect.stringContaining('three'),
      'four',
    ])
    expect(events[1]?.address).toMatchObject({ chat: channel, topic: root.ts })
    expect(events[3]?.address.chatType).toBe('direct')
  })

  test('finds a thread by the number of its replies where the platform does not say when the latest came', async () => {
    const { world, ada, channel, root, adapter, server, missed, next } = await open()
    await adapter.stop()
    missed({ from: ada, channel, thread: root, text: 'one' })
    const listed = world.messages(channel).find(({ message }) => message.ts === root.ts)?.message
    const messages = [{ ...listed, thread_ts: root.ts, reply_count: 1 }]
    const body = { ok: true, messages, has_more: false }
    server.faults.add({
      method: 'conversations.history',
      action: { kind: 'answer', when: 'before', status: 200, body },
    })
    const after = await next()
    await after.committed(1)
    expect(after.texts).toEqual(['one'])
  })

  test('that was more than one page is counted as bounded', async () => {
    const { ada, channel, adapter, server, missed, next, world } = await open()
    await adapter.stop()
    missed({ from: ada, channel, text: 'one' }, { from: ada, channel, text: 'two' })
    const messages = world.messages(channel).map(({ message }) => message)
    const body = { ok: true, messages: messages.slice(-1), has_more: true }
    server.faults.add({
      method: 'conversations.history',
      action: { kind: 'answer', when: 'before', status: 200, body },
    })
    const after = await next()
    await after.until(() => after.dropped.includes('back_fill:bounded'))
    expect(after.texts).toEqual(['two'])
  })

  test('moves the position when it is stored, so that it is read once', async () => {
    const { ada, channel, adapter, server, missed, next } = await open()
    await adapter.stop()
    missed({ from: ada, channel, text: 'one' })
    const second = await next()
    await second.until(() => [...second.stored.values()].includes(newest(server, channel)))
    const third = await next()
    await server.ledger.nextCall('conversations.history', { after: server.ledger.mark() - 1 })
    expect(third.texts).toEqual([])
  })

  test('a first start replays nothing', async () => {
    const rig = await openRig()
    closers.push(() => rig.close())
    const ada = rig.server.world.addUser({ name: 'ada' })
    const channel = rig.server.world.addChannel({ name: 'workshop', members: [ada] })
    rig.server.world.say({ from: ada, channel, text: 'long ago' })
    rig.server.events.giveUp()
    await rig.listen()
    rig.server.world.say({ from: ada, channel, text: 'now' })
    await rig.sink.committed(1)
    expect(rig.sink.texts).toEqual(['now'])
    expect(rig.server.ledger.calls('conversations.history')).toEqual([])
  })

  test('stays lost without the history scope, and is counted', async () => {
    const { ada, channel, adapter, server, missed, next } = await open()
    await adapter.stop()
    missed({ from: ada, channel, text: 'one' })
    server.app.scopes = server.app.scopes.filter((scope) => scope !== 'channels:history')
    const after = await next()
    await after.until(() => after.dropped.includes('back_fill:refused'))
    expect(after.events).toEqual([])
  })
})

test('a silence lasts from the last sign of life to the next proof of receipt', () => {
  const clock = movedClock()
  const silence = new ReceiptGap(clock)
  expect(silence.ends()).toBe(0)
  clock.advance(10)
  silence.received()
  clock.advance(40)
  silence.begins()
  silence.received()
  silence.begins()
  clock.advance(50)
  expect([silence.ends(), silence.ends()]).toEqual([90, 0])
})

test('F-E05: a silence lasts as long as it does when the clock is set back meanwhile, and a sleep of the machine counts', () => {
  const clock = new ManualClock()
  const silence = new ReceiptGap(clock)
  silence.begins()
  clock.setBy(-HOUR)
  expect(silence.ends()).toBe(0)
  silence.received()
  silence.begins()
  clock.setBy(HOUR)
  expect(silence.ends()).toBe(HOUR)
})

function newest(server: Rig['server'], channel: string): string {
  return server.world.messages(channel).at(-1)?.message.ts ?? ''
}
