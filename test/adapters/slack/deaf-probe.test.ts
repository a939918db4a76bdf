import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, describe, expect, test } from 'vitest'
import { toAccountId } from '../../../src/core/ids.ts'
import { ManualClock } from '../telegram/manual-clock.ts'
import { openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

const rendered = { text: 'mine', plain: 'mine', markup: 'plain' } as const

/** The account, which has received one message. */
async function listening() {
  const clock = new ManualClock()
  const rig = await openRig({ clock, server: { clock } })
  rigs.push(rig)
  await rig.listen()
  const { world, ledger, sockets, events, app } = rig.server
  const ada = world.addUser({ id: 'U333', name: 'ada' })
  const channel = world.addChannel({ name: 'workshop', members: [ada] })
  const say = (text: string) => world.say({ from: ada, channel, text })
  const { ts } = say('before')
  await rig.sink.committed(1)
  await ledger.confirmed(ts)
  const opened = () => ledger.calls('apps.connections.open').length
  const step = async () => {
    const ping = pinged()
    await clock.advance(10_000)
    await ping
  }
  /** Lets a pace of the probe pass while pings come. */
  const pace = async () => {
    for (let steps = 0; steps < 10; steps++) await step()
  }
  /** Lets time pass until the question was asked. */
  const question = async (method = 'conversations.history') => {
    const mark = ledger.mark()
    while (ledger.calls(method, mark).length === 0) await step()
  }
  return { ...rig, app, clock, ledger, sockets, events, channel, ada, world, say, opened, pace, question }
}

/** Resolves with the next ping that a socket of this process receives. */
function pinged(): Promise<void> {
  return new Promise((resolve) => {
    const heard = (): void => {
      unsubscribe('undici:websocket:ping', heard)
      resolve()
    }
    subscribe('undici:websocket:ping', heard)
  })
}

describe('F-K12: a socket that is pinged and delivers nothing', () => {
  test('is found out by two questions, said once, replaced, and what was missed is read back', async () => {
    const { adapter, clock, ledger, sockets, events, sink, log, say, opened, pace, question, health } =
      await listening()
    await pace()
    sockets.deafen()
    say('not delivered')
    events.giveUp()
    await question()
    expect(opened()).toBe(1)
    const mark = ledger.mark()
    await question()
    await health('down')
    expect(adapter.health().detail).toMatch(/shows messages that came by no event/)
    await ledger.nextSocket({ after: mark })
    await clock.advance(0)
    await sink.committed(2)
    say('delivered')
    await sink.committed(3)

    expect(sink.texts).toEqual(['before', 'not delivered', 'delivered'])
    expect(adapter.health().status).toBe('up')
    expect(opened()).toBe(2)
    expect(log.lines.filter(({ sentence }) => sentence === 'Slack is down.')).toHaveLength(1)
  })
})

describe('F-K12: a socket is kept', () => {
  test('where nothing was said', async () => {
    const { opened, pace, question } = await listening()
    await pace()
    for (let asked = 0; asked < 3; asked++) await question()
    expect(opened()).toBe(1)
  })

  test('where the history may not be read: the token alone is asked about', async () => {
    const { app, sockets, events, say, opened, pace, question } = await listening()
    await pace()
    sockets.deafen()
    say('not delivered')
    events.giveUp()
    app.scopes = app.scopes.filter((scope) => !scope.endsWith(':history'))
    for (let asked = 0; asked < 3; asked++) await question('auth.test')
    expect(opened()).toBe(1)
  })

  test('where the newest message is our own', async () => {
    const { adapter, channel, sockets, events, signal, opened, pace, question } = await listening()
    const address = {
      channel: 'slack',
      account: toAccountId('default'),
      chatType: 'channel',
      chat: channel.id,
    } as const
    sockets.deafen()
    await adapter.send({ address, rendered, key: 'k'.repeat(25) }, signal)
    events.giveUp()
    await pace()
    for (let asked = 0; asked < 3; asked++) await question()
    expect(opened()).toBe(1)
  })
})
