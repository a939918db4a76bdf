import { afterEach, describe, expect, test } from 'vitest'
import type { InboundEvent } from '../../../src/core/message.ts'
import { ManualClock } from '../telegram/manual-clock.ts'
import { type AdapterOptions, adapterFor, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function listening(options: AdapterOptions & Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options)
  rigs.push(rig)
  await rig.listen()
  const { world } = rig.server
  const ada = world.addUser({ id: 'U333', name: 'ada', displayName: 'Ada L.' })
  const channel = world.addChannel({ name: 'engine-room', members: [ada] })
  return { ...rig, world, ada, channel, ledger: rig.server.ledger, sockets: rig.server.sockets }
}

/** A store in the hands of the test: what `accept` was given waits for `commit`. */
function heldStore() {
  let commit = (): void => {}
  const committed = new Promise<void>((resolve) => {
    commit = resolve
  })
  return { accepting: (_: InboundEvent) => committed, commit }
}

describe('receiving by socket', () => {
  test('F-B16: a socket that closes after the commit and before the ack repeats nothing into the store', async () => {
    const { sink, world, ada, channel, sockets, ledger } = await listening()
    const store = heldStore()
    sink.accepting = store.accepting
    const { ts } = world.say({ from: ada, channel, text: 'once' })
    await sink.until(() => sink.offered.length === 1)
    sockets.cut()
    store.commit()
    await ledger.confirmed(ts)

    expect(sink.offered.length).toBeGreaterThan(1)
    expect(sink.texts).toEqual(['once'])
  })

  test('F-B18: one event on two sockets is one event', async () => {
    const { sink, world, ada, channel, server, ledger } = await listening()
    const { ts } = world.say({ from: ada, channel, text: 'once' })
    await ledger.confirmed(ts)
    const offered = ledger.entries.find((entry) => entry.kind === 'event')
    server.events.again(offered?.kind === 'event' ? offered.eventId : '')
    await sink.until(() => sink.offered.length === 2)

    expect(sink.texts).toEqual(['once'])
  })

  test('a mention is offered twice under one key', async () => {
    const { sink, world, ada, channel, ledger } = await listening()
    const { ts } = world.say({ from: ada, channel, text: '<@U0BOT> hi' })
    await ledger.confirmed(ts)

    expect(sink.offered).toHaveLength(2)
    expect(sink.events).toMatchObject([
      { text: '@parley hi', mentioned: true, sender: { displayName: 'Ada L.', team: 'T01' } },
    ])
  })

  test('F-B14: a connection that is to be refreshed is replaced before it ends', async () => {
    const { sink, world, ada, channel, sockets, ledger } = await listening()
    for (const reason of ['warning', 'refresh_requested'] as const) {
      const mark = ledger.mark()
      sockets.tellToGo(reason)
      world.say({ from: ada, channel, text: reason })
      await ledger.nextSocket({ after: mark })
      await ledger.next((entry) => entry.kind === 'socket' && entry.change === 'closed', { after: mark })
      const [ready, closed] = ['ready', 'closed'].map((change) =>
        ledger.entries.findIndex((entry, at) => at >= mark && entry.kind === 'socket' && entry.change === change),
      )
      expect(Number(ready)).toBeLessThan(Number(closed))
    }
    await sink.committed(2)
    expect(sink.texts).toEqual(['warning', 'refresh_requested'])
    expect(sockets.count).toBe(1)
  })

  test('a connection that is cut is opened again, and what was said meanwhile arrives', async () => {
    const { sink, world, ada, channel, sockets, adapter } = await listening()
    sockets.cut()
    world.say({ from: ada, channel, text: 'still there?' })
    await sink.committed(1)

    expect(adapter.health()).toMatchObject({ status: 'up', lastProofAt: expect.any(Number) })
  })

  test('F-B15: after hours of refused connections it is back within 60 s', async () => {
    const clock = new WaitCountingClock()
    const rig = await openRig({ clock })
    rigs.push(rig)
    await rig.listen()
    const { ledger, faults, sockets } = rig.server
    const outage = faults.add({
      method: 'apps.connections.open',
      times: Number.POSITIVE_INFINITY,
      action: { kind: 'answer', when: 'before', status: 503, body: 'upstream is gone' },
    })
    sockets.cut()
    for (let tries = 1; tries <= 360; tries++) {
      await clock.waited(tries)
      await clock.advance(30_000)
    }
    await clock.waited(361)
    expect(rig.adapter.health()).toMatchObject({ status: 'down', detail: expect.stringContaining('503') })
    expect(Math.max(...clock.waits)).toBeLessThanOrEqual(30_000)
    outage.remove()
    const mark = ledger.mark()
    await clock.advance(30_000)
    await ledger.nextSocket({ after: mark })
    await rig.health('up')
  })

  test('a connection on which nothing comes any more is replaced after 45 s', async () => {
    const clock = new ManualClock()
    const rig = await openRig({ clock })
    rigs.push(rig)
    await rig.listen()
    const mark = rig.server.ledger.mark()
    rig.server.sockets.mute()
    await clock.advance(50_000)
    await rig.server.ledger.nextSocket({ after: mark })

    expect(rig.server.ledger.calls('apps.connections.open')).toHaveLength(2)
  })

  test('what could not be stored makes the channel down until it can', async () => {
    const { sink, world, ada, channel, adapter, health } = await listening()
    let full = true
    sink.accepting = () => (full ? Promise.reject(new Error('the disk is full')) : Promise.resolve())
    world.say({ from: ada, channel, text: 'keep me' })
    await sink.until(() => sink.offered.length === 1)
    await health('down')
    expect(adapter.health().detail).toContain('the disk is full')
    full = false
    await health('up')
    expect(sink.texts).toEqual(['keep me'])
  })

  test('events are stored in the order they came, however long a name takes to look up', async () => {
    const { sink, world, ada, channel, server } = await listening()
    const held = server.faults.add({ method: 'users.info', action: { kind: 'delay', when: 'before', ms: 100 } })
    world.say({ from: ada, channel, text: 'first' })
    await held.reached
    const bob = world.addUser({ name: 'bob' })
    world.say({ from: bob, channel, text: 'second' })
    await sink.committed(2)

    expect(sink.texts).toEqual(['first', 'second'])
  })

  test('a mention that does not say where it stands is looked up: a group direct chat is no channel', async () => {
    const { sink, world, ada, server } = await listening()
    server.app.subscriptions = ['app_mention']
    const trio = world.addChannel({ kind: 'mpim', name: 'mpdm-ada--parley', members: [ada] })
    world.say({ from: ada, channel: trio, text: '<@U0BOT> hi' })
    const [event] = await sink.committed(1)

    expect(event?.address).toMatchObject({ chatType: 'group', chat: trio.id })
    expect(event?.address.topic).toBeUndefined()
  })

  test('a connection that never lasts is not opened again without a pause', async () => {
    const { sockets, ledger } = await listening()
    sockets.cut()
    const { at: closed } = await ledger.next((entry) => entry.kind === 'socket' && entry.change === 'closed')
    const { at: ready } = await ledger.nextSocket({ after: ledger.mark() })

    expect(ready - closed).toBeGreaterThanOrEqual(490)
  })

  test('commands are known by name, also to the next start', async () => {
    const { adapter, sink, world, ada, channel, server } = await listening()
    world.say({ from: ada, channel, text: '!status' })
    await sink.committed(1)
    await adapter.registerCommands([{ name: 'status', description: '', who: 'owner' }])
    world.say({ from: ada, channel, text: '!status' })
    await sink.committed(2)
    await adapter.stop()
    const successor = adapterFor(server)
    await successor.start(sink, new AbortController().signal)
    world.say({ from: ada, channel, text: '!status now' })
    await sink.committed(3)
    await successor.stop()

    expect(sink.events).toMatchObject([
      { kind: 'message' },
      { kind: 'command', name: 'status' },
      { kind: 'command', name: 'status', args: 'now' },
    ])
  })

  test('a name that cannot be looked up holds nothing back', async () => {
    const { sink, world, ada, channel, server } = await listening()
    server.app.scopes = server.app.scopes.filter((scope) => scope !== 'users:read')
    world.say({ from: ada, channel, text: 'hello' })
    const [event] = await sink.committed(1)

    expect(event?.sender).toEqual({ id: 'U333', kind: 'user', team: 'T01' })
  })
})

describe('what is no event', () => {
  test('a body without one, a button, and a slash command that is none, are counted and acknowledged', async () => {
    const { sink, world, sockets, ledger, adapter } = await listening()
    world.rawBody({ type: 'app_rate_limited', minute_rate_limited: 1 })
    sockets.sendEnvelope('interactive', { type: 'block_actions' })
    sockets.sendEnvelope('slash_commands', { command: '/parley', text: 'hi' })
    await sink.until(() => sink.dropped.length === 3)
    await ledger.next((entry) => entry.kind === 'event' && entry.step === 'confirmed')

    expect(sink.dropped.toSorted()).toEqual(['body:app_rate_limited', 'body:block_actions', 'malformed:slash_command'])
    expect(adapter.health().status).toBe('up')
  })
})

/** Deadlines and looks at the clock, which are no waits: stop, call, open, silence, the pace of the probe. */
const NO_WAITS: ReadonlySet<number> = new Set([1000, 5000, 15_000, 20_000, 90_000])

class WaitCountingClock extends ManualClock {
  readonly waits: number[] = []
  #wake = (): void => {}

  override after(ms: number, callback: () => void): () => void {
    if (!NO_WAITS.has(ms)) this.waits.push(ms)
    this.#wake()
    return super.after(ms, callback)
  }

  /** Resolves once so many waits have begun. */
  async waited(count: number): Promise<void> {
    while (this.waits.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
