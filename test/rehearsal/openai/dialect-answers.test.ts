import { describe, expect, test } from 'vitest'
import { refusal } from '../../../src/rehearsal/openai/refusals.ts'
import type { DialectName, RefusalDetails, RefusalKind } from '../../../src/rehearsal/openai/refused.ts'
import { type AnswerReply, playReplies, type Quirks, textReply } from '../../../src/rehearsal/openai/script.ts'
import { posted, said } from './dialect-parts.ts'
import { ask, askStreamed, eventsOf, rehearse } from './rehearsal.ts'

describe('each dialect answers in its own form', () => {
  const reply: AnswerReply = {
    parts: [
      { type: 'reasoning', reasoning: 'Hm.' },
      { type: 'text', text: 'Wait.' },
      { type: 'tool_call', name: 'look', arguments: { a: 1 } },
      { type: 'tool_call', name: 'look', arguments: {} },
    ],
    split: (text) => [text],
  }

  async function streamed(dialect: DialectName, more: Partial<AnswerReply> = {}): Promise<Record<string, unknown>[]> {
    const server = await rehearse({ dialect, script: playReplies({ ...reply, ...more }) })
    const response = await fetch(`${server.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}` },
      body: JSON.stringify(askStreamed('x')),
    })
    const events = (await response.text()).trimEnd().split('\n\n')
    return events.map((event) => (event.startsWith('data: {') ? JSON.parse(event.slice(6)) : { raw: event }))
  }

  const deltas = (events: Record<string, unknown>[]) =>
    events.flatMap(({ choices }) => (Array.isArray(choices) && choices[0] !== undefined ? [choices[0].delta] : []))

  test.each<[DialectName, unknown]>([
    ['deepseek', { reasoning_content: 'Hm.', content: null }],
    ['kimi', { reasoning_content: 'Hm.' }],
    ['xai', { reasoning_content: 'Hm.' }],
    ['groq', { reasoning: 'Hm.' }],
    ['ollama', { reasoning: 'Hm.' }],
    ['mistral', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }],
    ['lm-studio', { content: '<think>\nHm.\n</think>\n\n' }],
    ['vllm', { content: 'Hm.\n</think>\n\n' }],
    ['llama-cpp', { reasoning_content: 'Hm.' }],
    [
      'openrouter',
      {
        reasoning: 'Hm.',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', format: 'google-gemini-v1', index: 0 }],
      },
    ],
    [
      'litellm',
      { reasoning_content: 'Hm.', thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: null }] },
    ],
  ])('thoughts of %s', async (dialect, wanted) => {
    expect(deltas(await streamed(dialect))).toContainEqual(expect.objectContaining(wanted as object))
  })

  test.each(['gemini', 'azure'] as const)('thoughts of %s stay with it', async (dialect) => {
    expect(JSON.stringify(await streamed(dialect))).not.toContain('Hm.')
  })

  test.each<[DialectName, RegExp]>([
    ['deepseek', /"id":"call_02_\d{22}"/],
    ['kimi', /"id":"functions\.look:2"/],
    [
      'gemini',
      /"tool_calls":\[\{"id":"[a-z0-9]{8}","type":"function",[^[]*"extra_content":\{"google":\{"thought_signature":"[^"]+"/,
    ],
    ['mistral', /"tool_calls":\[\{"id":"[a-z0-9]{9}","function":\{"name":"look","arguments":"\{\\"a\\":1\}"\}\}\]/],
    ['groq', /"index":1,"id":"[a-z0-9]{9}"/],
    ['ollama', /"index":0,"id":"call_\d{8}".*"index":0,"id":"call_\d{8}"/],
    ['vllm', /"id":"chatcmpl-tool-0{30}02".*"id":"chatcmpl-tool-0{30}021"/],
    ['litellm', /"tool_calls":\[\{"index":1,"id":"toolu_01/],
  ])('calls of %s', async (dialect, wanted) => {
    expect(JSON.stringify(await streamed(dialect))).toMatch(wanted)
  })

  const usage = { prompt_tokens: 7, completion_tokens: 6, reasoning_tokens: 89 }
  test.each<[DialectName, unknown]>([
    ['openai', { choices: [], usage: { completion_tokens: 6, total_tokens: 13 } }],
    [
      'xai',
      {
        choices: [],
        usage: { completion_tokens: 6, total_tokens: 102, completion_tokens_details: { reasoning_tokens: 89 } },
      },
    ],
    ['gemini', { choices: [], usage: { completion_tokens: 6, total_tokens: 102 } }],
    ['kimi', { choices: [{ finish_reason: 'tool_calls', usage: { total_tokens: 13 } }] }],
    ['deepseek', { choices: [{ finish_reason: 'tool_calls' }], usage: { total_tokens: 13 } }],
    ['mistral', { choices: [{ finish_reason: 'tool_calls' }], usage: { total_tokens: 13 } }],
    ['groq', { x_groq: { usage: { total_tokens: 13 } }, usage: { total_tokens: 13 } }],
  ])('usage of %s', async (dialect, wanted) => {
    expect(await streamed(dialect, { usage })).toContainEqual(expect.objectContaining(nested(wanted)))
  })

  test('the ends and the beginnings of streams', async () => {
    expect(JSON.stringify(await streamed('gemini'))).toContain('"finish_reason":"stop"')
    expect(JSON.stringify(await streamed('xai'))).not.toContain('"finish_reason":null')
    expect((await streamed('azure'))[0]).toMatchObject({ choices: [], id: '', prompt_filter_results: [{}] })
    expect((await streamed('openrouter'))[0]).toEqual({ raw: ': OPENROUTER PROCESSING' })
  })

  test.each<[keyof Quirks, Quirks, unknown]>([
    [
      'argumentsApart',
      { argumentsApart: true },
      [
        { index: 0, id: 'c1', name: 'look', json: '' },
        { index: 1, json: '{"a":1}' },
        { index: 2, id: 'c2', name: 'look', json: '' },
        { index: 3, json: '{}' },
      ],
    ],
    [
      'objectArguments',
      { objectArguments: true },
      [
        { index: 0, id: 'c1', name: 'look', json: { a: 1 } },
        { index: 1, id: 'c2', name: 'look', json: {} },
      ],
    ],
    [
      'laterNames',
      { laterNames: 'same' },
      [
        { index: 0, id: 'c1', name: 'look', json: '' },
        { index: 0, name: 'look', json: '{"a":1}' },
        { index: 1, id: 'c2', name: 'look', json: '' },
        { index: 1, name: 'look', json: '{}' },
      ],
    ],
    [
      'laterNames',
      { laterNames: 'empty' },
      [
        { index: 0, id: 'c1', name: 'look', json: '' },
        { index: 0, name: '', json: '{"a":1}' },
        { index: 1, id: 'c2', name: 'look', json: '' },
        { index: 1, name: '', json: '{}' },
      ],
    ],
    [
      'freshIds',
      { freshIds: true },
      [
        { index: 0, id: 'c1', name: 'look', json: '' },
        { index: 0, id: 'c11', json: '{"a":1}' },
        { index: 1, id: 'c2', name: 'look', json: '' },
        { index: 1, id: 'c21', json: '{}' },
      ],
    ],
    [
      'firstIndex',
      { firstIndex: 1, wholeArguments: true },
      [
        { index: 1, id: 'c1', name: 'look', json: '{"a":1}' },
        { index: 2, id: 'c2', name: 'look', json: '{}' },
      ],
    ],
  ])('pieces of calls: %s', async (_name, quirks, wanted) => {
    const parts = [
      ['c1', { a: 1 }],
      ['c2', {}],
    ].map(([id, args]) => ({
      type: 'tool_call' as const,
      name: 'look',
      id: id as string,
      arguments: args as object as Record<string, unknown>,
    }))
    const events = await streamed('openai', { parts, quirks })
    const sent = deltas(events).flatMap(({ tool_calls: calls = [] }) => calls)
    const shown = sent.map(
      ({
        index,
        id,
        function: { name, arguments: json },
      }: {
        index: number
        id?: string
        function: { name?: string; arguments: unknown }
      }) => ({ index, ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }), json }),
    )
    expect(shown).toEqual(wanted)
  })

  test('[DONE] without a finish reason', async () => {
    const server = await rehearse({ script: playReplies(textReply('All.', { quirks: { noFinish: true } })) })
    const events = await eventsOf(server, { ...ask('x'), stream: true })
    expect(events.at(-1)).toBe('[DONE]')
    expect(JSON.stringify(events)).not.toMatch(/"finish_reason":"/)
  })
})

describe('refusals that a script asks for', () => {
  const waiting = { afterSeconds: 7 }
  test.each<[RefusalKind, DialectName, RefusalDetails, readonly [status: number, body: unknown, headers?: object]]>([
    ['rateLimit', 'openai', waiting, [429, { error: { code: 'rate_limit_exceeded' } }, { 'retry-after': '7' }]],
    [
      'rateLimit',
      'groq',
      waiting,
      [429, { error: { type: 'tokens' } }, { 'retry-after': '7', 'x-ratelimit-reset-tokens': '7s' }],
    ],
    ['rateLimit', 'groq', waiting, [429, { error: { message: said('Please try again in 7s.') } }]],
    ['rateLimit', 'azure', waiting, [429, { error: { code: '429', message: said('Please retry after 7 seconds.') } }]],
    ['rateLimit', 'mistral', {}, [429, { object: 'error', message: 'Rate limit exceeded', code: '1300' }]],
    ['rateLimit', 'gemini', {}, [429, [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }]]],
    ['rateLimit', 'litellm', waiting, [429, { error: { message: said('Try again in 7 seconds.'), code: '429' } }]],
    ['noCredit', 'deepseek', {}, [402, { error: { message: 'Insufficient Balance', type: 'unknown_error' } }]],
    ['noCredit', 'kimi', {}, [429, { error: { type: 'exceeded_current_quota_error' } }]],
    ['noCredit', 'xai', {}, [403, { code: 'permission-denied', error: said('used all available credits') }]],
    ['noCredit', 'openrouter', { most: 12 }, [402, { error: { message: said('can only afford 12'), code: 402 } }]],
    ['overloaded', 'kimi', {}, [429, { error: { type: 'engine_overloaded_error' } }]],
    ['overloaded', 'ollama', {}, [503, { error: { message: said('server busy') } }]],
    ['toolUseFailed', 'groq', {}, [400, { error: { code: 'tool_use_failed', failed_generation: said('<function=') } }]],
  ])('%s of %s', async (kind, dialect, details, [status, wanted, headers = {}]) => {
    const server = await rehearse({ dialect, script: playReplies(refusal(kind, dialect, details)) })
    const response = await fetch(`${server.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}` },
      body: JSON.stringify(ask('x')),
    })
    expect(await response.json()).toMatchObject(wanted as object)
    expect([response.status, Object.fromEntries(response.headers)]).toMatchObject([status, headers])
  })

  test('within a stream of status 200, as an event of its own name', async () => {
    const { error } = refusal('toolUseFailed', 'groq')
    const interrupt = { kind: 'error', afterDelta: 0, event: 'error', data: Object(error.body) } as const
    const server = await rehearse({ dialect: 'groq', script: playReplies(textReply('x', { interrupt })) })
    const [status, body] = await posted(server, { ...ask('x'), stream: true })
    expect(body).toContain('event: error\ndata: {"error":{"message":"Failed to call a function.')
    expect(status).toBe(200)
  })
})

/** Turns the objects of an expectation into ones that may have more fields. */
function nested(value: unknown): Record<string, unknown> {
  const within = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(within)
    return typeof one === 'object' && one !== null ? expect.objectContaining(nested(one)) : one
  }
  return Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, within(one)]))
}
