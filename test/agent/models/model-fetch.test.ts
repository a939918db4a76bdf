import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAnthropic } from '../../../src/agent/models/anthropic.ts'
import { createOpenAi } from '../../../src/agent/models/openai.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { textContent } from '../../../src/core/content.ts'
import type { Model, ModelEvent, ModelRequest } from '../../../src/core/model.ts'
import { noMedia } from '../../fakes/media.ts'
import { never } from '../turns.ts'

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

interface Heard {
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** Answers each request with these pieces, each in a packet of its own. */
async function startServer(type: string | undefined, pieces: readonly string[]) {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    const body: Buffer[] = []
    for await (const piece of request) body.push(piece)
    heard.push({ headers: request.headers, body: Buffer.concat(body).toString('utf8') })
    response.writeHead(200, type === undefined ? {} : { 'content-type': type })
    for (const piece of pieces) await new Promise((resolve) => response.write(piece, resolve))
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
}

async function collect(model: Model, request = hello): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream(request, never())) events.push(event)
  return events
}

const finish = (delta: object) => JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: 'stop' }] })
const SAID = `data: ${finish({ content: 'Hello' })}\n\ndata: [DONE]\n\n`
const MESSAGE = {
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'some-model', stop_reason: 'tool_use', stop_sequence: null },
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
    { type: 'text', text: 'Looking.' },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } },
  ],
  usage: { input_tokens: 12, output_tokens: 34 },
}
const events = [
  { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
]
const STREAMED = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

const SECRETS = ['custom', 'admin', 'token', 'other-key', 'org-1', 'project-1', 'evil', 'stainless']

describe('what leaves', () => {
  afterEach(() => vi.unstubAllEnvs())

  const stubAll = () => {
    const custom =
      'authorization: Bearer custom\nx-api-key: custom\nx-custom: evil\nanthropic-beta: evil\nuser-agent: evil'
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', `${custom}\naccept: evil/x`)
    vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', `${custom}\nanthropic-version: evil\naccept: evil/x`)
    vi.stubEnv('OPENAI_API_KEY', 'other-key')
    vi.stubEnv('OPENAI_ADMIN_KEY', 'admin')
    vi.stubEnv('OPENAI_ORG_ID', 'org-1')
    vi.stubEnv('OPENAI_PROJECT_ID', 'project-1')
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1')
    vi.stubEnv('ANTHROPIC_API_KEY', 'other-key')
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'token')
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:1')
    vi.stubEnv('ANTHROPIC_PROFILE', 'evil')
  }

  it.each([
    ['openai', 'key', { said: SAID, create: createOpenAi, own: { authorization: 'Bearer key' } }],
    ['openai', '', { said: SAID, create: createOpenAi, own: {} }],
    ['anthropic', 'key', { said: STREAMED, create: createAnthropic, own: { 'x-api-key': 'key' } }],
    ['anthropic', '', { said: STREAMED, create: createAnthropic, own: {} }],
  ] as const)(
    'to a server of %s with the key "%s" is nothing of the environment',
    async (_kind, apiKey, { said, create, own }) => {
      stubAll()
      const { baseUrl, heard } = await startServer('text/event-stream', [said])
      await collect(await create({ ...given, apiKey, baseUrl }))
      const { host, connection, 'content-length': length, ...headers } = heard[0]?.headers ?? {}
      expect({ host, connection, length }).toMatchObject({ host: new URL(baseUrl).host })
      expect(headers).toMatchObject({
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': 'Parley',
        ...own,
      })
      for (const name of ['authorization', 'x-api-key', 'anthropic-beta'])
        expect([name, headers[name]]).toEqual([name, (own as Record<string, string>)[name]])
      for (const secret of SECRETS) expect(JSON.stringify(headers)).not.toContain(secret)
    },
  )

  it('the version of the Messages API is that of its library', async () => {
    const { default: Anthropic } = await import('@anthropic-ai/sdk')
    let version: string | null = null
    const client = new Anthropic({
      apiKey: 'key',
      fetch: async (_url, init) => {
        version = new Headers(init?.headers).get('anthropic-version')
        return new Response('{}', { headers: { 'content-type': 'application/json' } })
      },
    })
    await client.messages.create({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hello' }] })
    const { baseUrl, heard } = await startServer('text/event-stream', [STREAMED])
    await collect(await createAnthropic({ ...given, baseUrl }))
    expect(heard[0]?.headers['anthropic-version']).toBe(version)
  })

  it.each([
    ['OpenAI', createOpenAi, SAID],
    ['Anthropic', createAnthropic, STREAMED],
  ] as const)('%s: no half of a character', async (_name, create, said) => {
    const { baseUrl, heard } = await startServer('text/event-stream', [said])
    const half = { ...hello, messages: [{ role: 'user' as const, content: textContent('x\ud83d') }] }
    await collect(await create({ ...given, baseUrl }), half)
    expect(heard[0]?.body).toContain('x\\ufffd')
  })
})

describe('an answer that came whole', () => {
  it('of the Chat Completions API is read as its stream', async () => {
    const called = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }
    const message = { role: 'assistant', content: 'Looking.', tool_calls: [called, { ...called, id: 'call_2' }] }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    const usage = { prompt_tokens: 12, completion_tokens: 34 }
    const whole = JSON.stringify({ id: 'c', object: 'chat.completion', model: 'some-model', choices, usage })
    const { baseUrl } = await startServer('application/json', [whole.slice(0, 40), whole.slice(40)])
    expect(await collect(await createOpenAi({ ...given, baseUrl }))).toMatchObject([
      { type: 'text', delta: 'Looking.' },
      { type: 'tool_call', call: { id: 'call_1', name: 'look', args: { at: 1 } } },
      { type: 'tool_call', call: { id: 'call_2' } },
      { type: 'end', stop: 'tools', usage: { input: 12, output: 34 } },
    ])
  })

  it('of the Messages API is read as its events', async () => {
    const { baseUrl } = await startServer('application/json', [JSON.stringify(MESSAGE)])
    const read = await collect(await createAnthropic({ ...given, baseUrl }))
    expect(read).toMatchObject([
      { type: 'text', delta: 'Looking.' },
      { type: 'tool_call', call: { id: 'toolu_1', name: 'look', args: { at: 1 } } },
      { type: 'end', stop: 'tools', usage: { input: 12, output: 34 } },
    ])
    expect(JSON.stringify(read.at(-1))).toContain('c2ln')
  })
})

it.each([
  ['text/plain', createOpenAi, SAID],
  ['application/json', createOpenAi, SAID],
  [undefined, createOpenAi, `: a comment first\n\n${SAID}`],
  ['application/octet-stream', createAnthropic, STREAMED],
] as const)('a stream that calls itself %s is a stream', async (type, create, said) => {
  const { baseUrl } = await startServer(type, [said.slice(0, 60), said.slice(60)])
  expect((await collect(await create({ ...given, baseUrl })))[0]).toMatchObject({ type: 'text', delta: 'Hello' })
})
