import { afterEach, describe, expect, test } from 'vitest'
import { ManualClock } from '../telegram/manual-clock.ts'
import { heartbeats, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options)
  rigs.push(rig)
  const { world, gateway, ledger, faults } = rig.server
  const say = (text: string) => world.say({ from: rig.ada, text })
  const register = () => rig.adapter.registerCommands([], [rig.ada.id])
  /** Says something that no session tells. */
  const unheard = (text: string) => {
    gateway.muted = true
    const message = say(text)
    gateway.muted = false
    return message
  }
  const isKnown = () =>
    rig.sink.until(() => [...rig.sink.stored.values()].some((value) => value.includes(`"person":"${rig.ada.id}"`)))
  return { ...rig, gateway, ledger, faults, say, register, unheard, isKnown }
}

const MOMENTS = ['openDirect', 'getMessages'].flatMap((method) =>
  (['before', 'after'] as const).map((when) => ({ method, when })),
)

describe("an owner's first direct message, at the first start of all", () => {
  test.each(MOMENTS)('is taken once if it comes $when the answer to $method', async ({ method, when }) => {
    const { adapter, server, sink, listen, register, say, faults, successor } = await open()
    await listen()
    const held = faults.add({ method, action: { kind: 'hold', when } })
    const registered = register()
    await held.reached
    say('one')
    await heartbeats(server)
    held.release()
    await registered
    await sink.committed(1)
    await adapter.stop()
    const next = successor()
    await next.start()
    say('two')
    await next.sink.committed(1)
    await next.adapter.stop()

    expect([sink.texts, next.sink.texts]).toEqual([['one'], ['two']])
  })

  test.each(MOMENTS)(
    'is read back if it comes $when the answer to $method and ends with the process',
    async (moment) => {
      const { adapter, server, sink, listen, register, say, faults, successor } = await open()
      await listen()
      const held = faults.add({ method: moment.method, action: { kind: 'hold', when: moment.when } })
      sink.accepting = () => Promise.reject(new Error('the disk is full'))
      const registered = register()
      await held.reached
      say('one')
      await heartbeats(server)
      held.release()
      await registered
      await sink.until(() => sink.offered.length > 0)
      await adapter.stop()
      const next = successor()
      await next.start()
      await next.sink.committed(1)

      expect(next.sink.texts).toEqual(['one'])
    },
  )

  test('is read back if no session tells it', async () => {
    const clock = new ManualClock()
    const { sink, listen, register, unheard } = await open({ clock, server: { now: () => clock.now() } })
    await listen()
    clock.setBy(1_000)
    unheard('one')
    clock.setBy(1_000)
    await register()
    await sink.committed(1)

    expect(sink.texts).toEqual(['one'])
  })

  test('answers nothing that was said before it, and misses nothing after it, by a clock that is an hour ahead', async () => {
    const clock = new ManualClock()
    const server = { now: () => clock.now() - 3_600_000 }
    const { sink, listen, register, say, unheard, gateway, ledger } = await open({ clock, server })
    say('before the first start')
    clock.setBy(60_000)
    await listen()
    await register()
    clock.setBy(1_000)
    say('zero')
    await sink.committed(1)
    const mark = ledger.mark()
    gateway.cut()
    unheard('one')
    await ledger.nextGateway('resumed', { after: mark })
    await sink.committed(2)

    expect(sink.texts).toEqual(['zero', 'one'])
  })
})

describe('the direct chat of an owner', () => {
  test('is asked for again where the platform does not answer, and keeps the menu from nothing', async () => {
    const { listen, register, faults, ledger, isKnown } = await open()
    faults.add({ method: 'openDirect', action: { kind: 'reset', when: 'before' } })
    await listen()
    await register()
    await isKnown()

    expect(ledger.calls('listCommands')).toHaveLength(1)
  })
})
