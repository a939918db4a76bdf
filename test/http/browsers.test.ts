import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, it } from 'vitest'
import { SCOPES } from '../../src/core/token.ts'
import { type ApiHouse, ask, startApiHouse } from '../e2e/api-house.ts'
import { sample } from '../sample.ts'
import { storeDigest } from './store-digest.ts'

const APP = 'https://app.example.org'

async function start(): Promise<ApiHouse & { readonly owner: Readonly<Record<string, string>> }> {
  const house = await startApiHouse()
  const { headers } = await house.bearer({ owner: true })
  return {
    ...house,
    get daemon() {
      return house.daemon
    },
    get config() {
      return house.config
    },
    owner: headers,
  }
}

it('F-K02: of every Host and Origin only the allowed pairs pass, whatever token there is', async () => {
  const { port, owner, config } = await start()
  const own = `127.0.0.1:${port()}`
  const hosts = [
    own,
    `localhost:${port()}`,
    'evil.org',
    `evil.org:${port()}`,
    'localhost',
    `127.0.0.1.evil.org:${port()}`,
    `x.localhost:${port()}`,
    `127.0.0.1:${port() + 1}`,
    `[::1]:${port()}`,
  ]
  const origins = [
    undefined,
    APP,
    'null',
    `http://${own}`,
    'https://evil.org',
    'http://app.example.org',
    `${APP}:8443`,
    'https://x.app.example.org',
    `${APP}.evil.org`,
    `${APP}/`,
    'file://',
    'chrome-extension://x',
  ]
  const goodHosts = new Set([hosts[0], hosts[1], hosts[8]])
  const before = storeDigest(config.store.path)
  const pairs = hosts.flatMap((host) => origins.map((origin) => ({ host, origin })))
  for (const { host, origin } of [{ host: own, origin: APP }, { host: 'evil.org', origin: APP }, ...sample(pairs, 3)]) {
    const allowed = goodHosts.has(host) && (origin === undefined || origin === APP || origin === `http://${host}`)
    const headers = { ...owner, host, ...(origin === undefined ? {} : { origin }) }
    const answer = await ask(port(), '/v1/sessions', { headers })
    expect([host, origin, answer.status]).toEqual([host, origin, allowed ? 200 : 403])
    const readable = allowed && origin === APP ? APP : undefined
    expect([host, origin, answer.headers['access-control-allow-origin']]).toEqual([host, origin, readable])
    // A cache that keeps the answer for one page gives it to no other.
    expect([host, origin, answer.headers.vary]).toEqual([host, origin, 'Origin'])
    const asked = await ask(port(), '/v1/sessions', {
      method: 'OPTIONS',
      headers: { host, ...(origin === undefined ? {} : { origin }), 'access-control-request-method': 'POST' },
    })
    expect([host, origin, asked.status === 204]).toEqual([host, origin, readable !== undefined])
  }
  expect(storeDigest(config.store.path)).toEqual(before)
})

it('F-K02: what a browser asks beforehand is answered exactly, without credentials and alike for every path', async () => {
  const { ask: send } = await start()
  const before = (path: string) =>
    send(path, { method: 'OPTIONS', headers: { origin: APP, 'access-control-request-method': 'POST' } })
  const { status, headers, text } = await before('/v1/sessions')
  expect([status, text]).toEqual([204, ''])
  expect(headers).toMatchObject({
    'access-control-allow-origin': APP,
    'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
    // A client of OpenAI sends headers of its own from a page too, and reads from others whether it may try again.
    'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, *',
    vary: 'Origin',
  })
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
  expect(headers).not.toHaveProperty('access-control-allow-private-network')
  const { date: _, ...same } = headers
  const nothing = await before('/v1/nothing')
  expect({ ...nothing.headers, date: '' }).toEqual({ ...same, date: '' })
})

it('F-K02: a page that is allowed reads streams as it reads every answer, and no other page does', async () => {
  const house = await startApiHouse()
  const { headers } = await house.bearer({ owner: true, scopes: SCOPES })
  const body = JSON.stringify({ model: 'main', stream: true, messages: [{ role: 'user', content: 'hi' }] })
  for (const { path, method, sent } of [
    { path: '/v1/events', method: 'GET', sent: undefined },
    { path: '/v1/chat/completions', method: 'POST', sent: body },
    { path: '/v1/status', method: 'GET', sent: undefined },
  ])
    for (const origin of [APP, undefined]) {
      const call = request({
        ...{ host: '127.0.0.1', port: house.port(), path, method, agent: false },
        headers: { ...headers, ...(origin === undefined ? {} : { origin }) },
      })
      call.end(sent)
      const [response] = (await once(call, 'response')) as [IncomingMessage]
      response.destroy()
      expect([path, response.statusCode, response.headers]).toMatchObject([path, 200, { vary: 'Origin' }])
      expect([path, response.headers['access-control-allow-origin']]).toEqual([path, origin])
      // A client of OpenAI reads from them whether, and when, it may try again.
      const shown = origin && 'Idempotent-Replayed, Retry-After, X-Request-Id, X-Should-Retry'
      expect([path, response.headers['access-control-expose-headers']]).toEqual([path, shown])
    }
})

it('F-K03: a form, a fetch without cors and an image of another site are refused and do nothing', async () => {
  const { ask: send, config } = await start()
  const before = storeDigest(config.store.path)
  const body = '{"text":"hello","x":"="}'
  const path = '/v1/sessions/cli:desk/messages'
  const site = { 'sec-fetch-site': 'cross-site', cookie: 'token=x' }
  const form = { ...site, origin: 'https://evil.org', 'content-type': 'text/plain' }
  for (const headers of [
    form,
    { ...form, origin: 'null' },
    { ...form, 'content-type': 'application/x-www-form-urlencoded' },
  ])
    expect((await send(path, { method: 'POST', headers, body })).status).toBe(403)
  // A browser sends no Origin with an image, and no token.
  const image = await send('/v1/status', {
    headers: { ...site, 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' },
  })
  expect([image.status, image.headers['cross-origin-resource-policy']]).toEqual([401, 'same-origin'])
  // Without an Origin the token is missing still.
  expect((await send(path, { method: 'POST', headers: site, body })).status).toBe(401)
  expect(storeDigest(config.store.path)).toEqual(before)
})

it('F-K04: a token in an address is refused, opens nothing and is in no log', async () => {
  const { ask: send, owner, log, config } = await start()
  const token = (owner.authorization ?? '').slice('Bearer '.length)
  const before = storeDigest(config.store.path)
  for (const path of [
    `/v1/sessions?token=${token}`,
    `/v1/sessions?access_token=${token}`,
    `/v1/sessions?TOKEN=x`,
    `/v1/sessions/${token}`,
    `/${token}`,
    `/v1/sessions?x=${encodeURIComponent(token)}`,
  ]) {
    const { status, text } = await send(path, { headers: owner })
    expect([path, status]).toEqual([path, 400])
    expect(text).not.toContain(token.slice(20))
  }
  const lines = JSON.stringify(log.lines, (_, value: unknown) => (value instanceof Error ? value.stack : value))
  expect(lines).not.toContain(token.slice(20))
  expect(storeDigest(config.store.path)).toEqual(before)
})

it('F-K03: every answer tells a browser to guess, keep, run and frame nothing', async () => {
  const { ask: send, owner } = await start()
  for (const { path, headers, method } of [
    { path: '/healthz', headers: {} },
    { path: '/v1/sessions', headers: owner },
    { path: '/v1/sessions', headers: {} },
    { path: '/v1/nothing', headers: owner },
    { path: '/v1/sessions', headers: { ...owner, host: 'evil.org' } },
    { path: '/v1/sessions/x/name', headers: { ...owner, 'content-length': '9000000' }, method: 'POST' },
  ]) {
    const answer = await send(path, { headers, ...(method === undefined ? {} : { method }) })
    expect([path, answer.headers]).toEqual([
      path,
      expect.objectContaining({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'content-type': 'application/json',
      }),
    ])
  }
})
