import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { TelegramServer } from '../../../src/rehearsal/telegram/server.ts'
import { clientOf, refusal, rehearse } from './rehearsal.ts'

interface Posted {
  readonly headers: IncomingMessage['headers']
  readonly text: string
  answer(status: number, headers?: Record<string, string>): void
}

/** A receiver that answers nothing by itself. */
async function receiver() {
  const posted: Posted[] = []
  const waiters = new Set<() => void>()
  const server: Server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { message } = JSON.parse(body) as { message: { text: string } }
    const answer: Posted['answer'] = (status, headers = {}) => response.writeHead(status, headers).end()
    posted.push({ headers: request.headers, text: message.text, answer })
    for (const wake of waiters) wake()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    posted,
    async next(count: number): Promise<Posted> {
      while (posted.length < count) {
        await new Promise<void>((resolve) => waiters.add(resolve))
      }
      return posted[count - 1] as Posted
    },
  }
}

const waited = (server: TelegramServer) => server.world.bot().queue.pending

describe('a webhook', () => {
  test('is posted to with its secret, and an update is confirmed by a 2xx alone', async () => {
    const server = await rehearse({ redelivery: { waitMs: () => 1 } })
    const { url, next } = await receiver()
    await clientOf(server)('setWebhook', { url, secret_token: 'a-secret_1' })
    const ada = server.world.addUser({ firstName: 'Ada' })
    const said = server.world.say({ from: ada, text: 'hello' })

    const first = await next(1)
    expect(first.headers['x-telegram-bot-api-secret-token']).toBe('a-secret_1')
    first.answer(503)
    const second = await next(2)
    expect([second.text, waited(server)]).toEqual(['hello', 1])
    expect(await clientOf(server)('getWebhookInfo')).toMatchObject({
      pending_update_count: 1,
      last_error_message: 'Wrong response from the webhook: 503 Service Unavailable',
    })
    second.answer(204)
    await server.ledger.confirmed(server.ledger.updateIdOf(said))
    expect(waited(server)).toBe(0)
  })

  test('is given what one chat says in order and what several say side by side', async () => {
    const server = await rehearse({ redelivery: { waitMs: () => 1 } })
    const { url, next, posted } = await receiver()
    await clientOf(server)('setWebhook', { url, max_connections: 2 })
    const people = ['Ada', 'Bob', 'Cy'].map((firstName) => server.world.addUser({ firstName }))
    for (const from of people) for (const part of [1, 2]) server.world.say({ from, text: `${from.first_name} ${part}` })

    await next(2)
    expect(posted.map(({ text }) => text)).toEqual(['Ada 1', 'Bob 1'])
    posted[0]?.answer(500)
    posted[1]?.answer(200)
    for (let count = 3; count <= 7; count++) (await next(count)).answer(200)
    await server.ledger.collect(6, (entry) => entry.kind === 'confirmed')
    const of = (name: string) => posted.map(({ text }) => text).filter((text) => text.startsWith(name))
    expect([of('Ada'), of('Bob'), of('Cy')]).toEqual([
      ['Ada 1', 'Ada 1', 'Ada 2'],
      ['Bob 1', 'Bob 2'],
      ['Cy 1', 'Cy 2'],
    ])
  })

  test('waits as long as an answer asks for, else longer each time', async () => {
    const asked: number[][] = []
    const waitMs = (failures: number, askedMs: number) => {
      asked.push([failures, askedMs])
      return 1
    }
    const server = await rehearse({ redelivery: { waitMs } })
    const { url, next } = await receiver()
    await clientOf(server)('setWebhook', { url })
    server.world.say({ from: server.world.addUser({ firstName: 'Ada' }), text: 'hello' })
    ;(await next(1)).answer(500)
    ;(await next(2)).answer(503, { 'retry-after': '5' })
    await next(3)
    expect(asked).toEqual([
      [1, 0],
      [2, 5000],
    ])
  })

  test('that is deleted gives what it had not confirmed to the next poll, and an answer after that changes nothing', async () => {
    const server = await rehearse()
    const call = clientOf(server)
    const { url, next } = await receiver()
    await call('setWebhook', { url })
    server.world.say({ from: server.world.addUser({ firstName: 'Ada' }), text: 'hello' })
    const first = await next(1)
    await call('deleteWebhook')
    first.answer(200)

    expect(await call('getUpdates')).toMatchObject([{ message: { text: 'hello' } }])
  })

  test.each([
    [{ url: 'http://bot.test/hook' }, '400 Bad Request: bad webhook: An HTTPS URL must be provided for webhook'],
    [
      { url: 'https://bot.test:8080/hook' },
      '400 Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443',
    ],
    [
      { url: 'https://bot.test/hook', secret_token: 'ä' },
      '400 Bad Request: secret token contains unallowed characters',
    ],
    [{ url: 'https://bot.test/hook', secret_token: 'x'.repeat(257) }, '400 Bad Request: secret token is too long'],
    [{ url: 'https://bot.test:8443/hook', secret_token: 'x'.repeat(256) }, 'accepted'],
  ])('%j is taken as the platform does', async (params, answer) => {
    expect(await refusal(await rehearse(), 'setWebhook', params)).toBe(answer)
  })
})
