import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { parseAddress } from '../../../src/core/address.ts'
import { armFailpoints } from '../../../src/core/failpoint.ts'
import { ManualClock } from './manual-clock.ts'
import { adapterFor, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  armFailpoints(() => {})
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options)
  rigs.push(rig)
  const ada = rig.server.world.addUser({ firstName: 'Ada' })
  rig.server.world.say({ from: ada, text: '/start' })
  const part = {
    address: parseAddress(`telegram:direct:${ada.id}`),
    key: 'k'.repeat(25),
    rendered: { text: 'once', plain: 'once', markup: 'plain' as const },
  }
  const delivered = () => rig.server.world.messages(ada, { by: 'bot' }).length
  return { ...rig, part, delivered, send: () => rig.adapter.send(part, rig.signal) }
}

describe('a send of which nothing left', () => {
  test.each([
    ['a name that does not resolve', 'http://no-such-host.invalid'],
    ['a port nobody listens on', 'http://127.0.0.1:1'],
  ])('is not sent: %s', async (_, apiRoot) => {
    const { server, part, signal } = await open()
    const adapter = adapterFor(server, { apiRoot })

    expect(await adapter.send(part, signal)).toMatchObject({ kind: 'not_sent' })
  })

  test('is not sent: a TLS handshake that fails', async () => {
    const { server, part, signal, delivered } = await open()
    const adapter = adapterFor(server, { apiRoot: server.apiRoot.replace('http:', 'https:') })

    expect(await adapter.send(part, signal)).toMatchObject({ kind: 'not_sent' })
    expect(delivered()).toBe(0)
  })

  test('is not sent: a TLS handshake that is reset, although the error is the one of a lost answer', async () => {
    const { server, part, signal } = await open()
    const rude = createServer((socket) => socket.once('data', () => socket.resetAndDestroy())).listen(0, '127.0.0.1')
    await new Promise((resolve) => rude.once('listening', resolve))
    const adapter = adapterFor(server, { apiRoot: `https://127.0.0.1:${(rude.address() as AddressInfo).port}` })
    const receipt = await adapter.send(part, signal)
    await new Promise((resolve) => rude.close(resolve))

    expect(receipt).toMatchObject({ kind: 'not_sent', reason: expect.stringMatching(/ECONNRESET|socket|disconnected/) })
  })

  test('is not sent: given up while it waited for one of 50 connections, on a line that had carried answers', async () => {
    const { adapter, part, server, send, delivered } = await open()
    await Promise.all(Array.from({ length: 51 }, send))
    const held = server.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'before' }, times: 50 })
    const taken = Array.from({ length: 50 }, send)
    await held.reached
    const abort = new AbortController()
    const waiting = adapter.send(part, abort.signal)
    await turn()
    abort.abort()
    const receipt = await waiting
    held.release()
    await Promise.all(taken)
    await send()

    expect(receipt).toEqual({ kind: 'not_sent', reason: 'stopped' })
    expect(delivered()).toBe(102)
  })

  test('is not sent: the caller had given up before', async () => {
    const { adapter, part, delivered } = await open()

    expect(await adapter.send(part, AbortSignal.abort())).toEqual({ kind: 'not_sent', reason: 'stopped' })
    expect(delivered()).toBe(0)
  })
})

describe('a send without a readable answer', () => {
  test.each([
    ['502 with HTML', { kind: 'answer', when: 'after', status: 502, body: '<html>Bad Gateway</html>' }],
    [
      '502 with a Bot API body',
      { kind: 'answer', when: 'after', status: 502, body: { ok: false, error_code: 502, description: 'Bad Gateway' } },
    ],
    ['200 with HTML', { kind: 'answer', when: 'after', status: 200, body: '<html>ok</html>' }],
    ['403 with HTML', { kind: 'answer', when: 'after', status: 403, body: '<html>Forbidden</html>' }],
    ['an answer that names no message', { kind: 'answer', when: 'after', status: 200, body: { ok: true, result: {} } }],
    ['an empty object', { kind: 'answer', when: 'after', status: 200, body: {} }],
    ['half the JSON', { kind: 'truncate', bytes: 25 }],
    ['a connection that is closed', { kind: 'drop', when: 'after' }],
    ['a connection that is reset', { kind: 'reset', when: 'after' }],
  ] as const)('F-B06: %s is unknown, and nothing is repeated', async (_, action) => {
    const { send, server, delivered } = await open()
    server.faults.add({ method: 'sendMessage', action })

    expect(await send()).toMatchObject({ kind: 'unknown' })
    expect(server.ledger.calls('sendMessage')).toHaveLength(1)
    expect(delivered()).toBe(1)
  })

  test('F-B06: a reset of a connection that had been idle is unknown too', async () => {
    const { send, server } = await open()
    await send()
    server.faults.add({ method: 'sendMessage', action: { kind: 'reset', when: 'before' } })

    expect(await send()).toMatchObject({ kind: 'unknown' })
    expect(await send()).toMatchObject({ kind: 'sent' })
  })

  test('F-B07: an answer that trickles is cut at 15 s in all', async () => {
    const clock = new ManualClock()
    const { send, server, delivered } = await open({ clock })
    const slow = server.faults.add({ method: 'sendMessage', action: { kind: 'trickle', everyMs: 20, bytes: 1 } })
    const sent = send()
    await slow.reached
    await server.ledger.nextCall('sendMessage')
    await clock.advance(15_000)

    expect(await sent).toEqual({
      kind: 'unknown',
      reason: expect.stringMatching(/^sendMessage at 127\.0\.0\.1:\d+: no answer within 15 s$/),
    })
    expect(delivered()).toBe(1)
  })

  test('an answer held back past the caller’s patience is unknown at once', async () => {
    const { adapter, part, server } = await open()
    const held = server.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'after' } })
    const abort = new AbortController()
    const sent = adapter.send(part, abort.signal)
    await held.reached
    abort.abort()

    expect(await sent).toEqual({ kind: 'unknown', reason: 'stopped' })
  })
})

describe('many sends at once', () => {
  test('share one signal without a warning, and each has its own receipt', async () => {
    const { adapter, part, signal, delivered } = await open()
    const warnings: string[] = []
    const onWarning = (warning: Error) => warnings.push(warning.name)
    process.on('warning', onWarning)
    const receipts = await Promise.all(Array.from({ length: 60 }, () => adapter.send(part, signal)))
    process.off('warning', onWarning)

    expect(new Set(receipts.map((receipt) => receipt.kind === 'sent' && receipt.messageId)).size).toBe(60)
    expect(delivered()).toBe(60)
    expect(warnings).toEqual([])
  })
})

describe('crash points of a send', () => {
  test('CP12 is reached when the bytes are out and the answer is not read, CP13 when it is', async () => {
    const { send, server } = await open()
    const trail: string[] = []
    armFailpoints((point) => trail.push(point))
    const held = server.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'after' } })
    const sent = send()
    await held.reached
    const whileHeld = [...trail]
    held.release()
    await sent

    expect(whileHeld).toEqual(['CP12-bytes-written'])
    expect(trail).toEqual(['CP12-bytes-written', 'CP13-response-read'])
  })

  test('CP12 is not reached by a send of which nothing left', async () => {
    const { server, part, signal } = await open()
    const trail: string[] = []
    armFailpoints((point) => trail.push(point))
    await adapterFor(server, { apiRoot: 'http://127.0.0.1:1' }).send(part, signal)

    expect(trail).toEqual([])
  })
})
