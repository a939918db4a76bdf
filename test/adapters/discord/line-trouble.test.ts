import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../telegram/manual-clock.ts'
import { heartbeats, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options)
  rigs.push(rig)
  await rig.listen()
  const say = (text: string) => rig.server.world.say({ from: rig.ada, channel: rig.channel, text })
  const { ledger, gateway } = rig.server
  return { ...rig, say, ledger, gateway }
}

describe('a broken connection', () => {
  test('F-B09: an unacknowledged heartbeat makes it reconnect within two intervals and resume', async () => {
    const { say, sink, ledger, gateway } = await open({ server: { heartbeatIntervalMs: 150 } })
    await ledger.nextGateway('heartbeat')
    gateway.acknowledges = false
    const mark = ledger.mark()
    await ledger.nextGateway('connected', { after: mark })
    const beats = ledger.all((entry) => entry.kind === 'gateway' && entry.event === 'heartbeat', mark)
    expect(beats.length).toBeLessThanOrEqual(1)
    gateway.acknowledges = true
    await ledger.nextGateway('resumed', { after: mark })
    say('still here')
    await sink.committed(1)
  })

  test('F-B09: a heartbeat that is acknowledged keeps the connection, and is no proof of receipt', async () => {
    const clock = new ManualClock()
    const { adapter, server, ledger, say, sink } = await open({ clock })
    const before = adapter.health().lastProofAt ?? 0
    for (let looks = 0; looks < 4; looks++) {
      await heartbeats(server)
      await clock.advance(40_000)
    }
    expect(adapter.health()).toMatchObject({ status: 'up', lastProofAt: before })
    expect(ledger.count((entry) => entry.kind === 'gateway' && entry.event === 'closed')).toBe(0)
    say('a message is')
    await sink.committed(1)
    expect(adapter.health().lastProofAt).toBe(before + 160_000)
  })

  test.each([
    ['op 7', (rig: { gateway: Rig['server']['gateway'] }) => rig.gateway.askToReconnect()],
    ['a cut', (rig: { gateway: Rig['server']['gateway'] }) => rig.gateway.cut()],
    ['a close 4000', (rig: { gateway: Rig['server']['gateway'] }) => rig.gateway.close(4000)],
  ])('after %s the session is resumed, and what was said meanwhile comes once, in order', async (_, spoil) => {
    const opened = await open()
    const { say, sink, ledger } = opened
    say('before')
    await sink.committed(1)
    const mark = ledger.mark()
    spoil(opened)
    for (const text of ['one', 'two', 'three']) say(text)
    await ledger.nextGateway('resumed', { after: mark })
    await sink.committed(4)
    say('after')
    await sink.committed(5)
    expect(sink.texts).toEqual(['before', 'one', 'two', 'three', 'after'])
  })

  test('what a resume forgot to tell is read back', async () => {
    const { say, sink, ledger, gateway, server } = await open()
    say('before')
    await sink.committed(1)
    const mark = ledger.mark()
    gateway.muted = true
    say('not told')
    gateway.muted = false
    gateway.cut()
    await sink.committed(2)
    await ledger.nextGateway('resumed', { after: mark })
    expect(sink.texts).toEqual(['before', 'not told'])
    expect(server.ledger.calls('getMessages', mark)).toHaveLength(1)
  })
})

test('a session is resumed also where the gateway could not be reached at first', async () => {
  const rig = await openRig()
  rigs.push(rig)
  const { gateway, ledger, world } = rig.server
  const { port } = new URL(gateway.url)
  let attempts = 0
  const passage = createServer((socket) => {
    if (++attempts <= 2) socket.resetAndDestroy()
    else socket.pipe(connect(Number(port), '127.0.0.1')).pipe(socket)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void passage.close())
  await once(passage, 'listening')
  gateway.readyOver = { resume_gateway_url: `ws://127.0.0.1:${(passage.address() as AddressInfo).port}` }
  await rig.listen()
  const mark = ledger.mark()
  gateway.cut()
  world.say({ from: rig.ada, channel: rig.channel, text: 'meanwhile' })
  await ledger.nextGateway('resumed', { after: mark })
  await rig.sink.committed(1)

  expect(attempts).toBe(3)
  expect(ledger.count((entry) => entry.kind === 'gateway' && entry.event === 'identified')).toBe(1)
})

describe('revoked while running', () => {
  test('F-B13: a token that is revoked: down with the remedy, tried again after a minute, up again once it is mended', async () => {
    const clock = new ManualClock()
    const { adapter, ledger, gateway, server } = await open({ clock })
    const { token } = server
    server.token = 'another'
    gateway.close(4004)
    await clock.armed(60_000)
    await ledger.nextGateway('closed')
    expect(adapter.health()).toMatchObject({ status: 'down', detail: expect.stringContaining('Reset Token') })
    server.token = token
    const mark = ledger.mark()
    await clock.advance(60_000)
    await ledger.listening({ after: mark })
    await until(() => adapter.health().status === 'up')
    expect(adapter.health()).not.toHaveProperty('detail')
  })

  test('a connection that shows no sign of life for two heartbeats is replaced', async () => {
    const clock = new ManualClock()
    const { ledger, say, sink } = await open({ clock })
    const mark = ledger.mark()
    await clock.advance(95_000)
    await ledger.nextGateway('closed', { after: mark })
    await clock.advance(2_000)
    await ledger.nextGateway('identified', { after: mark })
    await ledger.listening({ after: mark })
    say('hello again')
    await sink.committed(1)
  })
})

describe('stop', () => {
  test('says goodbye and does not come back', async () => {
    const { adapter, ledger } = await open()
    const mark = ledger.mark()
    await adapter.stop()
    expect(await ledger.nextGateway('closed', { after: mark })).toMatchObject({ code: 1000 })
    expect(adapter.health()).toMatchObject({ status: 'down', detail: 'stopped' })
  })

  test('in the middle of a reconnect it does not come back either', async () => {
    const { adapter, ledger, gateway } = await open()
    const mark = ledger.mark()
    gateway.cut()
    await ledger.nextGateway('closed', { after: mark })
    await adapter.stop()
    // The library rests half a second before it would connect again.
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect(ledger.count((entry) => entry.kind === 'gateway' && entry.event === 'connected', mark)).toBe(0)
  })

  test('waits for what is being stored, and hands over nothing afterwards', async () => {
    const { adapter, say, sink } = await open()
    let commit = (): void => {}
    sink.accepting = () => new Promise((resolve) => (commit = resolve))
    say('one')
    say('two')
    await sink.until(() => sink.offered.length === 1)
    const stopped = adapter.stop()
    commit()
    await stopped
    expect(sink.texts).toEqual(['one'])
    expect(sink.offered).toHaveLength(1)
  })
})

/** Looks again whenever the event loop has turned. */
async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await new Promise((resolve) => setImmediate(resolve))
}
