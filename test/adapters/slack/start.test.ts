import { afterEach, describe, expect, test } from 'vitest'
import { ManualClock } from '../telegram/manual-clock.ts'
import { adapterFor, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] = {}): Promise<Rig> {
  const rig = await openRig(options)
  rigs.push(rig)
  return rig
}

describe('start', () => {
  test('knows who the bot is', async () => {
    const { adapter, listen } = await open()
    await listen()

    expect(adapter.health()).toMatchObject({
      status: 'up',
      identity: { id: 'U0BOT', username: 'parley' },
      hints: [],
    })
  })

  test.each([
    ['a wrong bot token', { botToken: 'xoxb-wrong' }, /refuses the bot token.*install the app again.*invalid_auth/],
    [
      'a wrong app-level token',
      { appToken: 'xapp-wrong' },
      /refuses the app-level token.*connections:write.*invalid_auth/,
    ],
  ])('F-B19: %s is permanent, with the remedy and without the token', async (_, settings, reason) => {
    const { server, sink, signal } = await open()
    const adapter = adapterFor(server, { settings })
    const failure = await adapter.start(sink, signal).catch((error: unknown) => error)

    expect(failure).toMatchObject({ name: 'ChannelDown', permanent: true, message: expect.stringMatching(reason) })
    expect(String(failure)).not.toMatch(/xoxb|xapp-/)
    expect(adapter.health()).toMatchObject({ status: 'down', detail: expect.stringMatching(reason) })
    await adapter.stop()
  })

  test('a server that cannot be reached is not permanent', async () => {
    const { server, sink, signal, adapter } = await open()
    await server.close()

    await expect(adapter.start(sink, signal)).rejects.toMatchObject({ name: 'ChannelDown', permanent: false })
  })

  test('a connection that is closed before hello is not permanent', async () => {
    const { server, sink, signal, adapter } = await open()
    server.sockets.refuseConnections = true
    await expect(adapter.start(sink, signal)).rejects.toMatchObject({ name: 'ChannelDown', permanent: false })
    expect(server.sockets.count).toBe(0)
  })

  test('a start that failed can be repeated', async () => {
    const { server, sink, signal, adapter } = await open()
    server.app.appTokenRefusal = 'invalid_auth'
    await expect(adapter.start(sink, signal)).rejects.toMatchObject({ permanent: true })
    server.app.appTokenRefusal = null
    await adapter.start(sink, signal)

    expect(adapter.health().status).toBe('up')
  })

  test('missing scopes are hints that say what will not work', async () => {
    const { adapter, listen } = await open({ server: { app: { scopes: ['chat:write', 'channels:history'] } } })
    await listen()

    expect(adapter.health().hints).toEqual([
      expect.stringMatching(/groups:history.*message\.groups/),
      expect.stringMatching(/im:history.*message\.im.*Messages tab/),
      expect.stringMatching(/mpim:history/),
      expect.stringMatching(/app_mentions:read/),
      expect.stringMatching(/reactions:write.*emoji/),
      expect.stringMatching(/users:read.*ids instead of names/),
      expect.stringMatching(/files:read.*not shown files/),
      expect.stringMatching(/files:write.*no files are sent/),
      expect.stringMatching(/channels:read.*no names/),
      expect.stringMatching(/groups:read.*no names/),
      expect.stringMatching(/im:read.*shared with another workspace/),
      expect.stringMatching(/mpim:read.*no names/),
      expect.stringMatching(/commands.*no \/parley/),
    ])
  })
})

describe('trouble while it runs', () => {
  test('a revoked token makes the channel down with the remedy, and a good one up again without a restart', async () => {
    const clock = new ManualClock()
    const rig = await open({ clock })
    await rig.listen()
    const { app, world, ledger } = rig.server
    app.botTokenRefusal = 'token_revoked'
    world.raw({ type: 'tokens_revoked', tokens: { bot: ['U0BOT'] } })
    await rig.health('down')
    expect(rig.adapter.health().detail).toMatch(/refuses the bot token.*token_revoked/)

    app.botTokenRefusal = null
    const mark = ledger.mark()
    await clock.armed(60_000)
    await clock.advance(60_000)
    await ledger.nextCall('auth.test', { after: mark })
    await rig.health('up')
    expect(rig.log.lines.filter(({ fields }) => /bot token/.test(String(fields.detail)))).toHaveLength(1)
  })

  test('a send that the token is refused for tells it at once', async () => {
    const rig = await open()
    await rig.listen()
    const channel = rig.server.world.addChannel({ name: 'general' })
    rig.server.app.botTokenRefusal = 'account_inactive'
    const address = { channel: 'slack', account: 'default', chatType: 'channel', chat: channel.id } as never
    const rendered = { text: 'hi', plain: 'hi', markup: 'plain' as const }
    const receipt = await rig.adapter.send({ address, rendered, key: 'k' }, rig.signal)

    expect(receipt).toEqual({ kind: 'rejected', reason: 'account_inactive', retryAfterMs: 60_000 })
    await rig.health('down')
    rig.server.app.botTokenRefusal = null
  })

  test('Socket Mode that is switched off is named, and tried again', async () => {
    const clock = new ManualClock()
    const rig = await open({ clock })
    await rig.listen()
    const { app, sockets, ledger } = rig.server
    app.socketMode = false
    sockets.tellToGo('link_disabled')
    await rig.health('down')
    expect(rig.adapter.health().detail).toContain('Socket Mode is switched off')

    app.socketMode = true
    const mark = ledger.mark()
    await clock.armed(60_000)
    await clock.advance(60_000)
    await ledger.nextSocket({ after: mark })
    await rig.health('up')
  })
})

test('a server that asks to be left for no reason one could read is left', async () => {
  const rig = await open()
  await rig.listen()
  const { sockets, ledger } = rig.server
  const mark = ledger.mark()
  sockets.tellToGo({ toString: 1, valueOf: 1 } as never)
  await ledger.nextSocket({ after: mark })
  await rig.health('up')
})

describe('stop', () => {
  test('leaves no connection open', async () => {
    const { adapter, listen, server } = await open()
    await listen()
    await adapter.stop()
    await server.ledger.next((entry) => entry.kind === 'socket' && entry.change === 'closed')

    expect(server.sockets.count).toBe(0)
    expect(adapter.health()).toMatchObject({ status: 'down', detail: 'stopped' })
  })

  test('lets a message that is being stored be acknowledged', async () => {
    const { adapter, listen, server, sink } = await open()
    await listen()
    let commit = (): void => {}
    sink.accepting = () => new Promise((resolve) => (commit = resolve))
    const ada = server.world.addUser({ name: 'ada' })
    const { ts } = server.world.say({ from: ada, text: 'keep me' })
    await sink.until(() => sink.offered.length === 1)
    const stopped = adapter.stop()
    commit()
    await stopped
    await server.ledger.confirmed(ts)

    expect(sink.texts).toEqual(['keep me'])
  })

  test('in the middle of a start ends it', async () => {
    const { adapter, server, sink, signal } = await open()
    const held = server.faults.add({ method: 'apps.connections.open', action: { kind: 'hold', when: 'before' } })
    const starting = adapter.start(sink, signal).catch((error: unknown) => error)
    await held.reached
    await adapter.stop()
    held.release('drop')

    expect(await starting).toMatchObject({ name: 'ChannelDown' })
    expect(server.sockets.count).toBe(0)
  })
})
