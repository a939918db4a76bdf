import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { type ApiHouse, startApiHouse } from '../e2e/api-house.ts'
import { WHOLE } from '../sample.ts'
import { storeDigest } from './store-digest.ts'

const BAD_LOGINS = WHOLE ? 10_000 : 500
const IDLE = WHOLE ? 5_000 : 500
const AT_ONCE = 20

async function badLogins(house: ApiHouse, count: number): Promise<ReadonlyMap<number, number>> {
  const seen = new Map<number, number>()
  let left = count
  const one = async (): Promise<void> => {
    while (left-- > 0) {
      const authorization = `Bearer ply_${String(left).padStart(12, '0')}_${'a'.repeat(43)}`
      const { status, body } = await fetch(`http://127.0.0.1:${house.port()}/v1/sessions`, {
        headers: { authorization },
      })
      await body?.cancel()
      seen.set(status, (seen.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  return seen
}

it('F-K07: thousands of wrong tokens are refused, store nothing, and leave whoever has a right one alone', async () => {
  const house = await startApiHouse()
  const { headers } = await house.bearer({ namespace: 'api' })
  expect((await house.ask('/v1/sessions', { headers })).status).toBe(200)
  const before = storeDigest(house.config.store.path)
  const flood = badLogins(house, BAD_LOGINS)
  let over = false
  void flood.finally(() => {
    over = true
  })
  const statuses: number[] = []
  while (!over) statuses.push((await house.ask('/v1/sessions', { headers })).status)
  expect(statuses.length).toBeGreaterThan(10)
  expect(new Set(statuses)).toEqual(new Set([200]))
  const seen = await flood
  expect(seen.get(401)).toBe(20)
  expect((seen.get(401) ?? 0) + (seen.get(429) ?? 0)).toBe(BAD_LOGINS)
  expect(storeDigest(house.config.store.path)).toEqual(before)
  // Whoever guessed is no other than whoever has the right token here: the same address.
  expect((await house.ask('/v1/sessions', { headers })).status).toBe(200)
})

it('F-K07: thousands of connections that say nothing, or never end what they say, keep nobody out', async () => {
  const house = await startApiHouse()
  const { headers } = await house.bearer({ namespace: 'api' })
  const before = storeDigest(house.config.store.path)
  const words = [
    '',
    'GET /v1/sessions HTTP/1.1\r\nHost: ',
    'POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{',
  ]
  const sockets: Socket[] = []
  for (let at = 0; at < IDLE; at++) {
    const socket = connect({ host: '127.0.0.1', port: house.port() }).on('error', () => {})
    sockets.push(socket)
    await once(socket, 'connect')
    socket.write(words[at % words.length] ?? '')
    if (at % 250 === 249) expect((await house.ask('/v1/sessions', { headers })).status).toBe(200)
  }
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  expect((await house.ask('/v1/sessions', { headers })).status).toBe(200)
  expect(storeDigest(house.config.store.path)).toEqual(before)
})

it('F-K07: of bodies that come slowly from nobody few are kept, and a hook of GitHub is heard meanwhile', async () => {
  const secret = 'a secret of the hook'
  const hook = { name: 'git', secret: new Secret(secret), signature: 'github', sessions: [] } as const
  const house = await startApiHouse({ http: { hooks: [hook] } })
  const head = `POST /v1/hooks/git HTTP/1.1\r\nHost: 127.0.0.1:${house.port()}\r\nContent-Length: 1048576\r\n\r\n`
  const sockets: Socket[] = []
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  let open = 0
  for (let at = 0; at < 100; at++) {
    const socket = connect({ host: '127.0.0.1', port: house.port() }).on('error', () => {})
    sockets.push(socket)
    await once(socket, 'connect')
    open++
    socket.once('close', () => open--)
    socket.write(`${head}${'x'.repeat(1_000)}`)
  }
  const signature = `sha256=${createHmac('sha256', secret).update('{}').digest('hex')}`
  const headers = { 'x-hub-signature-256': signature }
  expect((await house.ask('/v1/hooks/git', { headers, body: '{}' })).status).toBe(202)
  await vi.waitFor(() => expect(open).toBeLessThanOrEqual(32))
})
