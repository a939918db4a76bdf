import { describe, expect, test } from 'vitest'
import type { FaultAction } from '../../../src/rehearsal/faults.ts'
import type { TelegramServer } from '../../../src/rehearsal/telegram/server.ts'
import { raw, rehearse } from './rehearsal.ts'

/** A server with one open private chat, and a send into it that answers its status and text, or "failed". */
async function withChat(options: { now?: () => number } = {}) {
  const server = await rehearse(options)
  const { id } = server.world.addUser({ firstName: 'Ada' })
  server.world.say({ from: id, text: 'hello' })
  const send = async (text: string) => {
    try {
      const body = JSON.stringify({ chat_id: id, text })
      const url = `${server.apiRoot}/bot${server.token}/sendMessage`
      const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      return `${response.status} ${await response.text()}`
    } catch {
      return 'failed'
    }
  }
  return { server, send }
}

function sentTexts(server: TelegramServer): (string | undefined)[] {
  return server.world.messages(1001, { by: 'bot' }).map(({ message }) => message.text)
}

describe('faults', () => {
  test.each<[string, FaultAction, string[]]>([
    ['drop before the effect', { kind: 'drop', when: 'before' }, []],
    ['drop after the effect', { kind: 'drop', when: 'after' }, ['x']],
    ['reset before the effect', { kind: 'reset', when: 'before' }, []],
    ['reset after the effect', { kind: 'reset', when: 'after' }, ['x']],
  ])('%s fails the call and keeps to its moment, once', async (_name, action, expected) => {
    const { server, send } = await withChat()
    const fault = server.faults.add({ method: 'sendMessage', action })

    expect(await send('x')).toBe('failed')
    expect(sentTexts(server)).toEqual(expected)
    expect(await send('again')).toContain('200 ')
    expect(fault.hits).toBe(1)
    expect(server.ledger.calls('sendMessage').map((call) => [call.fault, call.answer?.ok])).toEqual([
      [action.kind, expected.length > 0 ? true : undefined],
      [undefined, true],
    ])
  })

  test('hold before the effect: nothing happens until released', async () => {
    const { server, send } = await withChat()
    const fault = server.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'before' } })

    const answer = send('x')
    await fault.reached
    expect(sentTexts(server)).toEqual([])
    fault.release()

    expect(await answer).toContain('200 ')
    expect(sentTexts(server)).toEqual(['x'])
  })

  test('hold after the effect: the message stands, the ledger knows it, the answer is awaited or dropped', async () => {
    const { server, send } = await withChat()
    const fault = server.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'after' } })

    const answer = send('x')
    await fault.reached
    expect(sentTexts(server)).toEqual(['x'])
    expect(await server.ledger.nextFromBot('sent')).toMatchObject({ text: 'x', botId: 7000001 })
    fault.release('drop')

    expect(await answer).toBe('failed')
  })

  test('close ends what is held without its effect', async () => {
    const { server, send } = await withChat()
    const fault = server.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'before' } })
    const answer = send('x')
    const polled = raw(server, 'getUpdates', { offset: -1 }).then(() =>
      raw(server, 'getUpdates', { offset: 100_002, timeout: 50 }).catch(() => 'failed'),
    )
    await Promise.all([fault.reached, server.ledger.listening()])

    await server.close()
    await server.close()

    expect(await answer).toBe('failed')
    expect(await polled).toBe('failed')
    expect(sentTexts(server)).toEqual([])
    await expect(fetch(server.apiRoot)).rejects.toThrow()
  })

  test('a poll whose caller hung up at a hold takes nothing with it', async () => {
    const { server } = await withChat()
    const fault = server.faults.add({ method: 'getUpdates', action: { kind: 'hold', when: 'before' } })
    const hangUp = new AbortController()
    const url = `${server.apiRoot}/bot${server.token}/getUpdates?timeout=50`
    const polled = fetch(url, { signal: hangUp.signal }).catch((error: Error) => error.name)
    await fault.reached
    hangUp.abort()
    expect(await polled).toBe('AbortError')
    // The next call tells that the server has seen the first connection end.
    const next = raw(server, 'getUpdates', { offset: 100_002, timeout: 50 })
    await server.ledger.listening()
    fault.release()
    await server.ledger.nextCall('getUpdates', { where: (call) => call.fault === 'hold' })

    server.world.say({ from: 1001, text: 'again' })

    expect((await next).body.result).toHaveLength(1)
  })

  test('answer with any status instead of the effect or after it', async () => {
    const { server, send } = await withChat()
    const html = '<html><body>502 Bad Gateway</body></html>'
    server.faults.add({ action: { kind: 'answer', when: 'before', status: 200, body: html } })
    server.faults.add({ action: { kind: 'answer', when: 'after', status: 502, body: { ok: false } } })

    expect(await send('one')).toBe(`200 ${html}`)
    expect(await send('two')).toBe('502 {"ok":false}')
    expect(sentTexts(server)).toEqual(['two'])
  })

  test('truncate and trickle shape the bytes of the true answer', async () => {
    const { server, send } = await withChat()
    server.faults.add({ action: { kind: 'truncate', bytes: 20 } })
    server.faults.add({ action: { kind: 'trickle', everyMs: 1, bytes: 40 } })

    expect(await send('x')).toBe('200 {"ok":true,"result":')
    expect(await send('ä😀')).toMatch(/^200 \{"ok":true,.*"text":"ä😀"\}\}$/)
    expect(sentTexts(server)).toEqual(['x', 'ä😀'])
  })

  test('delay answers later', async () => {
    const { server, send } = await withChat()
    server.faults.add({ action: { kind: 'delay', when: 'after', ms: 60 } })
    const started = Date.now()

    expect(await send('x')).toContain('200 ')
    expect(Date.now() - started).toBeGreaterThanOrEqual(59)
  })

  test('hits only the calls it is for, as often as set', async () => {
    const { server, send } = await withChat()
    const answer = { kind: 'answer', when: 'before', status: 500, body: {} } as const
    const where = (call: { params: Record<string, unknown> }) => String(call.params.text).startsWith('bad')
    const fault = server.faults.add({ method: 'sendMessage', where, times: 2, action: answer })

    const statuses = []
    for (const text of ['good', 'bad', 'bad', 'bad']) statuses.push((await send(text)).slice(0, 3))

    expect(statuses).toEqual(['200', '500', '500', '200'])
    expect((await raw(server, 'getMe')).status).toBe(200)
    expect(fault.hits).toBe(2)
  })

  test('a forced 409 lasts for its period or until removed', async () => {
    let now = 0
    const { server } = await withChat({ now: () => now })
    const body = { ok: false, error_code: 409, description: 'Conflict: terminated by other getUpdates request' }
    const conflict = { kind: 'answer', when: 'before', status: 409, body } as const
    const times = Number.POSITIVE_INFINITY
    server.faults.add({ method: 'getUpdates', times, forMs: 120_000, action: conflict })
    const status = async () => (await raw(server, 'getUpdates')).status

    expect([await status(), await status()]).toEqual([409, 409])
    now = 119_999
    expect(await status()).toBe(409)
    now = 120_000
    expect(await status()).toBe(200)
    const fault = server.faults.add({ method: 'getUpdates', times, action: conflict })
    expect(await status()).toBe(409)
    fault.remove()
    expect(await status()).toBe(200)
  })
})
