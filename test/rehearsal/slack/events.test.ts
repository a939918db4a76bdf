import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { signatureHeaders } from '../../../src/rehearsal/slack/http-events.ts'
import { ManualClock } from '../../adapters/telegram/manual-clock.ts'
import { connect, rehearse } from './rehearsal.ts'

async function listening(options: Parameters<typeof rehearse>[0] = {}) {
  const server = await rehearse(options)
  const ada = server.world.addUser({ id: 'U333', name: 'ada' })
  const channel = server.world.addChannel({ name: 'workshop', members: [ada] })
  const socket = await connect(server)
  expect(await socket.next()).toMatchObject({ type: 'hello', num_connections: 1 })
  return { server, world: server.world, ada, channel, socket, ledger: server.ledger }
}

describe('Socket Mode', () => {
  test('an envelope that is not acknowledged in 3 s comes again: same event, new envelope', async () => {
    const clock = new ManualClock()
    const { world, ada, channel, socket, ledger } = await listening({ clock })
    const { ts } = world.say({ from: ada, channel, text: 'hello' })
    const first = await socket.next()
    await clock.advance(2999)
    expect(ledger.isConfirmed(ts)).toBe(false)
    await clock.advance(2)
    const second = await socket.next()

    expect(first).toMatchObject({ type: 'events_api', retry_attempt: 0, payload: { event: { text: 'hello', ts } } })
    expect(second).toMatchObject({ retry_attempt: 1, retry_reason: 'timeout' })
    expect(second.payload).toEqual(first.payload)
    expect(second.envelope_id).not.toBe(first.envelope_id)
    socket.ack(second)
    await ledger.confirmed(ts)
  })

  test('after four deliveries it is given up', async () => {
    const clock = new ManualClock()
    const { world, ada, channel, socket, ledger } = await listening({ clock })
    world.say({ from: ada, channel, text: 'hello' })
    await clock.advance(10 * 60_000)
    const attempts = [await socket.next(), await socket.next(), await socket.next(), await socket.next()]

    expect(attempts.map((frame) => frame.retry_attempt)).toEqual([0, 1, 2, 3])
    expect(ledger.entries).toContainEqual(expect.objectContaining({ kind: 'event', step: 'given_up', times: 4 }))
  })

  test('of two sockets either gets an event, and what a closed one did not acknowledge the other gets', async () => {
    const { server, world, ada, channel, socket } = await listening()
    const other = await connect(server)
    expect(await other.next()).toMatchObject({ num_connections: 2 })
    world.say({ from: ada, channel, text: 'one' })
    world.say({ from: ada, channel, text: 'two' })
    const [one, two] = [await socket.next(), await other.next()]
    expect([one.payload?.event.text, two.payload?.event.text].sort()).toEqual(['one', 'two'])
    socket.close()
    expect(await other.next()).toMatchObject({ payload: one.payload, retry_reason: 'disconnected' })
  })

  test('a mention in a joined channel is two events with the same ts', async () => {
    const { world, ada, channel, socket } = await listening()
    const { ts } = world.say({ from: ada, channel, text: '<@U0BOT> hi' })
    const [first, second] = [await socket.next(), await socket.next()]
    expect([first, second]).toMatchObject([
      { payload: { event: { type: 'message', ts } } },
      { payload: { event: { type: 'app_mention', ts } } },
    ])
    expect(first.payload?.event_id).not.toBe(second.payload?.event_id)
  })

  test('disconnect frames are told; link_disabled closes', async () => {
    const { server, socket } = await listening()
    server.sockets.tellToGo('warning')
    expect(await socket.next()).toMatchObject({ type: 'disconnect', reason: 'warning' })
    server.sockets.tellToGo('link_disabled')
    expect(await socket.next()).toMatchObject({ reason: 'link_disabled' })
    expect(await socket.closed).toBe(1000)
  })

  test('F-B19: an eleventh socket is turned away', async () => {
    const { server } = await listening()
    for (let count = 2; count <= 10; count++) await (await connect(server)).next()
    expect(await (await connect(server)).next()).toMatchObject({ reason: 'too_many_websockets' })
  })

  test('a url serves once', async () => {
    const server = await rehearse()
    const url = server.sockets.issueUrl()
    const { WebSocket } = await import('ws')
    const codes: number[] = []
    for (const _ of [1, 2]) {
      const socket = new WebSocket(url)
      const ended = new Promise<number>((resolve) => {
        socket.on('close', resolve)
        socket.on('message', () => socket.close(1000))
      })
      codes.push(await ended)
    }
    expect(codes[1]).toBe(4001)
  })

  test('what the app is not subscribed to, or stands where it is not, is withheld and recorded', async () => {
    const { server, world, ada, channel, ledger } = await listening()
    server.app.subscriptions = ['app_mention']
    world.say({ from: ada, channel, text: 'hello' })
    world.setMember(channel, false)
    world.say({ from: ada, channel, text: '<@U0BOT> hello' })

    expect(ledger.entries.flatMap((entry) => (entry.kind === 'withheld' ? [entry.reason] : []))).toEqual([
      'not_subscribed',
      'not_member',
      'not_member',
    ])
  })

  test('edits, deletions and guests of another workspace look as they do there', async () => {
    const { world, ada, channel, socket } = await listening()
    const said = world.say({ from: ada, channel, text: 'hello' })
    world.edit({ channel, message: said, text: 'hallo' })
    world.remove(channel, said)
    const guest = world.addUser({ name: 'eve', team: 'T02' })
    world.say({ from: guest, channel, text: 'hi' })
    const events = []
    for (let count = 0; count < 4; count++) events.push((await socket.next()).payload?.event)

    expect(events.slice(1)).toMatchObject([
      { subtype: 'message_changed', message: { text: 'hallo', edited: {} }, previous_message: { text: 'hello' } },
      { subtype: 'message_deleted', deleted_ts: said.ts },
      { user: guest.id, user_team: 'T02', source_team: 'T02' },
    ])
  })
})

describe('HTTP events', () => {
  async function receiver(answer: (attempt: number) => { status: number; headers?: Record<string, string> }) {
    const got: { headers: IncomingHttpHeaders; body: string }[] = []
    const http = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      got.push({ headers: request.headers, body })
      const { status, headers = {} } = answer(got.length)
      response.writeHead(status, headers).end(body.includes('challenge') ? JSON.parse(body).challenge : '')
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      http.closeAllConnections()
      http.close()
    })
    return { got, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/slack/events` }
  }

  test('requests are signed over their bytes, and repeated with their number until they are answered with 200', async () => {
    const { got, url } = await receiver((attempt) => ({ status: attempt < 3 ? 500 : 200 }))
    const server = await rehearse({ redelivery: { ackMs: 500, retryAfterMs: [0, 0, 0] } })
    server.deliverTo(url)
    const { ts } = server.world.say({ from: server.world.addUser({ name: 'ada' }), text: 'grüße' })
    await server.ledger.confirmed(ts)

    expect(got.map(({ headers }) => [headers['x-slack-retry-num'], headers['x-slack-retry-reason']])).toEqual([
      [undefined, undefined],
      ['1', 'http_error'],
      ['2', 'http_error'],
    ])
    for (const { headers, body } of got) {
      const signed = signatureHeaders(server.app.signingSecret, Number(headers['x-slack-request-timestamp']), body)
      expect(headers).toMatchObject(signed)
    }
  })

  test('X-Slack-No-Retry ends the repetition, and the url is verified by its challenge', async () => {
    const { got, url } = await receiver((attempt) =>
      attempt === 1 ? { status: 200 } : { status: 500, headers: { 'x-slack-no-retry': '1' } },
    )
    const server = await rehearse({ redelivery: { ackMs: 500, retryAfterMs: [0, 0, 0] } })
    const events = server.deliverTo(url)
    expect(await events.verify()).toBe(true)
    server.world.say({ from: server.world.addUser({ name: 'ada' }), text: 'hello' })
    await server.ledger.next((entry) => entry.kind === 'event' && entry.step === 'given_up')

    expect(got).toHaveLength(2)
  })
})

describe('the script', () => {
  test.each([
    ['a field', { blobs: 1 }],
    ['a subtype', { subtype: 'file_shared' }],
    ['a block', { blocks: [{ type: 'paragraph' }] }],
    ['a field of an attachment', { attachments: [{ heading: 'x' }] }],
    ['a block in an attachment', { attachments: [{ blocks: [{ type: 'paragraph' }] }] }],
    ['a mode of a file', { files: [{ id: 'F1', mode: 'remote' }] }],
  ])('may not add to a message %s that the platform does not know', async (_, extra) => {
    const { world, ada, channel } = await listening()
    const said = world.say({ from: ada, channel, text: 'hello' })
    expect(() => world.say({ from: ada, channel, text: 'hello', extra })).toThrow('The platform has no')
    expect(() => world.change({ channel, message: said, fields: extra })).toThrow('The platform has no')
  })

  test('changes a message without the mark of an edit', async () => {
    const { world, ada, channel, socket } = await listening()
    const said = world.say({ from: ada, channel, text: 'look' })
    await socket.next()
    world.change({ channel, message: said, fields: { attachments: [{ from_url: 'https://x.example', title: 'x' }] } })
    const { payload } = await socket.next()
    expect(payload?.event).toMatchObject({
      subtype: 'message_changed',
      message: { text: 'look', attachments: [{ title: 'x' }] },
      previous_message: { text: 'look' },
    })
    expect(payload?.event.message).not.toHaveProperty('edited')
  })

  test('gives a channel another name and another id, if the app is subscribed to that', async () => {
    const { server, world, ada, channel, socket } = await listening()
    world.rename(channel, 'lab')
    world.changeId(channel, 'C0NEW')
    world.say({ from: ada, channel: 'C0NEW', text: 'here' })
    const events = [await socket.next(), await socket.next(), await socket.next()].map(({ payload }) => payload?.event)
    expect(events).toMatchObject([
      { type: 'channel_rename', channel: { id: channel.id, name: 'lab' } },
      { type: 'channel_id_changed', old_channel_id: channel.id, new_channel_id: 'C0NEW' },
      { type: 'message', channel: 'C0NEW' },
    ])
    server.app.subscriptions = []
    world.rename('C0NEW', 'hall')
    expect(server.ledger.entries.at(-1)).toMatchObject({ kind: 'withheld', type: 'channel_rename' })
  })
})
