import { once } from 'node:events'

import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { connectGateway, type GatewayListener } from '../../../adapters/discord/connection/gateway.ts'
import { throwerOf } from '../../../adapters/discord/connection/library-failures.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { startDiscordServer } from '../../../src/rehearsal/discord/server.ts'
import { openRig, type Rig } from './rig.ts'

interface LockFile {
  readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

test('the gateway library is the one that discord.js carries, once', () => {
  const lockFile = new URL('../../../package-lock.json', import.meta.url)
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as LockFile
  const copies = Object.keys(packages).filter((path) => path.endsWith('/@discordjs/ws'))

  expect(copies).toEqual(['node_modules/@discordjs/ws'])
  expect(packages['']?.devDependencies).toMatchObject({
    '@discordjs/ws': packages['node_modules/@discordjs/ws']?.version,
  })
  expect(packages['node_modules/discord.js']?.dependencies).toHaveProperty('@discordjs/ws')
})

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function listening() {
  const rig = await openRig()
  rigs.push(rig)
  await rig.listen()
  const { gateway, ledger, world } = rig.server
  const say = (text: string) => world.say({ from: rig.ada, channel: rig.channel, text })
  const sessions = () => ledger.count((entry) => entry.kind === 'gateway' && entry.event === 'identified')
  return { ...rig, gateway, ledger, say, sessions }
}

/** What would end the process, from now to the end of the test. */
function deadly(): { readonly errors: unknown[]; readonly first: Promise<unknown> } {
  const errors: unknown[] = []
  const first = new Promise((resolve) => {
    process.setUncaughtExceptionCaptureCallback((error) => {
      errors.push(error)
      resolve(error)
    })
  })
  onTestFinished(() => process.setUncaughtExceptionCaptureCallback(null))
  return { errors, first }
}

const quiet: GatewayListener = {
  dispatch: () => {},
  ready: () => {},
  shown: () => {},
  resumed: () => {},
  interrupted: () => {},
  ended: () => {},
  acknowledged: () => {},
  odd: () => {},
}

function settingsFor(url: string, token = 'rehearsal.discord.token') {
  const session_start_limit = { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 1 }
  const information = { url, shards: 1, session_start_limit }
  const abort = new AbortController()
  return { token, botId: '900000000000000001', information, clock: systemClock, signal: abort.signal, abort }
}

describe('a frame that the library throws at', () => {
  test.each([
    ['a READY without d', { op: 0, t: 'READY', s: 99 }],
    ['an invalid session without d', { op: 9 }],
    ['a second greeting', { op: 10, d: { heartbeat_interval: 41_250 } }],
    ['a second greeting without d', { op: 10 }],
  ])('%s is counted and begins this connection anew, and not that of another account', async (_, frame) => {
    const [one, other] = [await listening(), await listening()]
    const { errors } = deadly()
    const mark = one.ledger.mark()
    one.gateway.raw(frame)
    await one.ledger.listening({ after: mark })
    one.say('heard again')
    other.say('heard all along')
    await one.sink.committed(1)
    await other.sink.committed(1)

    expect(one.sink.dropped).toContain('gateway:library_failed')
    expect([one.sessions(), other.sessions()]).toEqual([2, 1])
    expect(errors).toEqual([])
  })

  test('is the only thing let go: an error of our own, thrown within its call, ends the process', async () => {
    const { server, ada, channel, signal } = await listening()
    const { first } = deadly()
    const settings = settingsFor(server.gateway.url, server.token)
    const dispatch = (type: string) => {
      if (type === 'MESSAGE_CREATE') throw new Error('a mistake of ours')
    }
    const connection = await connectGateway(settings, { ...quiet, dispatch })
    server.world.say({ from: ada, channel, text: 'stumbles' })

    expect(signal.aborted).toBe(false)
    expect(await first).toMatchObject({ message: 'a mistake of ours' })
    await connection.close()
  })

  test('is told by the first line of its stack alone', () => {
    const error = new Error('no\n    at DiscordGateway_1.onMessage (file:1:1)')
    expect(throwerOf(error)).toBeUndefined()
    error.stack = `Error: ${error.message}\n    at DiscordGateway_1.onMessage (file:1:1)\n    at listener (file:1:1)`
    expect(throwerOf(error)).toBe('DiscordGateway_1')
    error.stack = `Error: ${error.message}\n    at listener (file:1:1)\n    at DiscordGateway_1.onMessage (file:1:1)`
    expect(throwerOf(error)).toBeUndefined()
    expect(throwerOf('thrown')).toBeUndefined()
  })
})

describe('a connection that is stopped', () => {
  test('while its socket is being opened, which fails later, does not end the process', async () => {
    const { errors } = deadly()
    const sockets: Socket[] = []
    const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { abort, ...settings } = settingsFor(`ws://127.0.0.1:${port}`)
    const connected = once(server, 'connection')
    const begun = connectGateway(settings, quiet).catch((error: unknown) => error)
    await connected
    abort.abort()
    expect(await begun).toMatchObject({ name: 'ChannelDown', message: 'stopped' })
    for (const socket of sockets) socket.destroy()
    // What comes behind it on the same loop has come after it.
    const probe = connect(port, '127.0.0.1')
    await Promise.all([once(probe, 'connect'), once(server, 'connection')])
    probe.destroy()
    server.close()
    await once(probe, 'close')
    expect(errors).toEqual([])
  })

  test('before it is greeted says goodbye when the greeting comes', async () => {
    const server = await startDiscordServer()
    onTestFinished(() => server.close())
    server.gateway.unanswered.add('hello')
    const { abort, ...settings } = settingsFor(server.gateway.url)
    const begun = connectGateway(settings, quiet).catch((error: unknown) => error)
    await server.ledger.nextGateway('unanswered')
    abort.abort()
    await begun
    server.gateway.answerLate()

    expect(await server.ledger.nextGateway('closed')).toMatchObject({ code: 1000 })
  })
})

test('a gateway that cannot be reached says why', async () => {
  const settings = settingsFor('ws://nowhere.invalid')
  await expect(connectGateway(settings, quiet)).rejects.toMatchObject({
    name: 'ChannelDown',
    permanent: false,
    message: expect.stringMatching(/did not begin the session.*nowhere\.invalid/),
  })
})
