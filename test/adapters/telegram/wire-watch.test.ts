import type { Server } from 'node:http'
import { createServer as createHttpServer, Agent as HttpAgent, get as httpGet } from 'node:http'
import { createServer as createHttpsServer, Agent as HttpsAgent, get as httpsGet } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { watchWire } from '../../../adapters/telegram/connection/wire-watch.ts'

/** TLS without certificates: both sides know the key. */
const key = Buffer.alloc(32, 7)
const psk = { ciphers: 'PSK', maxVersion: 'TLSv1.2' as const }
const serverTls = { ...psk, pskCallback: () => key }
const clientTls = { ...psk, pskCallback: () => ({ psk: key, identity: 'test' }), checkServerIdentity: () => undefined }

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

async function listen(server: Server): Promise<number> {
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function pool<Pool extends HttpAgent>(agent: Pool): Pool {
  cleanups.push(() => agent.destroy())
  return agent
}

describe('watchWire', () => {
  test('plain: nothing leaves before the connection stands, and a lost answer is told', async () => {
    const port = await listen(createHttpServer((_, response) => response.destroy()))
    const wire = watchWire(pool(new HttpAgent()))
    const request = httpGet({ host: '127.0.0.1', port, agent: wire.agent })
    expect(wire.bytesMayHaveLeft()).toBe(false)
    await new Promise((resolve) => request.once('error', resolve))

    expect(wire.bytesMayHaveLeft()).toBe(true)
  })

  test('a further request of a call, by which the library follows a redirect, goes to the same origin alone', async () => {
    const asked: string[] = []
    const own = await listen(createHttpServer((_, response) => response.writeHead(307).end()))
    const other = await listen(
      createHttpServer((request, response) => {
        asked.push(request.url ?? '')
        response.end()
      }),
    )
    const wire = watchWire(pool(new HttpAgent()))
    const get = (port: number, path: string): Promise<unknown> =>
      new Promise((resolve) => {
        const request = httpGet({ host: '127.0.0.1', port, path, agent: wire.agent })
        request.once('error', resolve)
        request.once('response', (response) => resolve(response.resume().statusCode))
      })
    wire.begin()
    expect(await get(own, '/bot7:token/getMe')).toBe(307)
    expect(await get(own, '/again')).toBe(307)
    expect(await get(other, '/bot7:token/getMe')).toMatchObject({
      message: `it redirects to http://127.0.0.1:${other}, which is not followed; set apiRoot to the address of the server itself`,
    })
    expect([asked, wire.answer()]).toEqual([[], undefined])
    // Another call may be for another server.
    wire.begin()
    expect(await get(other, '/')).toBe(200)
  })

  test('TLS: nothing leaves before the handshake is done, and a lost answer is told', async () => {
    const port = await listen(createHttpsServer(serverTls, (_, response) => response.destroy()))
    const wire = watchWire(pool(new HttpsAgent(clientTls)))
    const request = httpsGet({ host: '127.0.0.1', port, agent: wire.agent })
    const connected = new Promise<boolean>((resolve) => {
      request.once('socket', (socket) => socket.once('connect', () => resolve(wire.bytesMayHaveLeft())))
    })
    const failed = new Promise((resolve) => request.once('error', resolve))

    expect(await connected).toBe(false)
    await failed
    expect(wire.bytesMayHaveLeft()).toBe(true)
  })

  test.each([
    [
      'plain',
      () => createHttpServer((_, response) => response.end('ok')),
      () => new HttpAgent({ keepAlive: true }),
      httpGet,
    ],
    [
      'TLS',
      () => createHttpsServer(serverTls, (_, response) => response.end('ok')),
      () => new HttpsAgent({ ...clientTls, keepAlive: true }),
      httpsGet,
    ],
  ] as const)('%s: bytes on a reused connection may leave at once', async (_, createServer, createPool, get) => {
    const port = await listen(createServer())
    const shared = pool(createPool())
    const sockets = []
    for (const expected of [false, true]) {
      const wire = watchWire(shared)
      const request = get({ host: '127.0.0.1', port, agent: wire.agent })
      sockets.push(
        await new Promise((resolve) => {
          request.once('socket', (socket) => {
            expect(wire.bytesMayHaveLeft()).toBe(expected)
            request.once('response', (response) => response.resume().once('end', () => setImmediate(resolve, socket)))
          })
        }),
      )
    }

    expect(sockets[1]).toBe(sockets[0])
  })

  test.each(['before it is made', 'while it waits for an answer'])('a request cut %s ends', async (when) => {
    const port = await listen(createHttpServer(() => {}))
    const wire = watchWire(pool(new HttpAgent()))
    if (when === 'before it is made') wire.cut()
    const request = httpGet({ host: '127.0.0.1', port, agent: wire.agent })
    const failed = new Promise((resolve) => request.once('error', resolve))
    if (when !== 'before it is made') request.once('finish', () => wire.cut())
    expect(await failed).toBeInstanceOf(Error)
    expect(request.destroyed).toBe(true)
  })

  test('onWritten comes once, when the request is out', async () => {
    const port = await listen(createHttpServer((_, response) => response.end('ok')))
    let written = 0
    const wire = watchWire(pool(new HttpAgent()))
    wire.begin(() => written++)
    const request = httpGet({ host: '127.0.0.1', port, agent: wire.agent })
    expect(written).toBe(0)
    await new Promise((resolve) => request.once('response', (response) => response.resume().once('end', resolve)))

    expect(written).toBe(1)
  })

  test('used again, it knows nothing of the request before and cuts only its own', async () => {
    const port = await listen(createHttpServer((_, response) => response.end('ok')))
    const wire = watchWire(pool(new HttpAgent({ keepAlive: true })))
    wire.begin()
    const first = httpGet({ host: '127.0.0.1', port, agent: wire.agent })
    await new Promise((resolve) => first.once('response', (response) => response.resume().once('end', resolve)))
    wire.begin()

    expect(wire.bytesMayHaveLeft()).toBe(false)
    wire.cut()
    const second = httpGet({ host: '127.0.0.1', port, agent: wire.agent })
    expect(await new Promise((resolve) => second.once('error', resolve))).toBeInstanceOf(Error)
    expect([first.destroyed, second.destroyed]).toEqual([true, true])
    expect(first.errored).toBe(null)
  })
})
