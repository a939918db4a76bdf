import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { redactToken } from '../../../adapters/telegram/connection/redact.ts'
import { parseAddress } from '../../../src/core/address.ts'
import { RecordingLogger } from './recording-logger.ts'
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
  test('tells who the bot is and that privacy mode hides group messages', async () => {
    const rig = await open()
    await rig.listen()

    expect(rig.adapter.health()).toMatchObject({
      identity: { id: '7000001', username: 'parley_bot', displayName: 'Parley' },
      hints: [expect.stringMatching(/privacy mode is on: .*\/setprivacy and re-add the bot/)],
    })
  })

  test('has no hint for a bot that reads everything', async () => {
    const rig = await open({ server: { bots: [{ token: '5:a', canReadAllGroupMessages: true }] } })
    await rig.listen()

    expect(rig.adapter.health().hints).toEqual([])
  })

  test('leaves an unset webhook alone', async () => {
    const rig = await open()
    await rig.listen()

    expect(rig.server.ledger.calls('deleteWebhook')).toEqual([])
  })

  test('removes a webhook and keeps what waits behind it', async () => {
    const rig = await open()
    const { world } = rig.server
    world.say({ from: world.addUser({ firstName: 'Ada' }), text: 'waiting' })
    world.bot().webhook.set({ url: 'https://example.org/hook', secretToken: '', maxConnections: 40 })
    await rig.listen()

    expect(rig.server.ledger.calls('deleteWebhook').map(({ params }) => params)).toEqual([{}])
    expect(rig.sink.texts).toEqual(['waiting'])
  })

  test('that fails again and again leaves nothing at the signal', async () => {
    const rig = await open()
    const adapter = adapterFor(rig.server, { apiRoot: `${rig.server.apiRoot}/nowhere` })
    for (let time = 0; time < 3; time++) await expect(adapter.start(rig.sink, rig.signal)).rejects.toThrow()

    expect(getEventListeners(rig.signal, 'abort')).toEqual([])
  })

  test('takes an apiRoot with a path', async () => {
    const rig = await open()
    const adapter = adapterFor(rig.server, { apiRoot: `${rig.server.apiRoot}/behind/a/proxy` })

    await expect(adapter.start(rig.sink, rig.signal)).rejects.toMatchObject({ name: 'ChannelDown' })
    expect(rig.server.ledger.calls('getMe')).toEqual([])
  })

  test('fails as down for now when the platform cannot be reached, and works on the next try', async () => {
    const rig = await open()
    rig.server.faults.add({ method: 'getMe', action: { kind: 'reset', when: 'before' } })

    await expect(rig.adapter.start(rig.sink, rig.signal)).rejects.toMatchObject({
      name: 'ChannelDown',
      permanent: false,
    })
    expect(rig.adapter.health().status).toBe('down')
    await rig.listen()
    expect(rig.adapter.health().status).not.toBe('down')
  })

  test('is refused a second time while it runs', async () => {
    const rig = await open()
    await rig.listen()

    await expect(rig.adapter.start(rig.sink, rig.signal)).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('the token', () => {
  const token = '7000001:AAH-canary_token'

  test.each([
    ['a reset', { kind: 'reset', when: 'before' }],
    ['an unreadable answer', { kind: 'answer', when: 'before', status: 200, body: '<html>' }],
    [
      'an answer that quotes the URL',
      {
        kind: 'answer',
        when: 'before',
        status: 400,
        body: { ok: false, error_code: 400, description: `no such thing: /bot${token}/getMe` },
      },
    ],
  ] as const)('F-J02: is in no error, health or log after %s', async (_, action) => {
    const logger = new RecordingLogger()
    const rig = await open({ logger, server: { bots: [{ token }] } })
    rig.server.faults.add({ times: Number.POSITIVE_INFINITY, action })
    const error: unknown = await rig.adapter.start(rig.sink, rig.signal).catch((thrown: unknown) => thrown)
    const part = { text: 'x', plain: 'x', markup: 'plain' as const }
    const address = parseAddress('telegram:direct:5')
    const receipt = await rig.adapter.send({ address, key: 'k', rendered: part }, rig.signal)
    const seen = [error, rig.adapter.health(), receipt, logger.lines].map((value) => everything(value)).join('\n')

    expect(error).toBeInstanceOf(Error)
    expect(seen).not.toContain('AAH-canary')
    expect(seen).toContain('Telegram')
  })

  test('redactToken masks the token in any form a URL gives it', () => {
    expect(redactToken('/bot5:a%3Ab/x and 5:a%3Ab and 5%3Aa%253Ab', '5:a%3Ab')).not.toMatch(/5:a|5%3Aa/)
  })
})

/** Messages, stacks and causes, all the way down. */
function everything(value: unknown): string {
  if (!(value instanceof Error)) return JSON.stringify(value)
  return `${value.message} ${value.stack} ${everything(value.cause ?? null)}`
}
