import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { download } from '../../../adapters/shared/download.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { deferred } from '../../../src/rehearsal/deferred.ts'

async function serve(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function from(url: string, more: Partial<Parameters<typeof download>[0]> = {}) {
  const { origin } = new URL(url)
  const signal = new AbortController().signal
  return download({ url, isOurs: (to) => to.origin === origin, most: 100, clock: systemClock, signal, ...more })
}

describe('a download', () => {
  it('F-G07: ends at its bound, whatever the head of the answer says of the size', async () => {
    const root = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'image/png' })
      for (let piece = 0; piece < 20; piece++) response.write(Buffer.alloc(10))
      // It never ends by itself.
    })
    expect(await from(root)).toEqual({ kind: 'refused', reason: 'larger than 100 B' })
  })

  it('F-G07: that breaks off in the middle was not fetched', async () => {
    const root = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '50' })
      response.write(Buffer.alloc(10), () => response.destroy())
    })
    expect(await from(root)).toMatchObject({ kind: 'failed' })
  })

  it('F-I09: is followed to no other host, and a secret goes to the first one alone', async () => {
    const seen: (string | undefined)[] = []
    const other = await serve(({ headers }, response) => {
      seen.push(headers.authorization)
      response.end('other')
    })
    const root = await serve((_, response) => response.writeHead(302, { location: `${other}/x` }).end())
    const headers = { authorization: 'Bearer secret' }
    expect(await from(root, { headers })).toEqual({ kind: 'refused', reason: 'it lies outside of the platform' })
    expect(seen).toEqual([])
    const both = await from(root, { headers, isOurs: () => true })
    expect(both).toMatchObject({ kind: 'fetched' })
    expect(seen).toEqual([undefined])
  })

  it.each([200, 404, 500])(
    'F-G07: that is not read, for an answer of %i, leaves no connection open',
    async (status) => {
      const closed = deferred<void>()
      const root = await serve((_, response) => {
        response.on('close', () => closed.resolve())
        response.writeHead(status, { 'content-length': '1000000' })
        // It never ends by itself.
        response.write(Buffer.alloc(10))
      })
      expect((await from(root)).kind).not.toBe('fetched')
      await closed.promise
    },
  )

  it('F-G07: that leads in a circle ends', async () => {
    const root = await serve((_, response) => response.writeHead(302, { location: '/again' }).end())
    expect(await from(root)).toMatchObject({ kind: 'refused' })
  })

  it('F-G07: that hangs ends with its signal', async () => {
    const stopped = new AbortController()
    const root = await serve(() => stopped.abort())
    expect(await from(root, { signal: stopped.signal })).toEqual({ kind: 'failed', reason: 'stopped' })
  })
})
