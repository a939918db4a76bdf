import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { socketPathOf } from '../../src/cli/socket-path.ts'
import { sampleSession } from '../fakes/operator.ts'
import { type Rig, rig } from './rig.ts'

/** Every command that asks the daemon. */
const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['why', '42'],
  ['sessions', 'list'],
  ['sessions', 'show', sampleSession.id],
  ['sessions', 'history', sampleSession.id],
  ['sessions', 'patch', sampleSession.id, '--send', 'deny'],
  ['sessions', 'rename', sampleSession.id, 'Lunch'],
  ['sessions', 'truncate', sampleSession.id, '3'],
  ['send', sampleSession.id, 'hello'],
  ['people', 'list'],
  ['people', 'link', 'ada', 'telegram:1'],
  ['people', 'unlink', 'telegram:1'],
  ['access', 'list'],
  ['access', 'admit', 'k7f3d'],
  ['schedule', 'list'],
  ['schedule', 'next', 'morning'],
  ['schedule', 'run', 'morning'],
  ['token', 'create', 'web:alice'],
  ['token', 'list'],
  ['config', 'reload'],
]

/** Something else on the daemon's socket. */
async function withImpostor(answer: (socket: Socket) => void): Promise<Rig> {
  const parley = await rig()
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => answer(socket))
  })
  server.listen(socketPathOf(parley.loaded.config))
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return parley
}

/** A server that is well, and answers everything else with this JSON. */
async function withAnswers(body: string): Promise<Rig> {
  const parley = await rig()
  const server = createHttpServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(request.url === '/healthz' ? '{"status":"ok"}' : body)
  })
  server.listen(socketPathOf(parley.loaded.config))
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return parley
}

const ONE_LINE = /^(?!Unexpected)[^\n]+\n$/

describe('an answer that is not the daemon’s', () => {
  test.each(COMMANDS.map((argv) => [argv] as const))('%j exits 1 with one line and prints nothing', async (argv) => {
    for (const body of ['{}', '[[]]', '[{}]', 'null', '7', '"ok"', '{"status":"ok"}', '<html></html>', '']) {
      const parley = await withAnswers(body)
      expect([body, await parley.run(...argv)]).toEqual([body, 1])
      expect(parley.err()).toMatch(ONE_LINE)
      expect(parley.err()).toContain('no Parley daemon')
      expect(parley.out()).toBe('')
    }
  })

  test('a status with a channel, or a list with a session, that lacks what is shown is none either', async () => {
    for (const argv of [['status'], ['sessions', 'list'], ['schedule', 'next', 'morning']]) {
      const parley = await withAnswers('{"version":"1","channels":[{}],"sessions":[{"id":7}],"total":1}')
      expect([await parley.run(...argv), parley.out()]).toEqual([1, ''])
      expect(parley.err()).toContain('no Parley daemon')
    }
    const times = await withAnswers('[1e300]')
    expect([await times.run('schedule', 'next', 'morning', '--json'), times.out()]).toEqual([1, ''])
  })

  const http = (...lines: string[]): string => lines.join('\r\n')
  test.each([
    ['garbage', '\u0000\u0001\u0002\u0003\r\n\r\n'],
    ['a page', http('HTTP/1.1 200 OK', 'content-type: text/html', 'connection: close', '', '<html>hi</html>')],
    ['an error page', http('HTTP/1.1 502 Bad Gateway', 'connection: close', '', '<html>no</html>')],
    ['another place', http('HTTP/1.1 302 Found', 'location: /login', 'content-length: 0', '', '')],
    ['another protocol', http('HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'upgrade: x', '', '')],
    ['endless headers', http('HTTP/1.1 200 OK', `x: ${'x'.repeat(100_000)}`, '', '')],
    ['half an answer', http('HTTP/1.1 200 OK', 'content-length: 1000', '', '{"status"')],
    ['half a chunk', http('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', 'ff', '{"status"')],
    ['nothing', ''],
  ])('%s exits 1 with one line', async (_what, text) => {
    const parley = await withImpostor((socket) => socket.end(text))
    expect(await parley.run('status')).toBe(1)
    expect(parley.err()).toMatch(ONE_LINE)
    expect(parley.out()).toBe('')
  })

  test('one without an end is given up', async () => {
    const parley = await withImpostor((socket) => {
      const piece = Buffer.alloc(1024 * 1024, ' ')
      const send = (): void => {
        while (socket.writable && socket.write(piece)) {
          // Until the system takes no more for now.
        }
      }
      socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n')
      socket.on('drain', send)
      send()
    })
    expect(await parley.run('status')).toBe(1)
    expect(parley.err()).toBe("The answer is too long to be a daemon's.\n")
  })
})
