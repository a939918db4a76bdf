import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../../adapters/telegram/connection/client.ts'
import { systemClock } from '../../src/core/clock.ts'
import { DOORS } from '../../src/core/doors.ts'
import { RecordingLogger } from '../adapters/telegram/recording-logger.ts'
import { openRig, SECRET, WaitlessClock, webhookSettings } from '../adapters/telegram/rig.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A list of `count` empty objects, each of which is two values. */
const emptyObjects = (count: number): string => `[${Array.from({ length: count }, () => '{}').join()}]`
const LEFT_OUT = 'update:too_long'

async function polled() {
  const logger = new RecordingLogger()
  const rig = await openRig({ clock: new WaitlessClock(), logger })
  closing.push(() => rig.close())
  const ada = rig.server.world.addUser({ firstName: 'Ada' })
  const say = (text: string): void => void rig.server.world.say({ from: ada, text })
  const offer = (extra: string): void =>
    void rig.server.world.bot().queue.offer({
      type: 'message',
      payload: null,
      write: (id) => `{"update_id":${id},"message":${extra}}`,
    })
  const limits = () => rig.server.ledger.calls('getUpdates').map(({ params }) => params.limit)
  return { ...rig, logger, say, offer, limits }
}

describe('door platformAnswer: an answer of the Bot API that telegraf parses by itself', () => {
  test('updates that are too many together are asked for in smaller parts, and none is lost', async () => {
    const { sink, say, offer, limits, adapter, signal } = await polled()
    say('first')
    for (let at = 0; at < 3; at++) offer(emptyObjects(DOORS.platformAnswer.values / 5))
    say('last')
    await adapter.start(sink, signal)
    await sink.until(() => sink.texts.at(-1) === 'last')

    expect(sink.texts).toEqual(['first', 'last'])
    expect(sink.dropped).toEqual(Array(3).fill('malformed:message'))
    expect(limits().slice(0, 4)).toEqual([100, 25, 6, 1])
    expect(adapter.health().status).toBe('up')
  })

  test.each([
    ['values', () => emptyObjects(DOORS.platformAnswer.values)],
    ['bytes', () => JSON.stringify('x'.repeat(DOORS.platformAnswer.bytes))],
    ['levels', () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ])('an update with too many %s alone is confirmed unread, logged and counted; the others arrive', async (_, body) => {
    const { sink, say, offer, server, adapter, signal, logger } = await polled()
    say('before')
    offer(body())
    say('after')
    await adapter.start(sink, signal)
    await sink.until(() => sink.texts.at(-1) === 'after')
    await server.ledger.confirmed(100_003)

    expect([sink.texts, sink.dropped]).toEqual([['before', 'after'], [LEFT_OUT]])
    expect(logger.lines.filter(({ sentence }) => /larger than is read/.test(sentence))).toHaveLength(1)
    expect(adapter.health().status).toBe('up')
  })

  test('an answer that is compressed although nobody asked for it is not unpacked', async () => {
    const asked: unknown[] = []
    const server = createServer((request, response) => {
      asked.push(request.headers['accept-encoding'])
      request.resume()
      const bomb = gzipSync(`{"ok":true,"result":"${'x'.repeat(10_000_000)}"}`)
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb)
    })
    closing.push(
      () => server.closeAllConnections(),
      () => server.close(),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = createClient({ token: '1:x', apiRoot, clock: systemClock })
    closing.push(() => client.close())
    const outcome = await client.call('getMe', {}, { deadlineMs: 10_000, signal: new AbortController().signal })

    expect(asked).toEqual(['identity'])
    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringContaining('compressed') })
  })
})

describe('door platformEvent: an update that is posted', () => {
  test.each([
    ['values', () => emptyObjects(DOORS.platformEvent.values)],
    ['bytes', () => JSON.stringify('x'.repeat(DOORS.platformEvent.bytes))],
    ['levels', () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ])('one with too many %s is told as taken, counted and not walked; the next is taken', async (_, body) => {
    const settings = await webhookSettings()
    const rig = await openRig({ settings })
    closing.push(() => rig.close())
    await rig.adapter.start(rig.sink, rig.signal)
    const headers = { 'x-telegram-bot-api-secret-token': SECRET }
    const post = (text: string) => fetch(settings.webhookUrl, { method: 'POST', body: text, headers })
    const statuses = [(await post(`{"update_id":1,"message":${body()}}`)).status]
    const from = { id: 5, is_bot: false, first_name: 'Ada' }
    const message = { message_id: 2, date: 1_790_000_000, chat: { ...from, type: 'private' }, from, text: 'next' }
    statuses.push((await post(JSON.stringify({ update_id: 2, message }))).status)

    expect([statuses, rig.sink.texts, rig.sink.dropped]).toEqual([[200, 200], ['next'], [LEFT_OUT]])
  })
})
