import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { createAnthropic } from '../../src/agent/models/anthropic.ts'
import { createOpenAi } from '../../src/agent/models/openai.ts'
import { systemClock } from '../../src/core/clock.ts'
import { textContent } from '../../src/core/content.ts'
import type { ModelRequest } from '../../src/core/model.ts'
import { noMedia } from '../fakes/media.ts'
import { never } from './turns.ts'

const CHUNK = 1_000_000
/** More than is taken of any answer. */
const CHUNKS = 300

const hello: ModelRequest = {
  ...{ system: '', tools: [], maxTokens: 4096 },
  messages: [{ role: 'user', content: textContent('hello') }],
}

interface Flood {
  readonly status: number
  readonly type: string
  readonly begin: string
  readonly piece: Buffer
}

/** Answers each request with a flood. Returns how many of its pieces were taken. */
async function startFlood({ status, type, begin, piece }: Flood) {
  let taken = 0
  function* pieces() {
    yield begin
    for (; taken < CHUNKS; taken++) yield piece
  }
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': type })
    const source = Readable.from(pieces(), { objectMode: false, highWaterMark: CHUNK })
    response.on('close', () => source.destroy())
    source.pipe(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, taken: () => taken }
}

const words = Buffer.alloc(CHUNK, 'x')
const comments = Buffer.alloc(CHUNK, `: ${'x'.repeat(997)}\n`)
const pings = Buffer.alloc(CHUNK, `: ${'x'.repeat(996)}\n\n`)
const STREAM = 'text/event-stream'
const FLOODS: readonly (readonly [string, Flood])[] = [
  ['an error', { status: 500, type: 'application/json', begin: '{"error":{"message":"', piece: words }],
  ['a page', { status: 404, type: 'text/html', begin: '<html>', piece: words }],
  ['a line of a stream', { status: 200, type: STREAM, begin: 'data: ', piece: words }],
  ['an event of a stream', { status: 200, type: STREAM, begin: '', piece: comments }],
  ['a stream', { status: 200, type: STREAM, begin: '', piece: pings }],
]
const given = { apiKey: 'key', model: 'some-model', clock: systemClock, media: noMedia }

for (const [client, create] of [
  ['OpenAI', createOpenAi],
  ['Anthropic', createAnthropic],
] as const)
  it.each(FLOODS)(`${client}: %s without end is left before it fills the memory`, async (_what, flood) => {
    const { baseUrl, taken } = await startFlood(flood)
    const model = await create({ ...given, baseUrl })
    const asked = async () => {
      for await (const _event of model.stream(hello, never())) expect.unreachable('The call was answered.')
    }
    await expect(asked()).rejects.toMatchObject({ code: expect.stringMatching(/^model_/) })
    expect(taken()).toBeLessThan(CHUNKS)
  })
