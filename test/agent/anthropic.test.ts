import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAnthropic } from '../../src/agent/models/anthropic.ts'
import { retryModel } from '../../src/agent/models/retry-model.ts'
import { textContent } from '../../src/core/content.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Model, ModelEvent, ModelMessage, ModelRequest } from '../../src/core/model.ts'
import { type AnswerReply, playReplies, type Reply, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type AnthropicServer, startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { noMedia } from '../fakes/media.ts'
import { type MovedClock, movedClock } from './moved-clock.ts'
import { call, never, oneByOne } from './turns.ts'

let server: AnthropicServer
let clock: MovedClock
beforeEach(async () => {
  server = await startAnthropicServer({ apiKey: 'sk-secret-1' })
  clock = movedClock()
})
afterEach(() => server.close())

const modelOf = (more: { apiKey?: string; baseUrl?: string } = {}): Promise<Model> =>
  createAnthropic({
    apiKey: server.apiKey,
    baseUrl: server.baseUrl,
    model: 'some-model',
    clock,
    media: noMedia,
    ...more,
  })

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

/** Answers the next request with exactly these events. */
function answerOnce(events: readonly { readonly type: string }[]): void {
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  const headers = { 'content-type': 'text/event-stream' }
  server.faults.add({ action: { kind: 'answer', when: 'before', status: 200, body, headers } })
}

async function failureOf(reply: Reply, model = modelOf()): Promise<Error & { code: string; advice: object }> {
  server.setScript(playReplies(reply))
  return collect(await model).then(
    () => expect.unreachable('The call was answered.'),
    (error) => error,
  )
}

describe('anthropic', () => {
  it('streams text in its pieces and ends with usage and the model that answered', async () => {
    server.setScript(playReplies(textReply('Hello there', { split: (text) => text.split(/(?= )/) })))
    const events = await collect(await modelOf(), { ...hello, system: 'Be brief.', maxTokens: 77 })
    expect(events.slice(0, 2)).toEqual([
      { type: 'text', delta: 'Hello' },
      { type: 'text', delta: ' there' },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'end', stop: 'end', model: 'anthropic/some-model' })
    expect(server.ledger.requests()[0]).toMatchObject({
      ...{ model: 'some-model', max_tokens: 77 },
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    })
    expect(clock.pending()).toBe(0)
  })

  it('usage is what the API counted', async () => {
    server.setScript(playReplies(textReply('ok', { usage: { input_tokens: 1234, output_tokens: 56 } })))
    const end = (await collect(await modelOf())).at(-1)
    expect(end?.type === 'end' && end.usage).toEqual({ input: 1234, output: 56 })
  })

  it('tokens of the cache are apart from those read at full price, and the last event may leave them out', async () => {
    const sse = [
      {
        type: 'message_start',
        message: {
          model: 'm',
          usage: { input_tokens: 3, cache_creation_input_tokens: 20, cache_read_input_tokens: 100, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'hi' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ]
    answerOnce(sse)
    expect((await collect(await modelOf())).at(-1)).toMatchObject({
      usage: { input: 3, output: 9, cacheRead: 100, cacheWrite: 20 },
    })
  })

  it('C26: a thought and its signature are no text of the answer, and go with its step to the same model alone', async () => {
    const blocks: AnswerReply['blocks'] = [
      { type: 'thinking', thinking: 'secret thought', signature: 'c2lnbmF0dXJl' },
      { type: 'text', text: 'Answer' },
    ]
    server.setScript(playReplies({ blocks }))
    const events = await collect(await modelOf())
    expect(events.map(({ type }) => type)).toEqual(['text', 'end'])
    const [said, end] = events
    expect(said).toEqual({ type: 'text', delta: 'Answer' })
    expect(end).toMatchObject({ opaque: { model: 'anthropic/some-model' } })
    expect(JSON.stringify(end)).toContain('secret thought')
  })

  it('C33: thoughts are read again with each step, so the most tokens that they are is known without them', async () => {
    const end = async (blocks: AnswerReply['blocks']) => {
      server.setScript(playReplies({ blocks, usage: { input_tokens: 3, output_tokens: 700 } }))
      return (await collect(await modelOf())).at(-1)
    }
    const answer = { type: 'text', text: 'Answer' } as const
    const thought = { type: 'thinking', thinking: 'secret thought', signature: 'c2lnbmF0dXJl' } as const
    expect(await end([thought, answer])).toMatchObject({ opaque: { tokens: 700 } })
    expect(await end([answer])).toMatchObject({ opaque: { tokens: 0 } })
  })

  it('tool calls come whole, with their arguments parsed, several in one answer', async () => {
    server.setScript(
      playReplies({
        blocks: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: ['ü', 2], deep: { x: null } } },
          { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
        ],
        split: (text) => Array.from(text),
      }),
    )
    const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }]
    const events = await collect(await modelOf(), { ...hello, tools })
    expect(events.filter(({ type }) => type === 'tool_call')).toEqual([
      { type: 'tool_call', call: call('toolu_1', 'look', { at: ['ü', 2], deep: { x: null } }) },
      { type: 'tool_call', call: call('toolu_2', 'look', {}) },
    ])
    expect(events.at(-1)).toMatchObject({ stop: 'tools' })
  })

  it('messages are translated so that the strict server takes them: results first, texts merged, no blank blocks', async () => {
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
    await collect(await modelOf(), { ...hello, messages })
    expect(server.ledger.requests()[0]?.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: '(a message without text)' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a', name: 'look', input: {} },
          { type: 'tool_use', id: 'b', name: 'look', input: { x: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: '(no output)', is_error: true },
          { type: 'tool_result', tool_use_id: 'b', content: 'fine', is_error: false },
          { type: 'text', text: 'wait' },
          { type: 'text', text: 'not that', cache_control: { type: 'ephemeral' } },
        ],
      },
    ])
    // No tool was defined any more; the API demands one where tool blocks are.
    expect(server.ledger.requests()[0]?.tools).toMatchObject([{ name: 'look' }])
  })

  it.each([
    ['end_turn', 'end'],
    ['stop_sequence', 'end'],
    ['pause_turn', 'end'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refused'],
  ] as const)('the stop reason %s is %s', async (stopReason, stop) => {
    server.setScript(playReplies(textReply('text', { stopReason })))
    expect((await collect(await modelOf())).at(-1)).toMatchObject({ type: 'end', stop })
  })

  it('an abort while the stream is held ends as aborted and closes the connection', async () => {
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

  it('an abort before anything was asked is aborted', async () => {
    const next = oneByOne((await modelOf()).stream(hello, AbortSignal.abort())).next()
    await expect(next).rejects.toThrow(expect.objectContaining({ code: 'aborted' }))
  })

  it('a stream that stalls after some text is model_stalled after 60 s without an event, not before', async () => {
    const stall = { kind: 'stall', afterDelta: 1 } as const
    server.setScript(playReplies(textReply('Hello there', { split: (text) => [text, '!'], interrupt: stall })))
    const stream = oneByOne((await modelOf()).stream(hello, never()))
    expect(await stream.next()).toMatchObject({ value: { delta: 'Hello there' } })
    clock.advance(600_000)
    const next = stream.next()
    clock.advance(59_999)
    await clock.timerOf(60_000)
    clock.advance(1)
    await expect(next).rejects.toThrow(expect.objectContaining({ code: 'model_stalled' }))
    expect(await server.ledger.nextEnded()).toMatchObject({ deltas: 1 })
  })

  it('time the caller spends on an event does not count as silence of the stream', async () => {
    const gate = createGate()
    const holds = [{ beforeDelta: 1, gate }]
    server.setScript(playReplies(textReply('Hello', { split: (text) => [text, '!'], holds })))
    const stream = oneByOne((await modelOf()).stream(hello, never()))
    await stream.next()
    await gate.reached
    clock.advance(600_000)
    gate.release()
    expect(await stream.next()).toMatchObject({ value: { type: 'text', delta: '!' } })
  })

  it('arguments that are not JSON are handed on as text', async () => {
    const sse = [
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'look', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"at": ' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 9 } },
    ]
    answerOnce(sse)
    expect((await collect(await modelOf()))[0]).toEqual({ type: 'tool_call', call: call('t', 'look', '{"at": ') })
  })

  it('a server that takes the request and says nothing is model_stalled too', async () => {
    const hold = server.faults.add({ action: { kind: 'hold', when: 'before' } })
    const next = oneByOne((await modelOf()).stream(hello, never())).next()
    await hold.reached
    clock.advance(60_000)
    await expect(next).rejects.toThrow(expect.objectContaining({ code: 'model_stalled' }))
  })

  it.each([
    [
      { status: 400, type: 'invalid_request_error', message: 'prompt is too long: 9 > 8' },
      'model_context_length',
      false,
    ],
    [{ status: 400, type: 'invalid_request_error', message: 'temperature: no' }, 'model_invalid_request', false],
    [{ status: 401, type: 'authentication_error', message: 'invalid x-api-key' }, 'model_auth', false],
    [{ status: 403, type: 'permission_error', message: 'not for you' }, 'model_auth', false],
    [{ status: 404, type: 'not_found_error', message: 'model: some-model' }, 'model_unconfigured', false],
    [{ status: 408, type: 'timeout_error', message: 'too slow' }, 'model_failed', true],
    [{ status: 413, type: 'request_too_large', message: 'too large' }, 'model_context_length', false],
    [{ status: 429, type: 'rate_limit_error', message: 'slow down' }, 'model_overloaded', true],
    [{ status: 500, type: 'api_error', message: 'oops' }, 'model_overloaded', true],
    [{ status: 503, type: 'api_error', message: 'oops' }, 'model_overloaded', true],
    [{ status: 529, type: 'overloaded_error', message: 'Overloaded' }, 'model_overloaded', true],
  ])('the answer %j is %s, worth a retry: %s', async (error, code, retry) => {
    const failure = await failureOf({ error })
    expect(failure).toMatchObject({ code, advice: { retry } })
    expect(failure.message).toContain(error.message)
    expect(server.ledger.count(({ kind }) => kind === 'refused')).toBe(1)
  })

  it('429 carries how long to wait, and a spend cap is not worth a retry', async () => {
    const limited = { status: 429, type: 'rate_limit_error', retryAfterSeconds: 7 }
    expect((await failureOf({ error: limited })).advice).toEqual({ retry: true, afterMs: 7_000 })
    const details = { error_code: 'enforced_spend_limit_reached' }
    const body = { type: 'error', error: { type: 'rate_limit_error', message: 'Spend limit reached.', details } }
    server.faults.add({ action: { kind: 'answer', when: 'before', status: 429, body } })
    const capped = await failureOf(textReply('never'))
    expect(capped).toMatchObject({ code: 'model_no_credit', advice: { retry: false } })
    expect(capped.message).toContain('Check the plan and the credit of the key.')
  })

  it('F-B20: a stalled call is tried once more after a pause and gives one answer', async () => {
    const hold = server.faults.add({ action: { kind: 'hold', when: 'before' } })
    const model = retryModel(await modelOf(), { clock, random: () => 0.5, logger: silentLogger })
    const answer = collect(model)
    await hold.reached
    clock.advance(60_000)
    await clock.timerOf(2_000)
    clock.advance(2_000)
    expect((await answer).filter(({ type }) => type === 'end')).toHaveLength(1)
    expect(server.ledger.requests()).toHaveLength(1)
  })

  it.each([
    ['overloaded_error', 'model_overloaded', true],
    ['invalid_request_error', 'model_invalid_request', false],
  ])('an error event %s inside a stream is %s', async (type, code, retry) => {
    const interrupt = { kind: 'error', afterDelta: 0, type, message: 'inside' } as const
    expect(await failureOf(textReply('x', { interrupt }))).toMatchObject({ code, advice: { retry } })
  })

  it('C33: a connection that is cut, before and in the middle of an answer, is model_failed, and charged once it had begun', async () => {
    const failed = { code: 'model_failed', advice: { retry: true } }
    for (const afterDelta of [0, 1]) {
      const inside = await failureOf(textReply('Hello there, everybody', { interrupt: { kind: 'cut', afterDelta } }))
      expect(inside).toMatchObject({ ...failed, begun: true })
    }
    server.faults.add({ action: { kind: 'reset', when: 'before' } })
    expect(await failureOf(textReply('never'))).toMatchObject({ ...failed, begun: false })
  })

  it('a server that is not there is model_failed and says why', async () => {
    const gone = await startAnthropicServer()
    await gone.close()
    const error = await failureOf(textReply('never'), modelOf({ baseUrl: gone.baseUrl }))
    expect(error).toMatchObject({ code: 'model_failed', advice: { retry: true } })
    expect(error.message).toMatch(/refused the connection/)
  })

  it('an answer without a stop reason has broken off', async () => {
    answerOnce([{ type: 'message_stop' }])
    expect(await failureOf(textReply('never'))).toMatchObject({ code: 'model_failed' })
  })

  it('the key stands in no error, even if the server repeats it', async () => {
    const message = 'the key sk-secret-1 is wrong'
    const error = await failureOf({ error: { status: 401, type: 'authentication_error', message } })
    expect(error.message).toContain('[redacted]')
    expect(inspect(error, { depth: 10 })).not.toContain('sk-secret-1')
  })
})
