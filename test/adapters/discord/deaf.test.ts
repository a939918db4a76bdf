import { afterEach, describe, expect, test } from 'vitest'
import { ManualClock } from '../telegram/manual-clock.ts'
import { heartbeats, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

/** Remembers how long was waited before each further try; every other timer is longer. */
class TryClock extends ManualClock {
  readonly waits: number[] = []

  override after(ms: number, callback: () => void): () => void {
    if (ms < 3000) this.waits.push(ms)
    return super.after(ms, callback)
  }
}

/** The account, not started yet. */
async function open(options: Parameters<typeof openRig>[0] = {}) {
  const clock = new TryClock()
  const server = { now: () => clock.now(), ...options.server }
  const rig = await openRig({ clock, ...options, server })
  rigs.push(rig)
  const { ledger, gateway, world } = rig.server
  const say = (text: string) => world.say({ from: rig.ada, channel: rig.channel, text })
  const event = (name: string, after = 0) =>
    ledger.count((entry) => entry.kind === 'gateway' && entry.event === name, after)
  const unanswered = (after: number) => ledger.nextGateway('unanswered', { after })
  /** Lets the wait before the next try pass. */
  const tryAgain = async () => {
    await clock.armed(2000)
    await clock.advance(2000)
  }
  return { ...rig, clock, ledger, gateway, world, say, event, unanswered, tryAgain }
}

async function listening(options: Parameters<typeof openRig>[0] = {}) {
  const opened = await open(options)
  await opened.listen()
  return opened
}

describe('a session that is not taken up again although heartbeats are acknowledged', () => {
  test('is down after 10 s, given up after 60 s, and begun anew; what was missed is read back, new places too', async () => {
    const opened = await listening()
    const { adapter, clock, ledger, gateway, world, ada, guild, channel, say, sink, unanswered } = opened
    say('before')
    world.say({ from: ada, text: 'a direct chat' })
    await sink.committed(2)
    const { lastProofAt } = adapter.health()
    gateway.unanswered.add('resume')
    const mark = ledger.mark()
    gateway.cut()
    await unanswered(mark)
    await clock.advance(10_000)
    await heartbeats(opened.server)
    expect(adapter.health()).toMatchObject({ status: 'down', lastProofAt, detail: expect.stringContaining('broke') })
    const founded = world.addChannel({ guild, name: 'founded meanwhile' })
    const thread = world.addThread({ channel, name: 'begun meanwhile' })
    say('in the channel')
    for (const place of [founded, thread]) world.say({ from: ada, channel: place, text: `in ${place.name}` })
    world.say({ from: ada, text: 'in the direct chat' })
    await clock.advance(50_000)
    await until(() => adapter.health().detail?.includes('not take the session up again within 60 s') === true)
    await opened.tryAgain()
    await ledger.nextGateway('identified', { after: mark })
    await sink.committed(6)

    expect(new Set(sink.texts.slice(2))).toEqual(
      new Set(['in the channel', 'in founded meanwhile', 'in begun meanwhile', 'in the direct chat']),
    )
    expect(adapter.health().status).toBe('up')
  })

  test('is kept where RESUMED comes just in time', async () => {
    const { adapter, clock, ledger, gateway, say, sink, event, unanswered } = await listening()
    gateway.unanswered.add('resume')
    const mark = ledger.mark()
    gateway.cut()
    await unanswered(mark)
    await clock.advance(59_000)
    gateway.answerLate()
    say('after it')
    await sink.committed(1)
    await clock.advance(60_000)

    expect(adapter.health().status).toBe('up')
    expect(event('identified')).toBe(1)
  })

  test('is not disturbed by a RESUMED that comes after it was given up', async () => {
    const { clock, ledger, gateway, say, sink, event, unanswered, tryAgain } = await listening()
    gateway.unanswered.add('resume')
    const mark = ledger.mark()
    gateway.cut()
    await unanswered(mark)
    await clock.advance(60_000)
    gateway.answerLate()
    await tryAgain()
    await ledger.nextGateway('ready', { after: mark })
    say('once')
    await sink.committed(1)

    expect(sink.texts).toEqual(['once'])
    expect(event('identified')).toBe(2)
  })

  test('is given up as well where the platform asked to resume on the same connection', async () => {
    const { clock, ledger, gateway, say, sink, unanswered, tryAgain } = await listening()
    gateway.unanswered.add('resume')
    const mark = ledger.mark()
    gateway.invalidate(true)
    await unanswered(mark)
    await clock.advance(60_000)
    await tryAgain()
    await ledger.nextGateway('ready', { after: mark })
    say('heard')
    await sink.committed(1)
  })

  test('nor greeted: a connection without HELLO is given up too', async () => {
    const { clock, ledger, gateway, say, sink, unanswered, tryAgain } = await listening()
    gateway.unanswered.add('hello')
    const mark = ledger.mark()
    gateway.cut()
    await unanswered(mark)
    await clock.advance(60_000)
    gateway.unanswered.clear()
    await tryAgain()
    await ledger.nextGateway('ready', { after: mark })
    say('heard')
    await sink.committed(1)
  })

  test('a replay with a hole is read back from before the hole', async () => {
    const { ledger, gateway, say, sink } = await listening()
    say('zero')
    await sink.committed(1)
    const mark = ledger.mark()
    gateway.cut()
    gateway.muted = true
    say('left out of the replay')
    gateway.muted = false
    say('replayed')
    await ledger.nextGateway('resumed', { after: mark })
    await sink.committed(3)

    expect(new Set(sink.texts)).toEqual(new Set(['zero', 'left out of the replay', 'replayed']))
    expect(sink.dropped).not.toContain('gateway:replay_with_hole')
  })

  test('a replay with a hole in its numbers is counted besides', async () => {
    const { ledger, gateway, say, sink } = await listening()
    say('zero')
    await sink.committed(1)
    const mark = ledger.mark()
    gateway.cut()
    gateway.loses = true
    say('lost')
    gateway.loses = false
    say('replayed')
    await ledger.nextGateway('resumed', { after: mark })
    await sink.committed(3)

    expect(new Set(sink.texts)).toEqual(new Set(['zero', 'lost', 'replayed']))
    expect(sink.dropped).toContain('gateway:replay_with_hole')
  })
})

describe('a session that does not begin', () => {
  test.each(['hello', 'identify'] as const)('is given up after 45 s without an answer to %s', async (question) => {
    const { adapter, sink, signal, clock, gateway, ledger, unanswered } = await open()
    gateway.unanswered.add(question)
    const mark = ledger.mark()
    const started = adapter.start(sink, signal).catch((error: unknown) => error)
    await unanswered(mark)
    await clock.advance(45_000)

    expect(await started).toMatchObject({ name: 'ChannelDown', permanent: false })
    gateway.unanswered.clear()
    await adapter.start(sink, signal)
    expect(adapter.health().status).toBe('up')
  })

  test.each([
    ['no user', { user: null }],
    ['another bot', { user: { id: '999', username: 'other', bot: true } }],
    ['no list of guilds', { guilds: 'none' }],
    ['no session', { session_id: 5 }],
    ['no place to resume at', { resume_gateway_url: 'nowhere' }],
  ])('because its READY has %s is down for now, and the process goes on', async (_, over) => {
    const { adapter, sink, signal, gateway } = await open()
    gateway.readyOver = over

    await expect(adapter.start(sink, signal)).rejects.toMatchObject({ name: 'ChannelDown', permanent: false })
    gateway.readyOver = {}
    await adapter.start(sink, signal)
    expect(adapter.health().status).toBe('up')
  })

  test.each([
    ['an invalid session that is no answer', { op: 9, d: null }],
    ['a greeting without an interval', { op: 10, d: null }],
    ['a READY of nothing', { op: 0, t: 'READY', s: 99, d: null }],
  ])('%s ends the connection and not the process', async (_, frame) => {
    const { ledger, gateway, say, sink, tryAgain } = await listening()
    const mark = ledger.mark()
    gateway.raw(frame)
    await ledger.nextGateway('closed', { after: mark })
    await tryAgain()
    await ledger.listening({ after: mark })
    say('heard')
    await sink.committed(1)
  })

  test.each(['GUILD_CREATE', 'CHANNEL_CREATE', 'THREAD_LIST_SYNC', 'MESSAGE_UPDATE'])(
    'a %s of nothing is counted, and the session goes on',
    async (type) => {
      const { gateway, say, sink, event } = await listening()
      gateway.raw({ op: 0, t: type, s: 99, d: null })
      say('heard')
      await sink.committed(1)

      expect(sink.dropped).toContain('gateway:unreadable')
      expect(event('identified')).toBe(1)
    },
  )
})

describe('a platform that ends sessions again and again', () => {
  test('op 9 in answer to each IDENTIFY: every try costs one session, and the waits grow', async () => {
    const { ledger, gateway, clock, tryAgain, say, sink } = await listening()
    gateway.invalidatesAll = true
    gateway.invalidate()
    for (let tries = 1; tries <= 5; tries++) {
      const mark = ledger.mark()
      await tryAgain()
      await ledger.nextGateway('refused', { after: mark })
    }
    expect(gateway.sessionLimit.remaining).toBe(1000 - 6)
    gateway.invalidatesAll = false
    const mark = ledger.mark()
    await tryAgain()
    await ledger.nextGateway('ready', { after: mark })
    expect(clock.waits).toEqual([10, 20, 40, 80, 160, 300])
    say('heard')
    await sink.committed(1)
  })

  test('op 7 after each session: after five breaks without a calm minute a new one is begun, with a wait', async () => {
    const { adapter, ledger, gateway, say, sink, tryAgain } = await listening()
    gateway.restless = true
    const mark = ledger.mark()
    gateway.askToReconnect()
    await ledger.collect(5, (entry) => entry.kind === 'gateway' && entry.event === 'resumed', { after: mark })
    await until(() => adapter.health().detail?.includes('again and again') === true)
    gateway.restless = false
    await tryAgain()
    await ledger.nextGateway('identified', { after: mark })
    say('heard')
    await sink.committed(1)
  })
})

describe('the limit of new sessions', () => {
  test('a start that would be taken from the reserve is not made, and says why', async () => {
    const { adapter, sink, signal, gateway, event } = await open()
    gateway.sessionLimit.remaining = 100

    await expect(adapter.start(sink, signal)).rejects.toMatchObject({ name: 'ChannelDown', permanent: false })
    expect(adapter.health()).toMatchObject({
      status: 'down',
      detail: expect.stringMatching(
        /only 100 of 1000 sessions more for 24 h.*kept in reserve.*nothing else uses this token/,
      ),
    })
    expect(event('connected')).toBe(0)
    expect(sink.notices).toEqual([{ about: 'sessions', text: adapter.health().detail }])
    gateway.sessionLimit.remaining = 101
    await adapter.start(sink, signal)
    expect(adapter.health().status).toBe('up')
  })

  test('a session that is lost is not replaced from the reserve; it is asked again, ever more slowly', async () => {
    const { adapter, clock, ledger, gateway, say, sink, event, tryAgain } = await listening()
    gateway.sessionLimit.remaining = 42
    gateway.invalidate()
    for (let tries = 1; tries <= 4; tries++) {
      const mark = ledger.mark()
      await tryAgain()
      await ledger.nextCall('gatewayBot', { after: mark })
    }
    await until(() => adapter.health().detail?.includes('only 42 of 1000') === true)
    expect(event('identified')).toBe(1)
    gateway.sessionLimit.remaining = 1000
    const mark = ledger.mark()
    await tryAgain()
    await ledger.nextGateway('ready', { after: mark })
    expect(clock.waits).toEqual([10, 20, 40, 80, 160])
    say('heard')
    await sink.committed(1)
  })

  test('a limit that says it is over and is not is asked again ever more slowly too', async () => {
    const { clock, ledger, gateway, tryAgain } = await listening()
    gateway.sessionLimit.remaining = 42
    gateway.sessionLimit.resetAfterMs = 0
    gateway.invalidate()
    for (let tries = 1; tries <= 4; tries++) {
      const mark = ledger.mark()
      await tryAgain()
      await ledger.nextCall('gatewayBot', { after: mark })
    }
    expect(clock.waits.slice(0, 4)).toEqual([10, 20, 40, 80])
  })
})

/** Looks again whenever the event loop has turned. */
async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await new Promise((resolve) => setImmediate(resolve))
}
