import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createOpenAi } from '../../src/agent/models/openai.ts'
import type { MediaPart } from '../../src/core/content.ts'
import { textContent } from '../../src/core/content.ts'
import type { MediaId } from '../../src/core/ids.ts'
import type { Model, ModelEvent, ModelMessage, ModelRequest } from '../../src/core/model.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { type AnswerReply, playReplies, REFUSALS, type Reply, textReply } from '../../src/rehearsal/openai/script.ts'
import { type OpenAiServer, startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { noMedia } from '../fakes/media.ts'
import { DOT } from '../fakes/pictures.ts'
import { type MovedClock, movedClock } from './moved-clock.ts'
import { call, never, oneByOne } from './turns.ts'

let server: OpenAiServer
let clock: MovedClock
beforeEach(async () => {
  server = await startOpenAiServer({ apiKey: 'sk-secret-1' })
  clock = movedClock()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await server.close()
})

const DOT_URL = `data:image/png;base64,${Buffer.from(DOT).toString('base64')}`
const picture: MediaPart = { type: 'image', media: 'm1' as MediaId, mime: 'image/png', size: DOT.length, name: 'a.png' }
const media = { read: async () => DOT }

type Options = Partial<Parameters<typeof createOpenAi>[0]>
const modelOf = (more: Options = {}): Promise<Model> =>
  createOpenAi({ apiKey: server.apiKey, baseUrl: server.baseUrl, model: 'some-model', clock, media: noMedia, ...more })

const hello: ModelRequest = {
  system: '',
  messages: [{ role: 'user', content: textContent('hello') }],
  tools: [],
  maxTokens: 4096,
}

async function collect(model: Model, request: ModelRequest = hello): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream(request, never())) events.push(event)
  return events
}

/** The events of the next answer. */
async function answered(reply: Reply): Promise<ModelEvent[]> {
  server.setScript(playReplies(reply))
  return collect(await modelOf())
}

async function failureOf(reply: Reply, model = modelOf()): Promise<Error & { code: string; advice: object }> {
  server.setScript(playReplies(reply))
  return collect(await model).then(
    () => expect.unreachable('The call was answered.'),
    (error) => error,
  )
}

/** Answers the next request with this and nothing of the API's own. */
function answerOnce(status: number, body: string | object, headers?: Record<string, string>): void {
  server.faults.add({ action: { kind: 'answer', when: 'before', status, body, ...(headers ? { headers } : {}) } })
}

const twoCalls: AnswerReply = {
  parts: [
    { type: 'text', text: 'Looking.' },
    { type: 'tool_call', id: 'call_1', name: 'look', arguments: { at: ['ü', 2], deep: { x: null } } },
    { type: 'tool_call', id: 'call_2', name: 'look', arguments: {} },
  ],
  split: (text) => Array.from(text),
}

describe('openai', () => {
  it('streams text in its pieces and ends with usage and the model that answered', async () => {
    server.setScript(playReplies(textReply('Hello there', { split: (text) => text.split(/(?= )/) })))
    const events = await collect(await modelOf(), { ...hello, system: 'Be brief.', maxTokens: 77 })
    expect(events).toMatchObject([
      { type: 'text', delta: 'Hello' },
      { type: 'text', delta: ' there' },
      { type: 'end', stop: 'end', model: 'openai/some-model', usage: { output: 3 } },
    ])
    expect(server.ledger.requests()[0]).toEqual({
      model: 'some-model',
      max_tokens: 77,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(clock.pending()).toBe(0)
  })

  it('tokens of the cache are apart from those read at full price; without usage nothing is counted', async () => {
    const usage = { prompt_tokens: 1234, completion_tokens: 56, cached_tokens: 1024 }
    expect((await answered(textReply('ok', { usage }))).at(-1)).toMatchObject({
      usage: { input: 210, output: 56, cacheRead: 1024 },
    })
    const parts = await answered(textReply('all of these words', { quirks: { partLists: true } }))
    expect(parts.map((event) => (event.type === 'text' ? event.delta : '')).join('')).toBe('all of these words')
    expect((await answered(textReply('ok', { quirks: { noUsage: true } }))).at(-1)).toMatchObject({
      usage: { input: 0, output: 0 },
    })
  })

  it('C26: what the model thought is no text of the answer, and goes with its step to the same model alone', async () => {
    const reasoning = { type: 'reasoning', reasoning: 'secret thought' } as const
    const events = await answered({ parts: [reasoning, { type: 'text', text: 'Answer' }] })
    expect(events.map(({ type }) => type)).toEqual(['text', 'end'])
    expect(events[0]).toEqual({ type: 'text', delta: 'Answer' })
    const data = { message: { reasoning_content: 'secret thought' }, parts: [], calls: [] }
    expect(events.at(-1)).toMatchObject({ opaque: { model: 'openai/some-model', data } })
  })

  it.each([
    ['as OpenAI sends them', {}],
    ['in one piece', { wholeArguments: true }],
    ['without index', { noIndex: true }],
    ['all with the index 0', { sameIndex: true }],
    ['with a stop that is none for tools', { finishReason: 'stop' }],
    ['without the end of the stream', { noDone: true }],
  ])('tool calls come whole, with their arguments parsed: %s', async (_name, quirks) => {
    const events = await answered({ ...twoCalls, quirks })
    expect(events.filter(({ type }) => type === 'tool_call')).toEqual([
      { type: 'tool_call', call: call('call_1', 'look', { at: ['ü', 2], deep: { x: null } }) },
      { type: 'tool_call', call: call('call_2', 'look', {}) },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'end', stop: 'tools' })
  })

  it('calls without an id, or with one that other providers refuse, get one of ours', async () => {
    const idsOf = (events: ModelEvent[]) => events.flatMap((event) => (event.type === 'tool_call' ? event.call.id : []))
    const bare = idsOf(await answered({ ...twoCalls, quirks: { noIds: true, noIndex: true } }))
    const odd = { type: 'tool_call', id: 'functions.look:0', name: 'look', arguments: {} } as const
    const ids = [...bare, ...idsOf(await answered({ parts: [odd, { ...odd, id: 'x'.repeat(41) }] }))]
    expect(new Set(ids).size).toBe(4)
    for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]{32}$/)
  })

  it('arguments that are not JSON are handed on as text, no arguments as an empty object', async () => {
    const torn = { type: 'tool_call', id: 't', name: 'look', arguments: '{"at": ' } as const
    const none = { type: 'tool_call', id: 'u', name: 'look', arguments: '' } as const
    const events = await answered({ parts: [torn, none], finishReason: 'length' })
    expect(events).toMatchObject([
      { type: 'tool_call', call: call('t', 'look', '{"at": ') },
      { type: 'tool_call', call: call('u', 'look', {}) },
      { type: 'end', stop: 'length' },
    ])
  })

  it('messages are translated so that the strict server takes them', async () => {
    const messages: ModelMessage[] = [
      { role: 'user', content: textContent(' ') },
      { role: 'assistant', text: '', calls: [call('a', 'look', 'torn'), call('b', 'look', { x: 1 })] },
      {
        role: 'tool',
        results: [
          { id: 'a', content: textContent(''), isError: true },
          { id: 'b', content: textContent('fine'), isError: false },
        ],
      },
      { role: 'user', content: textContent('wait') },
      { role: 'user', content: textContent('not that') },
      { role: 'assistant', text: '', calls: [] },
    ]
    const tools = [{ name: 'look', description: 'Looks.', parameters: {} }]
    await collect(await modelOf(), { ...hello, messages, tools })
    const [request] = server.ledger.requests()
    const called = (id: string, args: string) => ({ id, type: 'function', function: { name: 'look', arguments: args } })
    expect(request?.messages).toEqual([
      { role: 'user', content: '(a message without text)' },
      { role: 'assistant', content: null, tool_calls: [called('a', '{}'), called('b', '{"x":1}')] },
      { role: 'tool', tool_call_id: 'a', content: '(no output)' },
      { role: 'tool', tool_call_id: 'b', content: 'fine' },
      { role: 'assistant', content: '(The results are there.)' },
      { role: 'user', content: 'wait\nnot that' },
    ])
    expect(request?.tools?.[0]?.function.parameters).toEqual({ type: 'object', properties: {} })
  })

  it('pictures are shown in user messages; those of tools follow their results, others are named', async () => {
    const content = [...textContent('See'), picture]
    const messages: ModelMessage[] = [
      { role: 'user', content },
      { role: 'assistant', text: '', calls: [call('a', 'look'), call('b', 'look')] },
      {
        role: 'tool',
        results: [
          { id: 'a', content, isError: false },
          { id: 'b', content: textContent('fine'), isError: false },
        ],
      },
      { role: 'user', content: [{ ...picture, type: 'file', media: 'm2' as MediaId }] },
    ]
    await collect(await modelOf({ media }), { ...hello, messages })
    const named = '[image: a.png, image/png, 70 B]'
    const image = { type: 'image_url', image_url: { url: DOT_URL } }
    expect(server.ledger.requests()[0]?.messages).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'See' }, image] },
      { role: 'assistant' },
      { role: 'tool', tool_call_id: 'a', content: `See\n${named}` },
      { role: 'tool', tool_call_id: 'b', content: 'fine' },
      { role: 'assistant' },
      {
        role: 'user',
        content: [{ type: 'text', text: `From a tool: ${named}` }, image, { text: named.replace('image:', 'file:') }],
      },
    ])
  })

  it.each([
    ['stop', 'end'],
    ['length', 'length'],
    ['content_filter', 'refused'],
    ['eos', 'end'],
  ])('the finish reason %s is %s', async (finishReason, stop) => {
    const events = await answered(textReply('text', { quirks: { finishReason } }))
    expect(events.at(-1)).toMatchObject({ type: 'end', stop })
  })

  it('a refusal is refused, and an empty answer is tried again once', async () => {
    const refusal = await answered({ parts: [{ type: 'refusal', refusal: 'I cannot help.' }] })
    expect(refusal).toMatchObject([{ type: 'end', stop: 'refused' }])
    expect(await failureOf({ parts: [] })).toMatchObject({ code: 'model_empty', advice: { retry: true }, begun: true })
  })

  it('an abort while the stream is held ends as aborted', async () => {
    const gate = createGate()
    server.setScript(playReplies(textReply('Hello there', { holds: [{ beforeDelta: 0, gate }] })))
    const stop = new AbortController()
    const next = oneByOne((await modelOf()).stream(hello, stop.signal)).next()
    await gate.reached
    stop.abort()
    await expect(next).rejects.toThrow(expect.objectContaining({ code: 'aborted' }))
    gate.release()
    expect(clock.pending()).toBe(0)
  })

  it('an answer that is complete needs neither its usage nor the end of its stream', async () => {
    const done = {
      id: 'c',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }],
    }
    answerOnce(200, `data: ${JSON.stringify(done)}\n\ndata: {"torn`, { 'content-type': 'text/event-stream' })
    expect((await collect(await modelOf())).at(-1)).toMatchObject({ type: 'end', stop: 'end' })
  })

  it.each<[Reply, string, boolean, string]>([
    [REFUSALS.rateLimit(7), 'model_overloaded', true, 'Rate limit reached'],
    [REFUSALS.quota, 'model_no_credit', false, 'Check the plan and the credit of the key.'],
    [REFUSALS.server, 'model_overloaded', true, 'The server had an error'],
    [REFUSALS.overloaded, 'model_overloaded', true, 'overloaded'],
    [{ error: { status: 400, message: 'no such thing', type: 'x' } }, 'model_invalid_request', false, 'no such thing'],
    [
      { error: { status: 400, message: 'too many', type: 'x', code: 'context_length_exceeded' } },
      'model_context_length',
      false,
      'too many',
    ],
    [
      { error: { status: 400, message: "This model's maximum context length is 9 tokens.", type: 'x' } },
      'model_context_length',
      false,
      'maximum context',
    ],
    [{ error: { status: 401, message: 'wrong', type: 'x' } }, 'model_auth', false, 'Check models.openai.apiKey.'],
    [{ error: { status: 402, message: 'Insufficient credits', type: 'x' } }, 'model_no_credit', false, 'credit'],
    [{ error: { status: 403, message: 'not for you', type: 'x' } }, 'model_auth', false, 'not for you'],
    [{ error: { status: 404, message: 'gone', type: 'x' } }, 'model_unconfigured', false, 'Check the model name'],
    [{ error: { status: 408, message: 'slow', type: 'x' } }, 'model_failed', true, 'slow'],
    [{ error: { status: 413, message: 'large', type: 'x' } }, 'model_context_length', false, 'large'],
  ])('the answer %j is %s, worth a retry: %s', async (reply, code, retry, words) => {
    const failure = await failureOf(reply)
    expect(failure).toMatchObject({ code, advice: { retry } })
    expect(failure.message).toContain(words)
    expect(server.ledger.count(({ kind }) => kind === 'refused')).toBe(1)
  })

  it('429 carries how long to wait', async () => {
    expect((await failureOf(REFUSALS.rateLimit(7))).advice).toEqual({ retry: true, afterMs: 7_000 })
  })

  it.each([
    ['of OpenRouter', { error: { code: 502, message: 'inside' }, choices: [] }, 'model_overloaded', true],
    ['of OpenAI', { error: { type: 'server_error', code: null, message: 'inside' } }, 'model_overloaded', true],
    ['of a limit', { error: { code: 'rate_limit_exceeded', message: 'inside' } }, 'model_overloaded', true],
    ['of vLLM', { object: 'error', code: 400, message: 'inside' }, 'model_invalid_request', false],
    [
      'of vLLM, later',
      { error: { type: 'BadRequestError', code: 400, message: 'inside' } },
      'model_invalid_request',
      false,
    ],
    ['that is a sentence', { error: 'inside' }, 'model_overloaded', true],
  ])('an error object %s inside a stream', async (_name, data, code, retry) => {
    const failure = await failureOf(textReply('x', { interrupt: { kind: 'error', afterDelta: 0, data } }))
    expect(failure).toMatchObject({ code, advice: { retry } })
    expect(failure.message).toContain('inside')
  })

  it('C33: a stream that is cut, that ends without a reason or says that it broke is model_failed, and charged', async () => {
    const failed = { code: 'model_failed', advice: { retry: true } }
    for (const kind of ['cut', 'end'] as const) {
      const interrupt = { kind, afterDelta: 1 }
      const broken = await failureOf(textReply('Hello there, everybody', { interrupt }))
      expect(broken).toMatchObject({ ...failed, begun: true })
    }
    const said = await failureOf(textReply('x', { quirks: { finishReason: 'error' } }))
    expect(said).toMatchObject({ ...failed, begun: true })
    server.faults.add({ action: { kind: 'reset', when: 'before' } })
    expect(await failureOf(textReply('never'))).toMatchObject({ ...failed, begun: false })
  })

  it('an error in the shape of older versions of vLLM is understood', async () => {
    answerOnce(400, { object: 'error', message: "This model's maximum context length is 9 tokens.", code: 400 })
    expect(await failureOf(textReply('never'))).toMatchObject({ code: 'model_context_length' })
  })

  it.each([
    [404, '<html>Not Found</html>', 'HTML'],
    [404, { detail: 'Not Found' }, 'JSON of another kind'],
    [200, { hello: 'there' }, 'JSON of another kind'],
  ])('an answer of another server, %s %j, is unconfigured and names the setting', async (status, body, kind) => {
    answerOnce(status, body)
    const error = await failureOf(textReply('never'))
    expect(error).toMatchObject({ code: 'model_unconfigured', advice: { retry: false } })
    expect(error.message).toContain(`was answered ${status} with ${kind}`)
    expect(error.message).toContain('check models.openai.baseUrl')
  })

  it('a server that is not there is model_failed, says why, and which setting names it', async () => {
    const gone = await startOpenAiServer()
    await gone.close()
    const error = await failureOf(textReply('never'), modelOf({ baseUrl: gone.baseUrl }))
    expect(error).toMatchObject({ code: 'model_failed', advice: { retry: true } })
    expect(error.message).toMatch(
      /at 127\.0\.0\.1:\d+\/v1: 127\.0\.0\.1:\d+ refused the connection\. Check models\.openai\.baseUrl and/,
    )
  })

  it('without a key none is sent', async () => {
    const local = await startOpenAiServer({ keyless: true })
    await collect(await createOpenAi({ baseUrl: local.baseUrl, model: 'local', clock, media: noMedia }))
    expect((await local.ledger.nextAccepted()).headers).not.toContain('authorization')
    await local.close()
  })

  it('nothing is taken from the environment', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-from-the-environment')
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1/v1')
    vi.stubEnv('OPENAI_ORG_ID', 'org')
    vi.stubEnv('OPENAI_PROJECT_ID', 'project')
    vi.stubEnv('OPENAI_ADMIN_KEY', 'admin')
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'authorization: Bearer custom\nx-custom: yes')
    await collect(await modelOf())
    const { headers } = await server.ledger.nextAccepted()
    expect(headers.filter((name) => /openai|custom|stainless/.test(name))).toEqual([])
  })

  it('the key stands in no error, even if the server repeats it', async () => {
    const error = await failureOf({ error: { status: 401, type: 'x', message: 'the key sk-secret-1 is wrong' } })
    expect(error.message).toContain('[redacted]')
    expect(inspect(error, { depth: 10 })).not.toContain('sk-secret-1')
  })
})
