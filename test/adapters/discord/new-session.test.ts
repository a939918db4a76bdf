import { afterEach, describe, expect, test } from 'vitest'
import { deferred } from '../../../src/rehearsal/deferred.ts'
import { ManualClock } from '../telegram/manual-clock.ts'
import { heartbeats, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options)
  rigs.push(rig)
  const { world, gateway, ledger } = rig.server
  const say = (text: string, channel: { id: string } = rig.channel) => world.say({ from: rig.ada, channel, text })
  /** Begins the next session, which tells its guilds only after heartbeats were acknowledged. */
  const slowly = async (start: () => Promise<void>) => {
    gateway.unanswered.add('guilds')
    const mark = ledger.mark()
    const started = start()
    await ledger.nextGateway('unanswered', { after: mark })
    await heartbeats(rig.server)
    gateway.answerLate()
    await started
  }
  return { ...rig, world, gateway, say, slowly }
}

describe('a new session', () => {
  test('reads new places back while something else of the account is still being stored', async () => {
    const { world, gateway, guild, sink, listen, say } = await open()
    const { set } = sink.state
    const disk = deferred<void>()
    sink.state.set = (key, value) => (key === 'seen' ? disk.promise.then(() => set(key, value)) : set(key, value))
    await listen()
    say('zero')
    await sink.committed(1)
    gateway.invalidate()
    say('one', world.addChannel({ guild, name: 'founded meanwhile' }))
    await sink.committed(2)
    disk.resolve()

    expect(sink.texts).toEqual(['zero', 'one'])
  })

  test('reads new places back from when all was told, not from a heartbeat on; guilds may come late', async () => {
    const clock = new ManualClock()
    const server = { now: () => clock.now() }
    const { adapter, world, guild, sink, listen, say, slowly, successor } = await open({ clock, server })
    await listen()
    await sink.until(() => sink.stored.has('seen'))
    await adapter.stop()
    say('one', world.addChannel({ guild, name: 'founded meanwhile' }))
    clock.setBy(3_600_000)
    const next = successor()
    await slowly(() => next.start())
    say('two')
    await next.sink.committed(2)

    expect(new Set(next.sink.texts)).toEqual(new Set(['one', 'two']))
  })

  test('that is the first of all reads nothing back, however late its guilds come', async () => {
    const { sink, listen, say, slowly } = await open()
    say('before the first start')
    await slowly(listen)
    say('one')
    await sink.committed(1)

    expect(sink.texts).toEqual(['one'])
  })

  test('moves no position before its guilds were told, however the one before it ended', async () => {
    const { server, world, guild, gateway, sink, listen, say } = await open()
    world.addGuild({ name: 'Told late' })
    await listen()
    say('zero')
    await sink.committed(1)
    gateway.muted = true
    say('one')
    gateway.muted = false
    gateway.unanswered.add('guilds')
    const mark = server.ledger.mark()
    gateway.invalidate()
    await server.ledger.nextGateway('unanswered', { after: mark })
    gateway.publish('GUILD_CREATE', world.describeGuild(guild.id))
    say('two')
    await sink.committed(2)
    gateway.answerLate()
    await sink.committed(3)

    expect(new Set(sink.texts)).toEqual(new Set(['zero', 'one', 'two']))
  })

  test('begins without a guild that is out of order, and reads it back once it is told', async () => {
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
    gateway.answerLate()
    await next.sink.committed(1)
    say('two')
    await next.sink.committed(2)

    expect(next.sink.texts).toEqual(['one', 'two'])
  })
})
