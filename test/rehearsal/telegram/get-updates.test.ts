import { describe, expect, test } from 'vitest'
import { clientOf, raw, rehearse } from './rehearsal.ts'

interface Update {
  update_id: number
  message?: { text: string }
}

describe('getUpdates', () => {
  test('gives unconfirmed updates again and drops what lies below the offset', async () => {
    const server = await rehearse({ bots: [{ token: '5:a', firstUpdateId: 3_000_000_000 }] })
    const call = clientOf(server)
    const ada = server.world.addUser({ firstName: 'Ada' })
    const [, two] = ['one', 'two', 'three'].map((text) => server.world.say({ from: ada, text }))

    const first = (await call('getUpdates', { limit: 2 })) as Update[]
    const again = (await call('getUpdates', { offset: 0 })) as Update[]
    const rest = (await call('getUpdates', { offset: 3_000_000_002 })) as Update[]

    expect(first.map((update) => update.message?.text)).toEqual(['one', 'two'])
    expect(again.map((update) => update.update_id)).toEqual([3_000_000_000, 3_000_000_001, 3_000_000_002])
    expect(rest.map((update) => update.message?.text)).toEqual(['three'])
    expect(server.ledger.updateIdOf(two ?? {})).toBe(3_000_000_001)
    await server.ledger.confirmed(3_000_000_001)
    expect(server.ledger.count((entry) => entry.kind === 'confirmed')).toBe(2)
    expect(server.ledger.count((entry) => entry.kind === 'delivered' && entry.times === 2)).toBe(3)
  })

  test('with a negative offset starts from the end and forgets the rest', async () => {
    const server = await rehearse()
    const call = clientOf(server)
    const ada = server.world.addUser({ firstName: 'Ada' })
    for (const text of ['one', 'two', 'three']) server.world.say({ from: ada, text })

    const last = (await call('getUpdates', { offset: -1 })) as Update[]
    const now = (await call('getUpdates', {})) as Update[]

    expect(last.map((update) => update.message?.text)).toEqual(['three'])
    expect(now).toEqual(last)
  })

  test('holds until there is an update and wakes at once', async () => {
    const server = await rehearse()
    const ada = server.world.addUser({ firstName: 'Ada' })

    const polled = clientOf(server)('getUpdates', { timeout: 50 }) as Promise<Update[]>
    await server.ledger.listening()
    server.world.say({ from: ada, text: 'hello' })

    expect((await polled)[0]?.message?.text).toBe('hello')
  })

  test('answers an empty list when the timeout passes', async () => {
    const server = await rehearse()
    const started = Date.now()

    expect(await raw(server, 'getUpdates', { timeout: 1 })).toMatchObject({ status: 200, body: { result: [] } })
    expect(Date.now() - started).toBeGreaterThanOrEqual(990)
  })

  test('ends the first poll with 409 when a second one comes', async () => {
    const server = await rehearse()
    const ada = server.world.addUser({ firstName: 'Ada' })

    const first = raw(server, 'getUpdates', { timeout: 50 })
    await server.ledger.listening()
    const second = raw(server, 'getUpdates', { timeout: 50 })

    expect(await first).toMatchObject({
      status: 409,
      body: { ok: false, error_code: 409, description: expect.stringContaining('terminated by other getUpdates') },
    })
    server.world.say({ from: ada, text: 'hello' })
    expect((await second).body.result).toHaveLength(1)
  })

  test('is refused with 409 while a webhook is set, and getWebhookInfo counts what waits', async () => {
    const server = await rehearse()
    const call = clientOf(server)
    const ada = server.world.addUser({ firstName: 'Ada' })
    await call('setWebhook', { url: 'https://example.org/hook' })
    server.world.say({ from: ada, text: 'hello' })

    await expect(call('getUpdates')).rejects.toMatchObject({ response: { error_code: 409 } })
    expect(await call('getWebhookInfo')).toMatchObject({ pending_update_count: 1, url: 'https://example.org/hook' })
    await call('deleteWebhook')
    expect(await call('getUpdates')).toHaveLength(1)
  })

  test('keeps an update for the next poll when the poller hung up', async () => {
    const server = await rehearse()
    const ada = server.world.addUser({ firstName: 'Ada' })
    const hangUp = new AbortController()
    const url = `${server.apiRoot}/bot${server.token}/getUpdates?timeout=50`
    const polled = fetch(url, { signal: hangUp.signal }).catch((error: Error) => error.name)
    await server.ledger.listening()
    hangUp.abort()
    expect(await polled).toBe('AbortError')
    await server.ledger.nextCall('getUpdates')

    server.world.say({ from: ada, text: 'hello' })

    expect((await raw(server, 'getUpdates')).body.result).toHaveLength(1)
    expect(server.ledger.count((entry) => entry.kind === 'delivered')).toBe(1)
  })

  test('remembers allowed_updates and withholds the others', async () => {
    const server = await rehearse()
    const call = clientOf(server)
    const ada = server.world.addUser({ firstName: 'Ada' })
    await call('getUpdates', { allowed_updates: ['edited_message'] })

    const said = server.world.say({ from: ada, text: 'hello' })
    server.world.edit({ chat: ada, message: said, text: 'hello!' })

    expect(await call('getUpdates')).toMatchObject([
      { edited_message: { text: 'hello!', edit_date: expect.any(Number) } },
    ])
    expect(server.ledger.count((entry) => entry.kind === 'withheld' && entry.reason === 'not_allowed')).toBe(1)
  })

  test('hands out updates whose ids jumped lower although the old offset lies above them', async () => {
    const server = await rehearse({ bots: [{ token: '5:a', firstUpdateId: 900_000 }] })
    const call = clientOf(server)
    const ada = server.world.addUser({ firstName: 'Ada' })
    server.world.say({ from: ada, text: 'before' })
    expect(() => server.world.setNextUpdateId(7)).toThrow('wait unconfirmed')
    await call('getUpdates', { offset: 900_001 })

    server.world.setNextUpdateId(7)
    server.world.say({ from: ada, text: 'after' })

    expect(await call('getUpdates', { offset: 900_001 })).toMatchObject([{ update_id: 7, message: { text: 'after' } }])
    expect(await call('getUpdates', { offset: 8 })).toEqual([])
  })

  test('hands out raw updates byte for byte', async () => {
    const server = await rehearse()
    server.world.raw({ update: '{"update_id":9223372036854775807,"message":{"text":7}}' })
    server.world.raw({ update: { poll: null } })

    const response = await fetch(`${server.apiRoot}/bot${server.token}/getUpdates`)

    expect(await response.text()).toBe(
      '{"ok":true,"result":[{"update_id":9223372036854775807,"message":{"text":7}},{"update_id":100002,"poll":null}]}',
    )
  })
})
