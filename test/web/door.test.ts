import { once } from 'node:events'
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { startRaw, startSink, testDoor, wanted } from './net.ts'

const text = (answer: unknown): string => String((answer as { readonly bytes: Buffer }).bytes)

describe('the door to the web', () => {
  it('asks as Parley, without cookies, and keeps none', async () => {
    const seen: unknown[] = []
    const sink = await startSink(({ headers }, response) => {
      seen.push(headers)
      response.writeHead(200, { 'set-cookie': 'a=b' }).end('hello')
    })
    const door = testDoor()
    await door.ask(`http://example.org:${sink.port}/`, wanted)
    expect(text(await door.ask(`http://example.org:${sink.port}/?q=1#part`, wanted))).toBe('hello')
    expect(seen).toMatchObject([{ 'user-agent': 'Parley' }, { 'user-agent': 'Parley' }])
    expect(seen).not.toContainEqual(expect.objectContaining({ cookie: expect.anything() }))
    expect(sink.asked).toEqual([`example.org:${sink.port}/`, `example.org:${sink.port}/?q=1`])
    expect(sink.connections()).toBe(2)
  })

  it('follows redirects within a site, www and all, and names one that leaves it', async () => {
    const sink = await startSink((request, response) => {
      const { host = '' } = request.headers
      if (host.startsWith('www.') && request.url === '/') response.end('arrived')
      else if (request.url === '/') response.writeHead(301, { location: `http://www.${host}/` }).end()
      else response.writeHead(307, { location: 'https://other.example.net/x?y=1#z' }).end()
    })
    const site = `http://example.org:${sink.port}`
    const answer = await testDoor().ask(site, wanted)
    expect(text(answer)).toBe('arrived')
    expect(answer.url.href).toBe(`http://www.example.org:${sink.port}/`)
    const left = await testDoor().ask(`${site}/away`, wanted)
    expect(left).toMatchObject({ kind: 'redirect', to: { href: 'https://other.example.net/x?y=1' } })
    expect(sink.connections()).toBe(3)
  })

  it('gives all challenges of a refusal', async () => {
    const sink = await startSink((_request, response) => {
      response.writeHead(401, { 'www-authenticate': ['Basic realm="x"', 'Bearer scope="read"'] }).end()
    })
    const answer = await testDoor().ask(`http://example.org:${sink.port}/`, wanted)
    expect(answer).toMatchObject({ headers: { 'www-authenticate': 'Basic realm="x", Bearer scope="read"' } })
  })

  it('sends the headers of a request to the first host alone', async () => {
    const keys: unknown[] = []
    const sink = await startSink((request, response) => {
      keys.push(request.headers['x-key'])
      if (request.url === '/') response.writeHead(302, { location: '/next' })
      response.end()
    })
    await testDoor().ask(`http://example.org:${sink.port}/`, { ...wanted, headers: { 'x-key': 'secret' } })
    expect(keys).toEqual(['secret', undefined])
  })

  it('gives up after five redirects of a hundred', async () => {
    const sink = await startSink(({ url = '' }, response) =>
      response.writeHead(302, { location: `/${Number(url.slice(1)) + 1}` }).end(),
    )
    await expect(testDoor().ask(`http://example.org:${sink.port}/0`, wanted)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('more than 5 times'),
    })
    expect(sink.asked).toHaveLength(6)
  })

  it('stops reading a page of a gigabyte at its limit', async () => {
    const chunk = Buffer.alloc(65_536, 'x')
    let sent = 0
    const sink = await startSink(async (_request, response) => {
      response.on('error', () => undefined).setMaxListeners(0)
      while (sent < 1e9 && !response.destroyed) {
        sent += chunk.length
        if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')])
      }
    })
    const answer = await testDoor({ most: 1_000_000 }).ask(`http://example.org:${sink.port}/`, wanted)
    expect(answer).toMatchObject({ kind: 'answer', cut: true, bytes: { length: 1_000_000 } })
    expect(sent).toBeLessThan(50_000_000)
  })

  it('stops decoding what a small body would become', async () => {
    const bomb = createGzip()
    const sink = await startSink((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      bomb.pipe(response)
      const zeros = Buffer.alloc(1_000_000)
      for (let at = 0; at < 200; at++) bomb.write(zeros)
      bomb.end()
    })
    const answer = await testDoor().ask(`http://example.org:${sink.port}/`, wanted)
    expect(answer).toMatchObject({ kind: 'answer', cut: true, bytes: { length: 5_000_000 } })
  })

  it.each([
    ['gzip', gzipSync('packed')],
    ['deflate', deflateSync('packed')],
    ['deflate', deflateRawSync('packed')],
    ['br', brotliCompressSync('packed')],
    ['identity', Buffer.from('packed')],
  ])('reads %s', async (encoding, body) => {
    const sink = await startSink((_request, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(body),
    )
    expect(text(await testDoor().ask(`http://example.org:${sink.port}/`, wanted))).toBe('packed')
  })

  it.each([
    ['constructor', 'in an encoding nobody asked for: constructor'],
    ['gzip, gzip', 'in an encoding nobody asked for'],
    ['gzip', 'not in the encoding it names'],
    ['deflate', 'not in the encoding it names'],
  ])('says so where a body is not in the encoding %s', async (encoding, words) => {
    const sink = await startSink((_request, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end('plain'),
    )
    const asked = testDoor().ask(`http://example.org:${sink.port}/`, wanted)
    await expect(asked).rejects.toThrow(words)
  })

  it('waits no longer than its time, whether the head or the body is slow', async () => {
    const sink = await startSink((request, response) => {
      if (request.url === '/head') return
      response.write('begun')
    })
    const door = testDoor({ withinMs: 200 })
    for (const path of ['/head', '/body'])
      await expect(door.ask(`http://example.org:${sink.port}${path}`, wanted)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('did not answer within 0.2 seconds'),
      })
  })

  it('waits no longer than its time for a name', async () => {
    const door = testDoor({ withinMs: 100, resolve: () => new Promise(() => undefined) })
    await expect(door.ask('http://example.org/', wanted)).rejects.toThrow('did not answer within 0.1 seconds')
  })

  it('ends at once when its turn does', async () => {
    const turn = new AbortController()
    const sink = await startSink(() => turn.abort())
    const asked = testDoor().ask(`http://example.org:${sink.port}/`, { signal: turn.signal })
    await expect(asked).rejects.toMatchObject({ code: 'aborted' })
    await expect(testDoor().ask('http://example.org/', { signal: turn.signal })).rejects.toMatchObject({
      code: 'aborted',
    })
  })

  it('says that a host refuses, speaks no TLS, or is not there', async () => {
    const sink = await startSink()
    const door = testDoor()
    await expect(door.ask('http://example.org:1/', wanted)).rejects.toThrow('refuses the connection')
    await expect(door.ask(`https://example.org:${sink.port}/`, wanted)).rejects.toThrow('does not speak TLS.')
    const missing = testDoor({ resolve: async () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })) })
    await expect(missing.ask('http://example.org/', wanted)).rejects.toThrow('There is no host example.org')
    const empty = testDoor({ resolve: async () => [] })
    await expect(empty.ask('http://example.org/', wanted)).rejects.toThrow('There is no host example.org')
  })

  it.each([
    ['a torn body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', 'broke off'],
    ['a torn chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\nhalf', 'broke off'],
    ['a torn head', 'HTTP/1.1 200 OK\r\ncontent-le', 'broke off'],
    ['no HTTP', '220 mail.example.org ESMTP\r\n', 'as a web server does'],
    ['a head without an end', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(40_000)}`, 'as a web server does'],
    ['a redirect to nowhere', 'HTTP/1.1 302 Found\r\nlocation: http://[\r\ncontent-length: 0\r\n\r\n', 'no address'],
  ])('says so of %s', async (_name, answer, words) => {
    const raw = await startRaw((socket) => socket.end(answer))
    await expect(testDoor().ask(`http://example.org:${raw.port}/`, wanted)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(words),
    })
  })
})
