import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { DOORS } from '../../src/core/doors.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { ApiService, WhyReport } from '../../src/core/operator.ts'
import type { ServerLimits } from '../../src/http/limited-server.ts'
import { startLocalApi } from '../../src/http/local-api.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { localFolder } from '../fakes/local-folder.ts'
import { type FakeOperator, fakeOperator, sampleSession, sampleWhy } from '../fakes/operator.ts'

interface Served {
  readonly socketPath: string
  readonly service: FakeOperator
}

async function serve(limits: Partial<ServerLimits> = {}, given: Partial<ApiService> = {}): Promise<Served> {
  const socketPath = join(await localFolder(), 'parley.sock')
  const service = fakeOperator(given)
  const api = await startLocalApi({ socketPath, service, logger: silentLogger, limits })
  onTestFinished(() => api.close())
  return { socketPath, service }
}

/** A connection that says this and then nothing; `ended` resolves with all it was told once it is closed. */
function say(socketPath: string, text: string): { readonly socket: Socket; readonly ended: Promise<string> } {
  const socket = connect({ path: socketPath, allowHalfOpen: true })
  socket.write(text)
  let told = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    told += chunk
  })
  socket.on('end', () => socket.end())
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return { socket, ended: new Promise((resolve) => socket.on('close', () => resolve(told))) }
}

const PATH = `/v1/sessions/${encodeURIComponent(sampleSession.id)}/name`
const head = (...lines: string[]): string => `${[...lines, 'Host: local', '', ''].join('\r\n')}`
const TOO_LONG = `{"error":{"code":"too_long","message":"The body has more than ${DOORS.api.bytes} bytes."}}`

describe('a body', () => {
  test.each(['POST', 'PATCH', 'GET', 'DELETE'])(
    'F-G03: %s of more than 1 MB is refused before a byte of it',
    async (method) => {
      const { socketPath, service } = await serve()
      const { ended } = say(socketPath, head(`${method} ${PATH} HTTP/1.1`, `Content-Length: ${DOORS.api.bytes + 1}`))
      const told = await ended
      expect(told).toMatch(/^HTTP\/1\.1 413 /)
      expect(told).toContain(TOO_LONG)
      expect(service.asked).toEqual([])
    },
  )

  test('F-G03: whoever asks first whether to send it is told no at once, and yes to a shorter one', async () => {
    const { socketPath } = await serve()
    const asking = (length: number): string =>
      head(`POST ${PATH} HTTP/1.1`, 'Expect: 100-continue', `Content-Length: ${length}`)
    const told = await say(socketPath, asking(DOORS.api.bytes + 1)).ended
    expect(told).toMatch(/^HTTP\/1\.1 413 /)
    expect(told).not.toContain('100 Continue')
    const { socket } = say(socketPath, asking(10))
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 Continue/)
  })

  test('of 1 MB is read', async () => {
    const { socketPath, service } = await serve({}, {})
    const call = request({ socketPath, path: PATH, method: 'POST', agent: false })
    const title = 'x'.repeat(DOORS.api.bytes - '{"title":""}'.length)
    call.end(JSON.stringify({ title }))
    const [response] = await once(call, 'response')
    response.resume()
    expect(response.statusCode).toBe(200)
    expect(service.asked).toHaveLength(1)
  })

  const piece = 'x'.repeat(65_536)
  const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`
  const chunked = (method: string): string => head(`${method} ${PATH} HTTP/1.1`, 'Transfer-Encoding: chunked')

  test('F-G03: in chunks is refused as soon as more than 1 MB has come', async () => {
    const { socketPath, service } = await serve()
    const { socket, ended } = say(socketPath, chunked('POST'))
    for (let sent = 0; sent <= DOORS.api.bytes; sent += piece.length) socket.write(chunk)
    const told = await ended
    expect(told).toMatch(/^HTTP\/1\.1 413 /)
    expect(told).toContain(TOO_LONG)
    expect(service.asked).toEqual([])
  })

  test.each(['POST', 'GET'])('F-G03: %s in chunks without an end is cut', async (method) => {
    const { socketPath } = await serve()
    const { socket, ended } = say(socketPath, chunked(method))
    const send = (): void => {
      while (socket.writable && socket.write(chunk)) {
        // Until the system takes no more for now.
      }
    }
    socket.on('drain', send).once('connect', send)
    await ended
    expect(socket.bytesWritten).toBeLessThan(8 * DOORS.api.bytes)
  })

  test('that is too long is not sent by the client, which says so', async () => {
    const { socketPath, service } = await serve()
    const daemon = await connectLocal(socketPath)
    await expect(daemon?.sessions.rename(sampleSession.id, 'x'.repeat(DOORS.api.bytes))).rejects.toMatchObject({
      code: 'too_long',
      message: expect.stringContaining('too long'),
    })
    expect(service.asked).toEqual([])
  })
})

describe('a request to the door of OpenAI that is refused before any route is known', () => {
  const CHAT = '/v1/chat/completions'
  const post = (...lines: string[]) => head(`POST ${CHAT} HTTP/1.1`, ...lines)
  const LONG = DOORS.chat.bytes + 1
  const told = (code: string) => ({
    error: { message: expect.any(String), type: 'invalid_request_error', code, param: null },
  })

  test.each([
    ['whose body is too long', post(`Content-Length: ${LONG}`), 413, told('too_long'), 'false'],
    ['whose headers are too long', post(`X-Long: ${'x'.repeat(20_000)}`), 431, told('too_long'), 'false'],
    [
      'whose address is too long',
      head(`POST ${CHAT}?x=${'x'.repeat(20_000)} HTTP/1.1`),
      431,
      told('too_long'),
      'false',
    ],
    ['that expects much', post('Expect: much'), 417, told('invalid_value'), 'false'],
    ['whose chunks are none', `${post('Transfer-Encoding: chunked')}zz`, 400, told('invalid_value'), 'false'],
    ['that never ends', post('Content-Length: 10'), 408, told('invalid_value'), 'true'],
  ])('%s is answered in its words', async (_, text, ...[status, body, again]) => {
    const { socketPath } = await serve({ headers: 400, request: 400 })
    const answer = await say(socketPath, text).ended
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(answer).toContain(`\r\nx-should-retry: ${again}\r\n`)
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toEqual(body)
  })

  test('F-G03: whose client sends all of its body before it reads anything is answered, and reset far behind', async () => {
    const { socketPath } = await serve()
    const whole = connect({ path: socketPath })
    onTestFinished(() => void whole.destroy())
    whole.pause()
    whole.write(post(`Content-Length: ${LONG}`))
    await new Promise<void>((resolve, reject) => {
      whole.once('error', reject)
      whole.write(Buffer.alloc(LONG, 'x'), () => resolve())
    })
    whole.setEncoding('utf8')
    let answer = ''
    for await (const piece of whole) answer += piece
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)

    const { socket, ended } = say(socketPath, post(`Content-Length: ${10 * LONG}`))
    const more = Buffer.alloc(65_536, 'x')
    const send = (): void => {
      while (socket.writable && socket.write(more)) {
        // Until the system takes no more for now.
      }
    }
    socket.removeAllListeners('end')
    socket.on('drain', send)
    send()
    expect(await ended).toMatch(/^HTTP\/1\.1 413 /)
    expect(socket.bytesWritten).toBeGreaterThan(DOORS.chat.bytes)
    expect(socket.bytesWritten).toBeLessThan(4 * DOORS.chat.bytes)
  })
})

describe('a connection', () => {
  const SHORT = { headers: 200, request: 200, idle: 200 }

  test.each([
    ['says nothing', ''],
    ['never ends its headers', 'GET /healthz HTTP/1.1\r\nHost: '],
    ['never ends its body', head(`POST ${PATH} HTTP/1.1`, 'Content-Length: 10')],
    ['never ends its chunks', `${head(`POST ${PATH} HTTP/1.1`, 'Transfer-Encoding: chunked')}5\r\nhello\r\n`],
    ['asks nothing more', head('GET /healthz HTTP/1.1')],
  ])('F-K07: that %s is closed', async (_what, text) => {
    const { socketPath } = await serve(SHORT)
    await say(socketPath, text).ended
  })

  test('that waits for its answer is left alone, however long that takes', async () => {
    const asked = deferred<void>()
    const answer = deferred<readonly WhyReport[]>()
    const why = (): Promise<readonly WhyReport[]> => {
      asked.resolve()
      return answer.promise
    }
    const { socketPath } = await serve(SHORT, { why })
    const daemon = await connectLocal(socketPath)
    const waiting = daemon?.why('42')
    await asked.promise
    // Two that came later have been given up meanwhile.
    await say(socketPath, '').ended
    await say(socketPath, '').ended
    answer.resolve([sampleWhy])
    expect(await waiting).toEqual([sampleWhy])
  })

  test('that waits without a sign for longer than any post does is closed', async () => {
    const { socketPath } = await serve({ silent: 100 }, { why: () => new Promise(() => {}) })
    await say(socketPath, head('GET /v1/why?message=1 HTTP/1.1')).ended
  })

  test('beyond the most there may be is closed at once', async () => {
    const { socketPath } = await serve({ connections: 1 }, { why: () => new Promise(() => {}) })
    const { socket } = say(socketPath, head('GET /healthz HTTP/1.1'))
    await once(socket, 'data')
    await say(socketPath, head('GET /healthz HTTP/1.1')).ended
    expect(socket.destroyed).toBe(false)
    const asked = connectLocal(socketPath)
    await expect(asked).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('more programs'),
    })
  })
})
