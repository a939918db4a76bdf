import { afterEach, describe, expect, test } from 'vitest'
import { ALLOWED_UPDATES } from '../../../adapters/telegram/inbound/read-event.ts'
import { armFailpoints } from '../../../src/core/failpoint.ts'
import { ManualClock } from './manual-clock.ts'
import { type AdapterOptions, openRig, type Rig, WaitlessClock } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  armFailpoints(() => {})
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] & AdapterOptions = {}): Promise<Rig> {
  const rig = await openRig({ clock: new WaitlessClock(), ...options })
  rigs.push(rig)
  return rig
}

function sayer({ server: { world } }: Rig): (text: string) => void {
  const ada = world.addUser({ firstName: 'Ada' })
  return (text) => void world.say({ from: ada, text })
}

describe('the poll loop', () => {
  test('polls first without an offset, for 25 s, for a list of kinds', async () => {
    const rig = await open()
    const say = sayer(rig)
    say('waiting since yesterday')
    await rig.listen()
    const [first] = rig.server.ledger.calls('getUpdates')

    expect(first?.params).toEqual({ timeout: 25, limit: 100, allowed_updates: [...ALLOWED_UPDATES] })
    expect(rig.sink.texts).toEqual(['waiting since yesterday'])
  })

  test('hands a whole batch over at once and in order, and confirms it with the next poll', async () => {
    const rig = await open()
    const say = sayer(rig)
    for (const text of ['one', 'two', 'three']) say(text)
    const commits: (() => void)[] = []
    rig.sink.accepting = () => new Promise((resolve) => commits.push(resolve))
    await rig.adapter.start(rig.sink, rig.signal)
    await rig.sink.until(() => rig.sink.offered.length === 3)

    expect(commits).toHaveLength(3)
    for (const commit of commits) commit()
    await rig.server.ledger.confirmed(100_003)
    expect(rig.sink.texts).toEqual(['one', 'two', 'three'])
  })

  test('R8: what takes long holds up no later update, and nothing is confirmed before it is committed', async () => {
    const rig = await open()
    const say = sayer(rig)
    const bob = rig.server.world.addUser({ firstName: 'Bob' })
    let commit = (): void => {}
    rig.sink.accepting = (event) =>
      'text' in event && event.text === 'slow' ? new Promise((resolve) => (commit = resolve)) : Promise.resolve()
    await rig.listen()
    say('slow')
    await rig.sink.until(() => rig.sink.offered.length === 1)
    rig.server.world.say({ from: bob, text: 'elsewhere' })
    say('/stop')
    await rig.sink.until(() => rig.sink.offered.length === 3)
    rig.server.world.say({ from: bob, text: 'and more' })
    await rig.sink.committed(3)

    expect(rig.sink.texts).toEqual(['elsewhere', '/stop', 'and more'])
    expect(rig.server.ledger.count((entry) => entry.kind === 'confirmed')).toBe(0)
    commit()
    await rig.server.ledger.confirmed(100_004)
    expect(rig.sink.offered, 'each was handed over once').toHaveLength(4)
    expect(rig.sink.texts.at(-1)).toBe('slow')
  })

  test('confirms what is committed before the first that is not', async () => {
    const rig = await open()
    const say = sayer(rig)
    let broken = true
    rig.sink.accepting = (event) =>
      broken && 'text' in event && event.text === 'two' ? Promise.reject(new Error('disk full')) : Promise.resolve()
    for (const text of ['one', 'two', 'three']) say(text)
    await rig.adapter.start(rig.sink, rig.signal)
    await rig.server.ledger.confirmed(100_001)
    expect(rig.adapter.health()).toMatchObject({ status: 'down', detail: expect.stringContaining('disk full') })
    broken = false
    await rig.server.ledger.confirmed(100_003)

    expect(rig.sink.texts).toEqual(['one', 'three', 'two'])
    expect(rig.adapter.health().status).toBe('up')
  })

  test('an update somebody throws over at once is as one that is not committed: those after it are taken', async () => {
    const rig = await open()
    const say = sayer(rig)
    const { sink } = rig
    const accept = sink.accept.bind(sink)
    let broken = true
    sink.accept = (event, position) => {
      if (broken && 'text' in event && event.text === 'two') throw new Error('no such rule')
      return accept(event, position)
    }
    for (const text of ['one', 'two', 'three']) say(text)
    await rig.adapter.start(sink, rig.signal)
    await rig.server.ledger.confirmed(100_001)
    expect(rig.adapter.health()).toMatchObject({ status: 'down', detail: expect.stringContaining('no such rule') })
    broken = false
    await rig.server.ledger.confirmed(100_003)

    expect(sink.texts).toEqual(['one', 'three', 'two'])
  })

  test('F-G10: what cannot be understood is counted, confirmed, and stops nothing', async () => {
    const rig = await open()
    const { world } = rig.server
    const say = sayer(rig)
    await rig.listen()
    world.raw({ update: { message: { chat: 'nonsense', text: 'x' } } })
    world.raw({ update: { message: null } })
    world.raw({ update: { story_of_the_day: {} } })
    say('sense')
    await rig.server.ledger.confirmed(100_004)

    expect(rig.sink.dropped).toEqual(['malformed:message', 'malformed:message', 'update:story_of_the_day'])
    expect(rig.sink.texts).toEqual(['sense'])
  })

  test('F-G02: a text whose UTF-8 is cut over many chunks arrives whole', async () => {
    const rig = await open()
    const say = sayer(rig)
    await rig.listen()
    rig.server.faults.add({ method: 'getUpdates', action: { kind: 'trickle', everyMs: 0, bytes: 3 } })
    say('first')
    await rig.sink.committed(1)
    say('👩‍🔧 naïve — Ωμέγα 🇪🇺')
    await rig.sink.committed(2)

    expect(rig.sink.texts[1]).toBe('👩‍🔧 naïve — Ωμέγα 🇪🇺')
  })

  test('F-G05: ids that start again far lower are processed', async () => {
    const rig = await open({ server: { bots: [{ token: '5:a', firstUpdateId: 900_000 }] } })
    const say = sayer(rig)
    await rig.listen()
    say('before the quiet week')
    await rig.server.ledger.confirmed(900_000)
    rig.server.world.setNextUpdateId(7)
    say('after it')
    await rig.server.ledger.confirmed(7)

    expect(rig.sink.texts).toEqual(['before the quiet week', 'after it'])
  })

  test.each(['0', '-1', '9223372036854775807'])(
    'F-G05: an update with the id %s is processed and stalls nothing',
    async (id) => {
      const rig = await open()
      const say = sayer(rig)
      await rig.listen()
      const chat = '{"id":5,"type":"private"}'
      rig.server.world.raw({
        update: `{"update_id":${id},"message":{"message_id":3,"date":1,"chat":${chat},"from":{"id":5,"is_bot":false},"text":"odd"}}`,
      })
      await rig.sink.committed(1)
      say('even')
      await rig.sink.committed(2)

      expect(rig.sink.texts).toEqual(['odd', 'even'])
    },
  )

  test('reaches each crash point where its name says', async () => {
    const rig = await open()
    const say = sayer(rig)
    const trail: string[] = []
    armFailpoints((point) => trail.push(point))
    rig.sink.accepting = () => {
      trail.push('accept')
      return Promise.resolve()
    }
    await rig.listen()
    say('hello')
    await rig.server.ledger.confirmed(100_001)

    expect(trail).toEqual(['CP1-received', 'accept', 'CP2-committed', 'CP3-acked'])
  })

  test('stop cuts the poll at once and waits for what is being committed', async () => {
    const rig = await open()
    const say = sayer(rig)
    let commit = (): void => {}
    rig.sink.accepting = () => new Promise((resolve) => (commit = resolve))
    await rig.listen()
    say('hello')
    await rig.sink.until(() => rig.sink.offered.length === 1)
    let stopped = false
    const stopping = rig.adapter.stop().then(() => (stopped = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(stopped).toBe(false)
    commit()
    await stopping

    expect(rig.sink.texts).toEqual(['hello'])
    expect(rig.server.ledger.count((entry) => entry.kind === 'confirmed')).toBe(0)
  })

  test('stop lets an accept go that takes longer than 5 s', async () => {
    const clock = new ManualClock()
    const rig = await open({ clock })
    const say = sayer(rig)
    rig.sink.accepting = () => new Promise(() => {})
    await rig.listen()
    say('hello')
    await rig.sink.until(() => rig.sink.offered.length === 1)
    const stopping = rig.adapter.stop()
    await clock.advance(5000)
    await stopping

    expect(rig.adapter.health()).toMatchObject({ status: 'down', detail: 'stopped' })
  })

  test('ends with the signal it was started with', async () => {
    const rig = await open()
    const abort = new AbortController()
    await rig.adapter.start(rig.sink, abort.signal)
    await rig.server.ledger.listening()
    abort.abort()
    await rig.server.ledger.nextCall('getUpdates')
    expect(rig.adapter.health()).toMatchObject({ status: 'down', detail: 'stopped' })
    await rig.adapter.start(rig.sink, rig.signal)

    expect(rig.adapter.health().status).not.toBe('down')
  })
})
