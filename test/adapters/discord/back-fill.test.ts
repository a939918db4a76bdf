import { afterEach, describe, expect, test } from 'vitest'
import { addressOf, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open() {
  const rig = await openRig()
  rigs.push(rig)
  const { world } = rig.server
  const say = (text: string, channel: { id: string } = rig.channel) => world.say({ from: rig.ada, channel, text })
  return { ...rig, world, say }
}

describe('what was said while nobody listened', () => {
  test('a first start replays nothing', async () => {
    const { say, sink, listen, server } = await open()
    for (const text of ['one', 'two']) say(text)
    await listen()
    say('three')
    await sink.committed(1)
    expect(sink.texts).toEqual(['three'])
    expect(server.ledger.calls('getMessages')).toEqual([])
  })

  test('is read back oldest first, in channels, threads and known direct chats', async () => {
    const { world, ada, channel, say, sink, listen, adapter, successor } = await open()
    const thread = world.addThread({ channel, name: 'plans' })
    await listen()
    world.say({ from: ada, text: 'known from now on' })
    await sink.committed(1)
    await adapter.stop()
    for (const text of ['one', 'two']) say(text)
    say('three', thread)
    world.say({ from: ada, text: 'four' })
    const next = successor()
    await next.start()
    const events = await next.sink.committed(4)
    const at = (text: string) => events.find((event) => 'text' in event && event.text === text)?.address
    expect(at('three')).toMatchObject({ chat: channel.id, topic: thread.id })
    expect(at('four')).toEqual(addressOf('direct', ada.id))
    expect(next.sink.texts.filter((text) => text === 'one' || text === 'two')).toEqual(['one', 'two'])
  })

  test('in a thread that began meanwhile is read from its first message on', async () => {
    const { world, ada, channel, say, sink, listen, adapter, successor } = await open()
    await listen()
    say('zero')
    await sink.committed(1)
    await sink.until(() => sink.stored.has('seen'))
    await adapter.stop()
    const thread = world.addThread({ channel, name: 'plans' })
    for (const text of ['one', 'two']) world.say({ from: ada, channel: thread, text })
    const next = successor()
    await next.start()
    await next.sink.committed(2)
    expect(next.sink.texts).toEqual(['one', 'two'])
  })

  test("in an owner's first direct message is read too; a stranger's cannot be found", async () => {
    const { world, ada, sink, listen, adapter, successor } = await open()
    const cy = world.addUser({ username: 'cy' })
    await listen()
    await sink.until(() => sink.stored.has('seen'))
    await adapter.stop()
    world.say({ from: ada, text: 'is anybody there?' })
    world.say({ from: cy, text: 'let me in' })
    const next = successor()
    await next.start()
    await next.adapter.registerCommands([], [ada.id, 'U333'])
    const [event] = await next.sink.committed(1)
    expect(event?.address).toEqual(addressOf('direct', ada.id))
    await next.adapter.stop()
    expect(next.sink.texts).toEqual(['is anybody there?'])
  })

  test('comes before what is said live in the same channel', async () => {
    const { say, sink, listen, adapter, successor, server } = await open()
    await listen()
    say('zero')
    await sink.committed(1)
    await adapter.stop()
    say('one')
    const held = server.faults.add({ method: 'getMessages', action: { kind: 'hold', when: 'before' } })
    const next = successor()
    await next.start()
    await held.reached
    say('two')
    held.release()
    // The page holds both; the live one is a repetition.
    await next.sink.committed(2)
    expect(next.sink.texts).toEqual(['one', 'two'])
  })

  test('passes the same gate: our own are no events, bots are told as bots, and nothing is read twice', async () => {
    const { world, channel, say, sink, listen, adapter, successor, server } = await open()
    const robot = world.addUser({ username: 'robot', isBot: true })
    await listen()
    say('zero')
    await sink.committed(1)
    await adapter.stop()
    world.say({ from: robot, channel, text: 'beep' })
    const mine = world.say({ from: world.bot, channel, text: 'mine' })
    const next = successor()
    await next.start()
    await next.sink.until(() => next.sink.stored.get(`channel:${channel.id}`) === mine.id)
    expect(next.sink.dropped).toEqual(['own_message'])
    await next.adapter.stop()
    expect(next.sink.events.map(({ sender }) => sender.kind)).toEqual(['bot'])
    const mark = server.ledger.mark()
    const third = successor()
    await third.start()
    say('one')
    await third.sink.committed(1)
    expect(server.ledger.calls('getMessages', mark)).toEqual([])
  })

  test('is bounded for each channel, and says so', async () => {
    const { say, sink, listen, adapter, successor } = await open()
    await listen()
    say('zero')
    await sink.committed(1)
    await adapter.stop()
    for (let count = 1; count <= 250; count++) say(`${count}`)
    const next = successor()
    await next.start()
    await next.sink.until(() => next.sink.dropped.includes('back_fill:bounded'))
    expect(next.sink.texts).toEqual(Array.from({ length: 200 }, (_, index) => `${index + 1}`))
  })

  test('is tried again when the platform does not answer, and let go where it may not be read', async () => {
    const { say, sink, listen, adapter, successor, server } = await open()
    await listen()
    say('zero')
    await sink.committed(1)
    await adapter.stop()
    say('one')
    server.faults.add({ method: 'getMessages', times: 2, action: { kind: 'reset', when: 'before' } })
    const next = successor()
    await next.start()
    await next.sink.committed(1)
    await next.adapter.stop()
    say('two')
    const refusal = { message: 'Missing Access', code: 50_001 }
    server.faults.add({ method: 'getMessages', action: { kind: 'answer', when: 'before', status: 403, body: refusal } })
    const third = successor()
    await third.start()
    await third.sink.until(() => third.sink.dropped.includes('back_fill:refused'))
    say('three')
    await third.sink.committed(1)
    expect(third.sink.texts).toEqual(['three'])
  })

  test('is put in order by the ids, in whatever order the platform lists it', async () => {
    const { channel, say, sink, listen, adapter, successor, server } = await open()
    await listen()
    say('zero')
    await sink.committed(1)
    await adapter.stop()
    const body = ['one', 'two', 'three'].map((text) => say(text))
    const [one, two, three] = body
    const shuffled = JSON.stringify([two, one, three])
    server.faults.add({
      method: 'getMessages',
      action: { kind: 'answer', when: 'before', status: 200, body: shuffled },
    })
    const next = successor()
    await next.start()
    await next.sink.committed(3)
    expect(next.sink.texts).toEqual(['one', 'two', 'three'])
    await next.sink.until(() => next.sink.stored.get(`channel:${channel.id}`) === three?.id)
  })

  test('ends where a server gives again what was asked to be left out', async () => {
    const { say, sink, listen, adapter, successor, server } = await open()
    await listen()
    const zero = say('zero')
    await sink.committed(1)
    await adapter.stop()
    say('one')
    const page = JSON.stringify(Array.from({ length: 100 }, () => zero))
    server.faults.add({ method: 'getMessages', action: { kind: 'answer', when: 'before', status: 200, body: page } })
    const next = successor()
    await next.start()
    say('two')
    await next.sink.committed(1)
    expect(next.sink.texts).toEqual(['two'])
  })

  test('a position never goes back when a resume tells a message again', async () => {
    const { world, ada, guild, channel, say, sink, listen } = await open()
    await listen()
    const first = say('one')
    const second = say('two')
    await sink.committed(2)
    world.raw('MESSAGE_CREATE', { ...first, guild_id: guild.id, author: ada })
    say('three')
    await sink.committed(3)
    expect(sink.offered).toHaveLength(4)
    expect(second.id < (sink.cursors.get(`channel:${channel.id}`) ?? '')).toBe(true)
  })
})
