import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../../adapters/slack/connection/client.ts'
import { backFill } from '../../adapters/slack/inbound/back-fill.ts'
import { systemClock } from '../../src/core/clock.ts'
import { DOORS } from '../../src/core/doors.ts'
import { signatureHeaders } from '../../src/rehearsal/slack/http-events.ts'
import { freePort } from '../adapters/free-port.ts'
import { openRig, type Rig } from '../adapters/slack/rig.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(options: Parameters<typeof openRig>[0] = {}): Promise<Rig> {
  const rig = await openRig(options)
  closing.push(() => rig.close())
  return rig
}

/** A list of `count` empty objects, each of which is two values. */
const emptyObjects = (count: number): unknown[] => Array.from({ length: count }, () => ({}))
const WORST: readonly [string, () => unknown][] = [
  ['values', () => emptyObjects(DOORS.platformEvent.values)],
  ['bytes', () => 'x'.repeat(DOORS.platformEvent.bytes)],
]

describe('door platformEvent: a frame of the socket', () => {
  test.each(WORST)('one with too many %s is counted and not walked; the next is taken', async (_, blocks) => {
    const { server, sink, listen } = await open()
    await listen()
    const ada = server.world.addUser({ name: 'ada' })
    server.world.raw({ type: 'message', channel: 'C1', user: ada.id, text: 'lost', ts: '1.1', blocks: blocks() })
    server.world.say({ from: ada, text: 'next' })
    await sink.until(() => sink.texts.includes('next') && sink.dropped.includes('frame:too_long'))

    expect(sink.texts).toEqual(['next'])
  })
})

describe('door platformEvent: a body that is posted', () => {
  const secret = 'rehearsal-signing-secret'

  async function posting() {
    const port = await freePort()
    const rig = await open({ settings: { mode: 'http', listen: { port } } })
    await rig.adapter.start(rig.sink, rig.signal)
    const post = async (body: string, type = 'application/json') => {
      const headers = { ...signatureHeaders(secret, Math.floor(Date.now() / 1000), body), 'content-type': type }
      return (await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body, headers })).status
    }
    return { ...rig, post }
  }

  const FORM = 'application/x-www-form-urlencoded'
  const many = () => JSON.stringify(emptyObjects(DOORS.platformEvent.values))
  test.each<[string, string, () => string]>([
    ['JSON with too many values', 'application/json', many],
    ['JSON with too many levels', 'application/json', () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['JSON with too many values in a form', FORM, () => `payload=${many()}`],
    ['a form with too many fields', FORM, () => 'command=/new&'.padEnd(500_000, 'a&')],
    ['a form with too many values of one field', FORM, () => 'command=/new'.padEnd(500_000, '&user_id=U1')],
  ])('%s is told as taken and counted as no event', async (_, type, body) => {
    const { post, sink } = await posting()
    expect(await post(body(), type)).toBe(200)
    expect([sink.offered, sink.dropped]).toEqual([[], ['body:other']])
  })

  test('a longer body is turned away with 413, for nobody has proven who sent it', async () => {
    const { post, sink } = await posting()
    expect(await post('x'.repeat(DOORS.platformEvent.bytes + 1)).catch(() => 413)).toBe(413)
    expect([sink.offered, sink.dropped]).toEqual([[], []])
  })
})

describe('door platformAnswer: an answer of the Web API', () => {
  /** A server whose page of a history is as large as its limit times `each`. */
  async function serverOf(each: (limit: number) => string) {
    const limits: number[] = []
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (piece) => (body += piece))
      request.on('end', () => {
        const limit = Number(new URLSearchParams(body).get('limit') ?? 0)
        limits.push(limit)
        response.writeHead(200, { 'content-type': 'application/json' }).end(each(limit))
      })
    })
    closing.push(
      () => server.closeAllConnections(),
      () => server.close(),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`
    const client = createClient({ token: 'xoxb-1', apiRoot, clock: systemClock })
    closing.push(() => client.close())
    return { client, limits }
  }

  const signal = new AbortController().signal

  test.each([
    ['values', () => JSON.stringify({ ok: true, messages: emptyObjects(DOORS.platformAnswer.values) })],
    ['bytes', () => JSON.stringify({ ok: true, messages: 'x'.repeat(DOORS.platformAnswer.bytes) })],
  ])('one with too many %s fails in words about the bound, and is no stranger', async (named, body) => {
    const { client } = await serverOf(body)
    const outcome = await client.call('auth.test', {}, { signal, deadlineMs: 10_000 })

    expect(outcome).toMatchObject({ kind: 'failed', tooLong: true, reason: expect.stringContaining(named) })
    expect(JSON.stringify(outcome)).not.toContain('apiRoot')
  })

  test('a page of a history that is too large is asked for in a smaller one', async () => {
    const blocks = emptyObjects(DOORS.platformAnswer.values / 200)
    const { client, limits } = await serverOf((limit) => {
      const messages = Array.from({ length: limit }, (_, at) => ({ ts: `17900000${10 + at}.000100`, blocks }))
      return JSON.stringify({ ok: true, messages, has_more: true })
    })
    const page = await backFill({ client, signal }, 'C1', '1790000000.000000')

    expect(limits).toEqual([200, 50])
    expect(page).toMatchObject({ further: 'cut', messages: { length: 50 } })
  })

  test('a message alone that is too large stalls no chat: it is told as more than was read', async () => {
    const { client, limits } = await serverOf(() => JSON.stringify(emptyObjects(DOORS.platformAnswer.values)))

    expect(await backFill({ client, signal }, 'C1', '1.0')).toEqual({ messages: [], further: 'cut' })
    expect(limits).toEqual([200, 50, 12, 3, 1])
  })
})
