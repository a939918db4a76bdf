import { expect, test } from 'vitest'
import { discordDispatches } from '../odd-fixtures.ts'
import { mutated, randomFrom } from '../odd-payloads.ts'
import { openRig } from './rig.ts'

const COUNT = 300
const SEED = 6_000_000
/** Dispatches that the client reads for itself. */
const TYPES = ['GUILD_CREATE', 'GUILD_UPDATE', 'CHANNEL_CREATE', 'CHANNEL_UPDATE', 'THREAD_CREATE', 'THREAD_LIST_SYNC']

test('F-G01: after each of 300 mutated dispatches the next message is committed', async () => {
  const rig = await openRig()
  try {
    await rig.listen()
    const { world, gateway, ledger } = rig.server
    const place = { channel_id: rig.channel.id, guild_id: rig.guild.id }
    const guild = world.describeGuild(rig.guild.id)
    const own = TYPES.map((type) => ({ type, data: type.startsWith('GUILD') ? guild : { ...rig.channel, ...place } }))
    const dispatches = [...discordDispatches, ...own]
    for (let number = 0; number < COUNT; number++) {
      const random = randomFrom(SEED + number)
      const { type, data } = dispatches[Math.floor(random() * dispatches.length)] ?? { type: 'OTHER', data: null }
      const odd = mutated({ ...(data as object), ...(type.startsWith('MESSAGE') ? place : {}) }, random)
      gateway.raw({ op: 0, t: type, s: 1, d: odd })
      const text = `after seed ${SEED + number}`
      world.say({ from: rig.ada, channel: rig.channel, text })
      await rig.sink.until(() => rig.sink.texts.includes(text))
    }
    expect(rig.adapter.health().status).toBe('up')
    expect(ledger.count((entry) => entry.kind === 'gateway' && entry.event === 'identified')).toBe(1)
  } finally {
    await rig.close()
  }
})

const FRAMES = 100
const FRAME_SEED = 8_000_000

test('F-G01: after each of 100 mutated frames, at some of which the library throws, the next message is committed', async () => {
  const rig = await openRig()
  try {
    await rig.listen()
    const { world, gateway } = rig.server
    const d = {
      session_id: 'session-1',
      user: world.bot,
      guilds: [],
      heartbeat_interval: 41_250,
      resume_gateway_url: null,
    }
    const frames = [
      ...['READY', 'RESUMED', 'GUILD_CREATE'].map((t) => ({ op: 0, t, s: 1, d })),
      ...[1, 7, 9, 10, 11].map((op) => ({ op, d })),
    ]
    for (let number = 0; number < FRAMES; number++) {
      const random = randomFrom(FRAME_SEED + number)
      gateway.raw(mutated(frames[number % frames.length], random) as object)
      const text = `after seed ${FRAME_SEED + number}`
      world.say({ from: rig.ada, channel: rig.channel, text })
      await rig.sink.until(() => rig.sink.texts.includes(text))
    }
    expect(rig.sink.dropped).toContain('gateway:library_failed')
  } finally {
    await rig.close()
  }
})
