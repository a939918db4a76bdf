import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import type { ChatOperator, CompletionWatch } from '../../src/core/operate-chat.ts'
import { ChatStream } from '../../src/http/chat-stream.ts'
import { startLocalApi } from '../../src/http/local-api.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { movedClock } from '../agent/moved-clock.ts'
import { localFolder } from '../fakes/local-folder.ts'
import { fakeOperator } from '../fakes/operator.ts'

const BEAT_MS = 10_000

/** A stream whose answer is written by the test. */
async function rig() {
  const clock = movedClock()
  const watched = deferred<CompletionWatch>()
  const ended = deferred<string>()
  const chat: ChatOperator = {
    models: () => [],
    async answer(_, watch) {
      watched.resolve(watch)
      return { traceId: 'tr_1', text: await ended.promise, usage: { input: 1, output: 1 } }
    },
  }
  const socketPath = join(await localFolder(), 'parley.sock')
  const api = await startLocalApi({ socketPath, service: fakeOperator({ chat }), logger: silentLogger, clock })
  onTestFinished(() => api.close())
  const call = request({ socketPath, path: '/v1/chat/completions', method: 'POST', agent: false })
  call.end(JSON.stringify({ model: 'main', stream: true, messages: [{ role: 'user', content: 'hi' }] }))
  onTestFinished(() => void call.destroy())
  const response = once(call, 'response').then(([one]) => (one as IncomingMessage).setEncoding('utf8'))
  return { clock, call, response, watch: await watched.promise, end: ended.resolve }
}

it('a stream of which nothing was written yet begins with its first beat, and beats from then on', async () => {
  const { clock, response, end } = await rig()
  clock.advance(BEAT_MS)
  const reading = (await response)[Symbol.asyncIterator]()
  let text = ''
  const until = async (part: string) => {
    while (!text.includes(part)) text += (await reading.next()).value
  }
  await until(':\n\n')
  expect(text).toContain('"role":"assistant"')
  text = ''
  clock.advance(BEAT_MS)
  await until(':\n\n')
  end('')
  await until('[DONE]')
  expect(text).toContain('"finish_reason":"stop"')
  expect(clock.pending()).toBe(0)
})

it('a reader that is slow is given the same in fewer chunks', async () => {
  const { response, watch, end } = await rig()
  const text = 'x'.repeat(8_000_000)
  const pieces = 400
  for (let at = 1; at <= pieces; at++) watch.grew(text.slice(0, (text.length / pieces) * at))
  end(text)
  let read = ''
  for await (const piece of await response) read += piece
  const chunks = read.split('\n\n').filter((line) => line.startsWith('data: {'))
  const words = chunks.map((line) => JSON.parse(line.slice('data: '.length)).choices[0].delta.content ?? '')
  expect(words.join('')).toBe(text)
  expect(chunks.length).toBeLessThan(pieces / 2)
})

it('F-D03: for a reader that has stopped reading no words wait before the end, and it has 15 s twice to take that', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  onTestFinished(() => void client.destroy())
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  const of = { id: 'chatcmpl-1', created: 1, model: 'main' }
  const stream = new ChatStream({ response, headers: new Headers(), clock: movedClock(), of, usage: false })
  const text = 'x'.repeat(20_000_000)
  for (let length = 100_000; length < text.length; length += 100_000) stream.grew(text.slice(0, length))
  expect(response.writableLength).toBeLessThan(200_000)
  stream.end({ traceId: 'tr_1', text, usage: { input: 1, output: 1 } })
  expect(response.socket?.timeout).toBe(15_000)
})

it('a reader that leaves aborts the answer, also before its first word', async () => {
  const { call, response, watch, end } = await rig()
  const hungUp = expect(response).rejects.toThrow('socket hang up')
  call.destroy()
  if (!watch.left.aborted) await once(watch.left, 'abort')
  await hungUp
  end('')
})
