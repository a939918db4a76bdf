import { afterEach, describe, expect, test } from 'vitest'
import { isFromTelegram } from '../../../adapters/telegram/connection/webhook.ts'
import { ALLOWED_UPDATES } from '../../../adapters/telegram/inbound/read-event.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'
import { ManualClock } from './manual-clock.ts'
import { RecordingLogger } from './recording-logger.ts'
import { adapterFor, openRig, SECRET, webhookSettings } from './rig.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(options: Parameters<typeof openRig>[0] = {}) {
  const settings = await webhookSettings()
  const redelivery = { waitMs: () => 5 }
  const rig = await openRig({ settings, ...options, server: { redelivery, ...options?.server } })
  closing.push(() => rig.close())
  return { ...rig, settings, url: settings.webhookUrl }
}

async function receiving(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await open(options)
  await rig.adapter.start(rig.sink, rig.signal)
  return rig
}

const right = { 'x-telegram-bot-api-secret-token': SECRET }
const post = (url: string, body: string, headers: Record<string, string> = right) =>
  fetch(url, { method: 'POST', body, headers })

/** An update as the platform writes it. */
const update = (id: number, chat: number, text = `message ${id}`) =>
  JSON.stringify({
    update_id: id,
    message: {
      message_id: id,
      date: 1_790_000_000,
      chat: { id: chat, type: 'private', first_name: 'Ada' },
      from: { id: chat, is_bot: false, first_name: 'Ada' },
      text,
    },
  })

/** Holds each accept until it is told how to end. */
function held(sink: RecordingSink) {
  const ends: { commit(): void; fail(): void }[] = []
  sink.accepting = () =>
    new Promise((commit, reject) => ends.push({ commit, fail: () => reject(new Error('the disk is full')) }))
  return ends
}

const textOf = (event: InboundEvent): string => ('text' in event ? event.text : '')

describe('a webhook', () => {
  test('is set once somebody listens, with the secret, asking for what polling asks for, and nothing is dropped', async () => {
    const { server, url, adapter } = await receiving()
    const { host } = new URL(url)

    expect(adapter.health()).toMatchObject({ status: 'up', receives: `by webhook at ${host}, taken at ${host}` })
    expect(server.ledger.calls('setWebhook').map(({ params }) => params)).toEqual([
      { url, secret_token: SECRET, allowed_updates: [...ALLOWED_UPDATES] },
    ])
    expect(server.ledger.calls('getUpdates')).toEqual([])
    expect(server.ledger.calls('deleteWebhook')).toEqual([])
  })

  test.each([
    ['a wrong secret', { ...right, 'x-telegram-bot-api-secret-token': `${SECRET}x` }],
    ['an empty secret', { ...right, 'x-telegram-bot-api-secret-token': '' }],
    ['no secret', {}],
  ] as [string, Record<string, string>][])('F-K05: %s is turned away unread', async (_, headers) => {
    const { url, sink, adapter } = await receiving()
    const proof = adapter.health().lastProofAt
    const response = await post(url, update(1, 5), headers)

    expect([response.status, await response.text()]).toEqual([403, ''])
    expect([sink.offered, sink.dropped, adapter.health().lastProofAt]).toEqual([[], [], proof])
  })

  test('turns away what is no update', async () => {
    const { url, sink } = await receiving()
    const statuses = [
      (await post(url.replace('webhook', 'elsewhere'), update(1, 5))).status,
      (await fetch(url, { headers: right })).status,
      (await post(url, '{"update_id":')).status,
      (await post(url, `"${'x'.repeat(1024 * 1024)}"`).catch(() => ({ status: 413 }))).status,
      (await post(url, '[]')).status,
    ]
    expect(statuses).toEqual([404, 405, 400, 200, 200])
    expect([sink.offered, sink.dropped]).toEqual([[], ['update:too_long', 'malformed']])
  })

  test('what cannot be stored is answered with 503, said, and taken when it comes again', async () => {
    const { url, sink, adapter } = await receiving()
    sink.accepting = () => Promise.reject(new Error('the disk is full'))
    const refused = await post(url, update(1, 5))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect(adapter.health()).toMatchObject({
      status: 'down',
      detail: 'messages cannot be stored, Telegram keeps them for 24 hours: the disk is full',
    })
    sink.accepting = () => Promise.resolve()
    expect((await post(url, update(1, 5))).status).toBe(200)
    expect([sink.texts, adapter.health().status]).toEqual([['message 1'], 'up'])
  })

  test('an update that comes twice, be it at once over two connections, is taken once', async () => {
    const { url, sink } = await receiving()
    const answers = await Promise.all([post(url, update(1, 5)), post(url, update(1, 5))])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect((await post(url, update(1, 5))).status).toBe(200)
    expect(sink.texts).toEqual(['message 1'])
  })

  test('what a chat says is in order over any number of connections, and holds up no other chat', async () => {
    const { url, sink } = await receiving()
    const ends = held(sink)
    const first = post(url, update(1, 5))
    await sink.until(() => sink.offered.length === 1)
    const second = post(url, update(2, 5))
    const other = post(url, update(3, 6))
    await sink.until(() => sink.offered.length === 2)
    expect(sink.offered.map(textOf)).toEqual(['message 1', 'message 3'])
    ends[0]?.commit()
    await sink.until(() => sink.offered.length === 3)
    for (const end of ends) end.commit()

    expect((await Promise.all([first, second, other])).map(({ status }) => status)).toEqual([200, 200, 200])
    expect(sink.texts.filter((text) => text !== 'message 3')).toEqual(['message 1', 'message 2'])
  })

  test('nothing of a chat is stored before what came earlier and could not be', async () => {
    const { url, sink } = await receiving()
    const ends = held(sink)
    const first = post(url, update(1, 5))
    await sink.until(() => sink.offered.length === 1)
    const second = post(url, update(2, 5))
    const other = post(url, update(3, 6))
    await sink.until(() => sink.offered.length === 2)
    ends[0]?.fail()
    ends[1]?.commit()
    expect((await Promise.all([first, second, other])).map(({ status }) => status)).toEqual([503, 503, 200])
    expect(sink.texts).toEqual(['message 3'])
  })

  test('a crowd that writes at once is heard side by side, each in order', async () => {
    const { server, sink } = await receiving()
    const people = Array.from({ length: 20 }, (_, at) => server.world.addUser({ firstName: `P${at}` }))
    for (const part of [1, 2, 3, 4, 5]) for (const from of people) server.world.say({ from, text: `${part}` })
    await sink.committed(100)

    for (const { id } of people) {
      const said = sink.events.filter(({ address }) => address.chat === String(id)).map(textOf)
      expect(said).toEqual(['1', '2', '3', '4', '5'])
    }
  })

  test('that the platform does not take keeps the account down with the reason, and the port is free again', async () => {
    const { adapter, sink, signal, server, settings } = await open()
    const description = `Bad Request: bad webhook: Failed to resolve host: ${SECRET}`
    const body = { ok: false, error_code: 400, description }
    server.faults.add({ method: 'setWebhook', action: { kind: 'answer', when: 'before', status: 400, body } })
    await expect(adapter.start(sink, signal)).rejects.toMatchObject({
      name: 'ChannelDown',
      permanent: true,
      message: expect.stringMatching(
        /does not take the webhook: .*Failed to resolve host: \[token\]: check webhookUrl/,
      ),
    })
    expect(adapter.health()).toMatchObject({ status: 'down', detail: expect.stringContaining('check webhookUrl') })
    const second = adapterFor(server, { settings })
    closing.push(() => second.stop())
    await second.start(sink, signal)
    expect(second.health().status).toBe('up')
  })

  test('at a port that is taken keeps the account down, and sets nothing', async () => {
    const first = await receiving()
    const second = adapterFor(first.server, { settings: first.settings })
    await expect(second.start(new RecordingSink(), first.signal)).rejects.toThrow(
      /nothing can listen for Telegram's updates at 127.0.0.1:\d+: another program or account has this port/,
    )
    expect(first.server.ledger.calls('setWebhook')).toHaveLength(1)
  })

  test('a stop lets what is being stored be answered, and leaves the webhook to hold the rest for the next start', async () => {
    const { adapter, sink, signal, server } = await receiving()
    const ends = held(sink)
    const ada = server.world.addUser({ firstName: 'Ada' })
    const one = server.world.say({ from: ada, text: 'one' })
    await sink.until(() => sink.offered.length === 1)
    const stopped = adapter.stop()
    ends[0]?.commit()
    await stopped
    await server.ledger.confirmed(server.ledger.updateIdOf(one))
    server.world.say({ from: ada, text: 'two' })
    sink.accepting = () => Promise.resolve()
    await adapter.start(sink, signal)
    await sink.committed(2)

    expect(sink.texts).toEqual(['one', 'two'])
    expect(server.ledger.calls('deleteWebhook')).toEqual([])
  })

  test('a stop cuts off after 5 s what is never stored, and nothing is answered 200', async () => {
    const clock = new ManualClock()
    const { adapter, sink, url } = await receiving({ clock })
    held(sink)
    const answered = post(url, update(1, 5)).then(
      ({ status }) => status,
      () => 'cut off',
    )
    await sink.until(() => sink.offered.length === 1)
    const stopped = adapter.stop()
    await clock.advance(5000)
    await stopped
    expect(await answered).toBe('cut off')
  })

  test('from polling to a webhook and back, nothing of what is said in between is lost or doubled', async () => {
    const { server, settings, sink, signal } = await open()
    const ada = server.world.addUser({ firstName: 'Ada' })
    const say = (text: string) => server.world.say({ from: ada, text })
    for (const mode of ['polling', 'webhook', 'polling', 'webhook'] as const) {
      const count = sink.events.length
      say(`before ${mode} ${count}`)
      const adapter = adapterFor(server, { settings: { ...settings, mode } })
      await adapter.start(sink, signal)
      say(`by ${mode} ${count}`)
      await sink.committed(count + 2)
      await server.ledger.confirmed(server.ledger.updateIdOf(say(`last of ${mode}`)))
      await adapter.stop()
    }

    expect(sink.texts).toHaveLength(12)
    expect(new Set(sink.texts).size).toBe(10)
    const changes = ['setWebhook', 'deleteWebhook'].flatMap((method) => server.ledger.calls(method))
    expect(changes).toHaveLength(3)
    expect(changes.filter(({ params }) => 'drop_pending_updates' in params)).toEqual([])
  })

  test('F-J02: the secret is in no error, health or log', async () => {
    const logger = new RecordingLogger()
    const { adapter, server, url } = await receiving({ logger })
    await post(url, update(1, 5), { 'x-telegram-bot-api-secret-token': 'wrong' })
    server.world.bot().webhook.set({ url: `https://bot.test/${SECRET}`, secretToken: '', maxConnections: 1 })

    expect(JSON.stringify([adapter.health(), logger.lines])).not.toContain(SECRET)
    expect(logger.lines.map(({ sentence }) => sentence)).toContain(
      'Requests without the right secret were turned away.',
    )
  })
})

test('F-K05: the secret is compared in the same steps whatever is wrong with it', () => {
  const check = (given: string | undefined, secret = SECRET) =>
    isFromTelegram(secret, given === undefined ? {} : { 'x-telegram-bot-api-secret-token': given })

  expect(check(SECRET)).toBe(true)
  for (const wrong of [undefined, '', SECRET.slice(1), `${SECRET}0`, SECRET.toUpperCase(), 'x'.repeat(5000)]) {
    expect(check(wrong)).toBe(false)
  }
  expect(check('', '')).toBe(false)
})
