import { afterEach, describe, expect, test } from 'vitest'
import { ManualClock } from './manual-clock.ts'
import { RecordingLogger } from './recording-logger.ts'
import { adapterFor, openRig, type Rig, WaitlessClock } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] = {}): Promise<Rig> {
  const rig = await openRig(options)
  rigs.push(rig)
  return rig
}

const conflict = (description: string) => ({
  kind: 'answer' as const,
  when: 'before' as const,
  status: 409,
  body: { ok: false, error_code: 409, description: `Conflict: ${description}` },
})

describe('the poll loop on a bad line', () => {
  test('F-B01: a poll that is taken and never answered is given up after 40 s for a new connection', async () => {
    const clock = new ManualClock()
    const rig = await open({ clock })
    const { faults, ledger, world } = rig.server
    const silence = faults.add({ method: 'getUpdates', action: { kind: 'hold', when: 'before' } })
    await rig.adapter.start(rig.sink, rig.signal)
    await silence.reached
    await clock.advance(39_999)
    expect(rig.adapter.health().status).toBe('up')
    await clock.advance(1)
    expect(rig.adapter.health()).toMatchObject({
      status: 'down',
      detail: expect.stringContaining('no answer within 40 s'),
    })
    await clock.armed(5000)
    await clock.advance(5000)
    await ledger.listening()
    world.say({ from: world.addUser({ firstName: 'Ada' }), text: 'are you there?' })
    await rig.sink.committed(1)

    expect(rig.adapter.health().status).toBe('up')
  })

  test('F-B02: 100 resets in mid poll lose nothing and leave no socket behind', async () => {
    const rig = await open({ clock: new WaitlessClock() })
    const { faults, ledger, world } = rig.server
    const ada = world.addUser({ firstName: 'Ada' })
    await rig.listen()
    world.say({ from: ada, text: 'message 0' })
    await rig.sink.committed(1)
    const before = openSockets()
    for (let round = 1; round <= 100; round++) {
      const cut = faults.add({
        method: 'getUpdates',
        where: ({ params }) => params.timeout === 25,
        action: { kind: 'hold', when: 'before' },
      })
      world.say({ from: ada, text: `message ${2 * round - 1}` })
      await cut.reached
      cut.release('drop')
      world.say({ from: ada, text: `message ${2 * round}` })
      await rig.sink.committed(2 * round + 1)
    }
    await ledger.confirmed(100_201)

    expect(rig.sink.texts).toEqual(Array.from({ length: 201 }, (_, index) => `message ${index}`))
    expect(openSockets()).toBeLessThanOrEqual(before + 2)
  })

  test('F-B04: a stray poller is named, and the bot receives within 30 s of its end', async () => {
    const clock = new WaitlessClock()
    const logger = new RecordingLogger()
    const rig = await open({ clock, logger, server: { now: clock.now } })
    const { faults, world } = rig.server
    const began = clock.now()
    const action = conflict('terminated by other getUpdates request; make sure that only one bot instance is running')
    const stray = faults.add({ method: 'getUpdates', times: Number.POSITIVE_INFINITY, forMs: 120_000, action })
    await rig.listen()
    world.say({ from: world.addUser({ firstName: 'Ada' }), text: 'hello' })
    await rig.sink.committed(1)

    expect(logger.lines).toMatchObject([
      { level: 'info' },
      { level: 'warn', fields: { detail: expect.stringContaining('another instance polls this token') } },
      { level: 'info' },
    ])
    expect(clock.now() - began).toBeLessThanOrEqual(150_000)
    expect(stray.hits).toBeLessThan(15)
    // A short poll would push the stray one out and look like success.
    expect(new Set(rig.server.ledger.calls('getUpdates').map(({ params }) => params.timeout))).toEqual(new Set([25]))
    expect(rig.adapter.health().status).toBe('up')
  })

  test('F-B04: a webhook of another program is named as such', async () => {
    const rig = await open({ clock: new ManualClock() })
    const { faults } = rig.server
    const action = conflict(
      "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    )
    const set = faults.add({ method: 'getUpdates', action })
    await rig.adapter.start(rig.sink, rig.signal)
    await set.reached
    await rig.server.ledger.nextCall('getUpdates')
    await until(() => rig.adapter.health().status === 'down')

    expect(rig.adapter.health().detail).toContain('a webhook was set for this token')
  })

  test('F-C09: a token refused at the start is permanent, named, and not in the error', async () => {
    const rig = await open()
    const adapter = adapterFor(rig.server, { token: '7000001:revoked' })
    const started = adapter.start(rig.sink, rig.signal)

    await expect(started).rejects.toMatchObject({ name: 'ChannelDown', permanent: true })
    await expect(started).rejects.toThrow(/refuses the token/)
    expect(adapter.health()).toMatchObject({ status: 'down', detail: expect.stringContaining('@BotFather') })
    expect(JSON.stringify(adapter.health())).not.toContain('revoked:')
  })

  test('F-C09: a token refused while running is probed slowly and taken again when it is given back', async () => {
    const clock = new WaitlessClock()
    const logger = new RecordingLogger()
    const rig = await open({ clock, logger, server: { now: clock.now } })
    const { faults, world } = rig.server
    const body = { ok: false, error_code: 401, description: 'Unauthorized' }
    const action = { kind: 'answer', when: 'before', status: 401, body } as const
    const refused = faults.add({ method: 'getUpdates', times: Number.POSITIVE_INFINITY, forMs: 3_600_000, action })
    await rig.listen()
    world.say({ from: world.addUser({ firstName: 'Ada' }), text: 'hello' })
    await rig.sink.committed(1)

    expect(logger.lines).toMatchObject([
      { level: 'info' },
      { level: 'warn', fields: { detail: expect.stringContaining('refuses the token') } },
      { level: 'info' },
    ])
    expect(Math.max(...clock.waits)).toBeLessThanOrEqual(60_000)
    expect(refused.hits).toBeLessThan(80)
    expect(rig.adapter.health().status).toBe('up')
  })

  test('F-C04: a poll that must wait waits as long as it is told', async () => {
    const clock = new ManualClock()
    const rig = await open({ clock })
    const body = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 35 } }
    const flooded = rig.server.faults.add({
      method: 'getUpdates',
      action: { kind: 'answer', when: 'before', status: 429, body },
    })
    await rig.adapter.start(rig.sink, rig.signal)
    await flooded.reached
    await until(() => rig.adapter.health().status === 'down')
    const polls = () => rig.server.ledger.calls('getUpdates').length
    await clock.advance(34_999)
    expect(polls()).toBe(1)
    await clock.advance(1)
    await rig.server.ledger.listening()

    expect(rig.adapter.health().status).toBe('up')
  })

  test.each([
    ['502 with HTML', { kind: 'answer', when: 'before', status: 502, body: '<html>Bad Gateway</html>' }],
    ['200 with HTML', { kind: 'answer', when: 'before', status: 200, body: '<html>Maintenance</html>' }],
    ['no list', { kind: 'answer', when: 'before', status: 200, body: { ok: true, result: 7 } }],
    ['a null', { kind: 'answer', when: 'before', status: 200, body: 'null' }],
    ['half the JSON', { kind: 'truncate', bytes: 9 }],
  ] as const)('a poll answered by %s is tried again and loses nothing', async (_, action) => {
    const rig = await open({ clock: new WaitlessClock() })
    const { faults, world } = rig.server
    const ada = world.addUser({ firstName: 'Ada' })
    faults.add({ method: 'getUpdates', times: 3, action })
    world.say({ from: ada, text: 'hello' })
    await rig.adapter.start(rig.sink, rig.signal)
    await rig.server.ledger.confirmed(100_001)

    expect(rig.sink.texts).toEqual(['hello'])
    expect(rig.adapter.health().status).toBe('up')
  })
})

/** Looks once a turn of the event loop. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
}
