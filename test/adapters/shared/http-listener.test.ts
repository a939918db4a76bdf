import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { HttpAnswer, HttpRequest } from '../../../adapters/shared/http-exchange.ts'
import { HttpListener } from '../../../adapters/shared/http-listener.ts'
import { deferred } from '../../../src/core/deferred.ts'
import { freePort } from '../free-port.ts'
import { ManualClock } from '../telegram/manual-clock.ts'
import { RecordingLogger } from '../telegram/recording-logger.ts'

interface Doors {
  admits?(headers: Record<string, unknown>): boolean
  handle?(request: HttpRequest): Promise<HttpAnswer>
}

async function open({ port, requestMs, ...doors }: Doors & { port?: number; requestMs?: number } = {}) {
  const listen = { host: '127.0.0.1', port: port ?? (await freePort()), path: '/in' }
  const [clock, logger] = [new ManualClock(), new RecordingLogger()]
  const handled: string[] = []
  const listener = new HttpListener(
    {
      what: "Nobody's events",
      listen,
      account: 'default',
      clock,
      logger,
      mostBytes: 1024 * 1024,
      ...(requestMs !== undefined && { requestMs }),
    },
    {
      handle: async ({ body }) => {
        handled.push(body.toString())
        return { status: 200 }
      },
      ...doors,
    },
  )
  onTestFinished(() => listener.kill())
  const url = `http://127.0.0.1:${listen.port}/in`
  const post = (body: string, headers = {}) => fetch(url, { method: 'POST', body, headers })
  return { listener, listen, url, post, handled, clock, logger }
}

describe('the HTTP listener', () => {
  test('hands a body over as it came, and answers what it is told', async () => {
    const { listener, post, handled } = await open()
    await listener.start()
    const response = await post('grüße 🙂')

    expect([response.status, await response.text(), handled]).toEqual([200, '', ['grüße 🙂']])
  })

  test('turns a body over 1 MB away by its length alone, before any of it is there', async () => {
    const { listener, url, handled } = await open()
    await listener.start()
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sending = request(url, { method: 'POST', headers: { 'content-length': 1024 * 1024 + 1 } }, (response) =>
        resolve(response.statusCode),
      )
      sending.once('error', reject)
      sending.flushHeaders()
    })
    expect([status, handled]).toEqual([413, []])
  })

  test('reads no more than 1 MB of a body that does not say how long it is', async () => {
    const { listener, listen, handled } = await open()
    await listener.start()
    const socket = connect(listen.port, '127.0.0.1')
    const answer = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())))
    socket.on('error', () => {})
    socket.write('POST /in HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n')
    const piece = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`
    for (let sent = 0; sent < 17; sent++) socket.write(piece)

    expect(await answer).toMatch(/^HTTP\/1\.1 413 .*connection: close/is)
    expect(handled).toEqual([])
    socket.destroy()
  })

  test('reads nothing of what its headers do not admit', async () => {
    const { listener, url, handled } = await open({ admits: ({ key }) => key === 'right' })
    await listener.start()
    const ask = (key: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const sending = request(url, { method: 'POST', headers: { key, 'content-length': 4 } }, (response) =>
          resolve(response.statusCode),
        )
        sending.once('error', reject)
        if (key === 'right') sending.end('body')
        else sending.flushHeaders()
      })

    expect([await ask('wrong'), await ask('right'), handled]).toEqual([403, 200, ['body']])
  })

  test('says at once that requests were turned away, and once an interval how many more', async () => {
    const { listener, post, clock, logger } = await open({ admits: () => false })
    await listener.start()
    const told = () => logger.lines.map(({ fields }) => fields?.requests)
    for (let asked = 0; asked < 5; asked++) expect((await post('x')).status).toBe(403)
    expect(told()).toEqual([1])
    await clock.advance(600_000)
    expect(told()).toEqual([1, 4])
    await clock.advance(600_000)
    await post('x')
    expect(told()).toEqual([1, 4, 1])
  })

  test('keeps a connection for the next request of who is let in, and closes it for who is not', async () => {
    const { listener, listen } = await open({ admits: ({ key }) => key === 'right' })
    await listener.start()
    const kept = async (key: string, path = '/in') => {
      const socket = connect(listen.port, '127.0.0.1')
      const answer = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())))
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nkey: ${key}\r\ncontent-length: 1\r\n\r\nx`)
      const [, connection] = /^connection: (.*)$/im.exec(await answer) ?? []
      socket.destroy()
      return connection
    }
    expect([await kept('right'), await kept('wrong'), await kept('right', '/out')]).toEqual([
      'keep-alive',
      'close',
      'close',
    ])
  })

  test('that stops lets what is being stored be answered, and takes nothing more', async () => {
    let store = (): void => {}
    let began = (): void => {}
    const begun = new Promise<void>((resolve) => (began = resolve))
    const handle = () => {
      began()
      return new Promise<HttpAnswer>((resolve) => (store = () => resolve({ status: 200 })))
    }
    const { listener, post } = await open({ handle })
    await listener.start()
    const answered = post('x')
    await begun
    const stopped = listener.stop()
    await expect(post('y')).rejects.toThrow()
    store()
    expect((await answered).status).toBe(200)
    await stopped
  })

  test('F-A20: waits at its stop for nothing that was asked for behind another request on a connection that is gone', async () => {
    const [begun, stored] = [deferred(), deferred()]
    const handle = async () => {
      begun.resolve()
      await stored.promise
      return { status: 200 }
    }
    const { listener, listen } = await open({ handle })
    await listener.start()
    const socket = connect({ host: listen.host, port: listen.port })
    const posted = ['POST /in HTTP/1.1', 'Host: a', 'Content-Length: 1', '', 'x'].join('\r\n')
    socket.write([posted, ...Array.from({ length: 12 }, () => 'GET /in HTTP/1.1\r\nHost: a\r\n\r\n')].join(''))
    await begun.promise
    socket.destroy()
    await once(socket, 'close')
    stored.resolve()
    await listener.stop()
  })

  test('takes one of the requests that come at once on a connection, and cuts it off', async () => {
    const { listener, listen, handled } = await open()
    await listener.start()
    const socket = connect({ host: listen.host, port: listen.port })
    socket.on('error', () => {}).resume()
    socket.write('POST /in HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx'.repeat(900))
    await new Promise((resolve) => socket.once('close', resolve))
    await listener.stop()
    expect(handled.length).toBeLessThanOrEqual(1)
  })

  test('cannot be had where somebody else listens, and says what to do', async () => {
    const first = await open()
    await first.listener.start()
    const second = await open({ port: first.listen.port })
    await expect(second.listener.start()).rejects.toMatchObject({
      name: 'ChannelDown',
      permanent: false,
      message: `nothing can listen for Nobody's events at 127.0.0.1:${first.listen.port}: another program or account has this port: set listen.port, to one of its own for each account`,
    })
  })

  test('cuts a sender off who does not end its headers', async () => {
    const { listener, listen } = await open({ requestMs: 200 })
    await listener.start()
    const socket = connect(listen.port, '127.0.0.1')
    const ended = new Promise<string>((resolve) => {
      let said = ''
      socket.on('data', (bytes) => (said += bytes.toString()))
      socket.once('close', () => resolve(said))
    })
    socket.on('error', () => {})
    socket.write('POST /in HTTP/1.1\r\nhost: x\r\n')
    expect(await ended).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('F-K07: takes what is let in while strangers hold as many connections as there may be', async () => {
    const { listener, listen, post, handled } = await open({ admits: ({ 'x-secret': secret }) => secret === 'right' })
    await listener.start()
    const kept = await post('kept open', { 'x-secret': 'right' })
    expect(await kept.text()).toBe('')
    const strangers = Array.from({ length: 600 }, (_, at) => {
      const socket = connect(listen.port, listen.host)
      socket.on('error', () => {})
      if (at % 2 === 0) socket.write('POST /in HTTP/1.1\r\nhost: x\r\n')
      return new Promise<void>((resolve) => {
        socket.once('connect', resolve)
        socket.once('close', () => resolve())
      })
    })
    await Promise.all(strangers)
    for (const word of ['one', 'two', 'three'])
      expect((await post(word, { 'x-secret': 'right', connection: 'close' })).status).toBe(200)

    expect(handled).toEqual(['kept open', 'one', 'two', 'three'])
  })
})
