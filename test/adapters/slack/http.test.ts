import { request } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { isSignedBySlack } from '../../../adapters/slack/connection/signature.ts'
import type { HttpEvents } from '../../../src/rehearsal/slack/http-events.ts'
import { signatureHeaders } from '../../../src/rehearsal/slack/http-events.ts'
import { freePort } from '../free-port.ts'
import { openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function receiving(): Promise<Rig & { events: HttpEvents; url: string }> {
  const port = await freePort()
  const rig = await openRig({ settings: { mode: 'http', listen: { port } } })
  rigs.push(rig)
  await rig.adapter.start(rig.sink, rig.signal)
  const url = `http://127.0.0.1:${port}/slack/events`
  return { ...rig, events: rig.server.deliverTo(url), url }
}

const secret = 'rehearsal-signing-secret'
const body = JSON.stringify({
  type: 'event_callback',
  event_id: 'Ev1',
  event: { type: 'message', channel: 'C1', channel_type: 'channel', user: 'U1', text: 'hi', ts: '1790000000.000100' },
})
const now = () => Math.floor(Date.now() / 1000)

describe('HTTP events', () => {
  test('the Request URL is verified, and an event is answered after its commit', async () => {
    const { events, sink, server, adapter } = await receiving()
    expect(await events.verify()).toBe(true)
    let commit = (): void => {}
    sink.accepting = () => new Promise((resolve) => (commit = resolve))
    const ada = server.world.addUser({ name: 'ada' })
    const { ts } = server.world.say({ from: ada, text: 'hello' })
    await sink.until(() => sink.offered.length === 1)
    expect(server.ledger.isConfirmed(ts)).toBe(false)
    commit()
    await server.ledger.confirmed(ts)

    expect(sink.texts).toEqual(['hello'])
    expect(adapter.health()).toMatchObject({
      status: 'up',
      receives: expect.stringMatching(/^by HTTP events, taken at 127/),
      lastProofAt: expect.any(Number),
    })
  })

  test('what could not be stored comes again, whatever its retry number', async () => {
    const { sink, server } = await receiving()
    let failures = 2
    sink.accepting = async () => {
      if (failures-- > 0) throw new Error('the disk is full')
    }
    const ada = server.world.addUser({ name: 'ada' })
    const { ts } = server.world.say({ from: ada, text: 'hello' })
    await server.ledger.confirmed(ts)

    expect(sink.offered).toHaveLength(3)
    expect(sink.texts).toEqual(['hello'])
  })

  test.each([
    ['a stale stamp', signatureHeaders(secret, now() - 301, body), body],
    ['a stamp of tomorrow', signatureHeaders(secret, now() + 86_400, body), body],
    [
      'a stamp that is no number',
      { ...signatureHeaders(secret, now(), body), 'x-slack-request-timestamp': 'soon' },
      body,
    ],
    ['no signature', { 'x-slack-request-timestamp': String(now()) }, body],
    ['an empty signature', { ...signatureHeaders(secret, now(), body), 'x-slack-signature': '' }, body],
    ['another secret', signatureHeaders('another', now(), body), body],
    ['a body that was written again', signatureHeaders(secret, now(), body), JSON.stringify(JSON.parse(body), null, 1)],
    [
      'a longer signature',
      { ...signatureHeaders(secret, now(), body), 'x-slack-signature': `v0=${'0'.repeat(70)}` },
      body,
    ],
  ])('F-K05: %s is turned away without a word and without any work', async (_, headers, sent) => {
    const { url, sink } = await receiving()
    const response = await fetch(url, { method: 'POST', body: sent, headers: { ...headers } })

    expect([response.status, await response.text()]).toEqual([403, ''])
    expect(sink.offered).toEqual([])
    expect(sink.dropped).toEqual([])
  })

  test('F-K05: a request that is played again within five minutes does nothing', async () => {
    const { url, sink } = await receiving()
    const headers = signatureHeaders(secret, now(), body)
    for (const _ of [1, 2]) expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(200)

    expect(sink.events).toHaveLength(1)
  })

  test('F-K05: an event that is played again as a form is no command that its text spells', async () => {
    const { url, sink } = await receiving()
    const said = body.replace('"hi"', '"&command=/new&text=&user_id=U333&channel_id=D1&trigger_id=1&x="')
    const headers = { ...signatureHeaders(secret, now(), said), 'content-type': 'application/x-www-form-urlencoded' }
    await fetch(url, { method: 'POST', body: said, headers })

    expect(sink.events.map(({ kind }) => kind)).not.toContain('command')
  })

  test('text is read whole, however its bytes were cut on the way', async () => {
    const { url, sink } = await receiving()
    const bytes = Buffer.from(body.replace('"hi"', '"grüße 🙂"'))
    const headers = signatureHeaders(secret, now(), bytes.toString())
    const answered = new Promise<number | undefined>((resolve) => {
      const sending = request(url, { method: 'POST', headers }, (response) => resolve(response.statusCode))
      sending.flushHeaders()
      const cut = bytes.indexOf('🙂') + 2
      sending.write(bytes.subarray(0, cut), () => sending.end(bytes.subarray(cut)))
    })

    expect(await answered).toBe(200)
    expect(sink.texts).toEqual(['grüße 🙂'])
  })

  test.each([
    ['another path', '/elsewhere', 'POST', 404],
    ['another method', '/slack/events', 'GET', 405],
  ])('%s is turned away', async (_, path, method, status) => {
    const { url } = await receiving()
    expect((await fetch(new URL(path, url), { method })).status).toBe(status)
  })

  test('a body over 1 MB is turned away', async () => {
    const { url, sink } = await receiving()
    const large = 'x'.repeat(1024 * 1024 + 1)
    const headers = signatureHeaders(secret, now(), large)
    const status = await fetch(url, { method: 'POST', body: large, headers }).then(
      (response) => response.status,
      () => 413,
    )
    expect(status).toBe(413)
    expect(sink.offered).toEqual([])
  })

  test('a slash command comes as a form, and is confirmed when it is stored', async () => {
    const { server, sink } = await receiving()
    const ada = server.world.addUser({ name: 'ada' })
    server.world.slash({ from: ada, command: '/parley', text: 'new' })
    expect(await server.ledger.nextSlash('acknowledged')).toMatchObject({ command: '/parley', text: 'new' })
    expect(sink.events).toMatchObject([{ kind: 'command', text: '/parley new', sender: { id: ada.id } }])
  })

  test('another form is answered and counted', async () => {
    const { url, sink } = await receiving()
    const form = 'payload=%7B%7D'
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signatureHeaders(secret, now(), form) }
    expect((await fetch(url, { method: 'POST', body: form, headers })).status).toBe(200)
    expect(sink.dropped).toEqual(['body:other'])
  })

  test('a port that is taken is no permanent trouble', async () => {
    const { url, server, sink, signal } = await receiving()
    const { adapterFor } = await import('./rig.ts')
    const second = adapterFor(server, { settings: { mode: 'http', listen: { port: Number(new URL(url).port) } } })
    await expect(second.start(sink, signal)).rejects.toMatchObject({ name: 'ChannelDown', permanent: false })
    await second.stop()
  })

  test('after stop nothing is taken in', async () => {
    const { adapter, url } = await receiving()
    await adapter.stop()
    await expect(fetch(url, { method: 'POST', body })).rejects.toThrow()
  })
})

test('F-K05: the signature is checked in the same steps whatever is wrong with it', () => {
  const bytes = Buffer.from(body)
  const at = now()
  const { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp } = signatureHeaders(secret, at, body)
  const check = (given: string | undefined, stamp = timestamp) =>
    isSignedBySlack(secret, { signature: given, timestamp: stamp, body: bytes }, at * 1000)

  expect(check(signature)).toBe(true)
  for (const wrong of [
    undefined,
    '',
    'v0=',
    `${signature}0`,
    signature?.slice(0, -1),
    signature?.toUpperCase(),
    'é'.repeat(67),
  ]) {
    expect(check(wrong)).toBe(false)
  }
})
