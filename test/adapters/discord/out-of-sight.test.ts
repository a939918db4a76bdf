import { afterEach, describe, expect, test } from 'vitest'
import { ManualClock } from '../telegram/manual-clock.ts'
import { addressOf, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options)
  rigs.push(rig)
  const { world, gateway } = rig.server
  const say = (text: string, channel: { id: string } = rig.channel) => world.say({ from: rig.ada, channel, text })
  return { ...rig, world, gateway, say }
}

const GREETING = { text: 'hello', plain: 'hello', markup: 'markdown' } as const

describe('a new session that does not show a place we know', () => {
  test('reads a thread back that somebody closed meanwhile', async () => {
    const { world, channel, say, sink, listen, adapter, successor } = await open()
    const thread = world.addThread({ channel, name: 'plans' })
    await listen()
    say('zero', thread)
    await sink.committed(1)
    await adapter.stop()
    say('one', thread)
    world.setThread(thread, { archived: true })
    const next = successor()
    await next.start()
    await next.sink.committed(1)
    say('two', thread)
    await next.sink.committed(2)

    expect(next.sink.texts).toEqual(['one', 'two'])
  })

  test('reads a closed thread back, however many wrote directly since', async () => {
    const { world, channel, say, sink, listen, adapter, successor } = await open()
    const thread = world.addThread({ channel, name: 'plans' })
    await listen()
    say('zero', thread)
    for (let people = 1; people <= 50; people++) {
      await sink.committed(people)
      world.say({ from: world.addUser({ username: `person-${people}` }), text: 'hello' })
    }
    await sink.committed(51)
    await adapter.stop()
    say('one', thread)
    world.setThread(thread, { archived: true })
    const next = successor()
    await next.start()
    await next.sink.committed(1)

    expect(next.sink.texts).toEqual(['one'])
  })

  test('reads one of many closed threads back before what is said there next', async () => {
    const { world, channel, say, sink, listen, adapter, successor } = await open()
    const threads = Array.from({ length: 60 }, (_, index) => world.addThread({ channel, name: `plans ${index}` }))
    await listen()
    for (const [index, thread] of threads.entries()) {
      say('zero', thread)
      await sink.committed(index + 1)
    }
    await adapter.stop()
    const [first] = threads
    say('one', first)
    for (const thread of threads) world.setThread(thread, { archived: true })
    const next = successor()
    await next.start()
    say('two', first)
    await next.sink.committed(2)

    expect(next.sink.texts).toEqual(['one', 'two'])
  })

  test('moves no position before its guild is told, also when something is said there', async () => {
    const clock = new ManualClock()
    const { adapter, gateway, server, sink, listen, say, successor } = await open({
      clock,
      server: { now: () => clock.now() },
    })
    await listen()
    say('zero')
    await sink.committed(1)
    await adapter.stop()
    say('one')
    gateway.unanswered.add('guilds')
    const mark = server.ledger.mark()
    const next = successor()
    const started = next.start()
    await server.ledger.nextGateway('unanswered', { after: mark })
    await clock.armed(15_000)
    await clock.advance(15_000)
    await started
    say('two')
    await next.sink.committed(2)
    gateway.answerLate()
    say('three')
    await next.sink.committed(3)

    expect(next.sink.texts).toEqual(['one', 'two', 'three'])
  })
})

describe('a session that goes on', () => {
  test('reads a thread back that began in it and of whose first words it was not told', async () => {
    const { world, gateway, channel, say, sink, listen } = await open()
    await listen()
    say('zero')
    await sink.committed(1)
    await sink.until(() => sink.stored.has('seen'))
    const thread = world.addThread({ channel, name: 'plans' })
    gateway.muted = true
    say('one', thread)
    gateway.muted = false
    gateway.cut()
    await sink.committed(2)
    say('two', thread)
    await sink.committed(3)

    expect(sink.texts).toEqual(['zero', 'one', 'two'])
  })
  test('knows whose a direct chat is, also where we spoke first', async () => {
    const { server, world, gateway, ada, adapter, say, sink, listen, signal } = await open()
    await listen()
    await adapter.send({ address: addressOf('direct', ada.id), rendered: GREETING, key: 'k' }, signal)
    say('zero')
    await sink.committed(1)
    const mark = server.ledger.mark()
    gateway.cut()
    await server.ledger.nextGateway('resumed', { after: mark })
    say('one')
    await sink.committed(2)
    world.say({ from: ada, text: 'two' })
    await sink.committed(3)

    expect([...sink.stored.values()].filter((stored) => stored.includes(`"person":"${ada.id}"`))).toHaveLength(1)
  })
})
