import { describe, expect, test } from 'vitest'
import type { Imitator } from '../../../src/rehearsal/anthropic/imitations.ts'
import { REFUSALS } from '../../../src/rehearsal/anthropic/refusals.ts'
import { playReplies, type Quirks, type ReplyBlock, textReply } from '../../../src/rehearsal/anthropic/script.ts'
import type { AnthropicServer } from '../../../src/rehearsal/anthropic/server.ts'
import { paintDisc } from '../../../src/rehearsal/paint.ts'
import { ask, post, rehearse } from './rehearsal.ts'

type Block = Readonly<Record<string, unknown>>

const user = { role: 'user', content: 'hi' }
const tools = [{ name: 'look', input_schema: { type: 'object' } }]
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' })
const withMessages = (...messages: object[]) => ({ model: 'm', max_tokens: 9_000, tools, messages })

async function posted(server: AnthropicServer, body: object): Promise<Response> {
  return fetch(`${server.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': server.apiKey, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  })
}

/** Thought, call, thought, call. */
const interleaved: readonly ReplyBlock[] = [
  { type: 'thinking', thinking: 'First the garden.' },
  { type: 'tool_use', name: 'look', input: { at: 1 } },
  { type: 'thinking', thinking: '' },
  { type: 'redacted_thinking', data: 'c2VjcmV0' },
  { type: 'tool_use', name: 'look', input: { at: 2 } },
]

/** Plays a step with thoughts and asks again with its blocks, which `change` may alter. */
async function handedBack(change: (content: Block[]) => readonly Block[], more: object = {}): Promise<string> {
  const server = await rehearse({ script: playReplies({ blocks: interleaved }, textReply('Seen.')) })
  const { content } = (await (await posted(server, withMessages(user))).json()) as { content: Block[] }
  const changed = change(content)
  const results = changed.flatMap(({ type, id }) => (type === 'tool_use' ? [result(String(id))] : []))
  const answered = { role: 'user', content: results }
  return post(server, { ...withMessages(user, { role: 'assistant', content: changed }, answered), ...more })
}

const only = (wanted: (block: Block) => boolean) => (content: Block[]) => content.filter(wanted)
const MOVED =
  '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.'
const adaptive = { thinking: { type: 'adaptive' } }
const enabled = { thinking: { type: 'enabled', budget_tokens: 2_000 } }

describe('thoughts come back unchanged and in their places', () => {
  test.each<[string, (content: Block[]) => readonly Block[], object, string]>([
    ['as they came', (content) => content, adaptive, 'accepted'],
    [
      'as they came, with other ids',
      (content) => content.map((block, nth) => (block.id ? { ...block, id: `c${nth}` } : block)),
      adaptive,
      'accepted',
    ],
    ['none of them', only(({ type }) => type === 'tool_use'), adaptive, 'accepted'],
    [
      'none of them',
      only(({ type }) => type === 'tool_use'),
      enabled,
      '400 invalid_request_error: messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
    ],
    [
      'all in front',
      (content) =>
        [...content].sort((one, other) => Number(one.type === 'tool_use') - Number(other.type === 'tool_use')),
      adaptive,
      `400 invalid_request_error: messages.1.content.1: ${MOVED}`,
    ],
    [
      'without the empty one',
      only(({ thinking }) => thinking !== ''),
      adaptive,
      `400 invalid_request_error: messages.1.content.2: ${MOVED}`,
    ],
    [
      'without what was hidden',
      only(({ type }) => type !== 'redacted_thinking'),
      adaptive,
      `400 invalid_request_error: messages.1.content.3: ${MOVED}`,
    ],
    [
      'in other words',
      (content) => content.map((block) => (block.thinking ? { ...block, thinking: 'Garden first.' } : block)),
      adaptive,
      '400 invalid_request_error: messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    [
      'with a false signature',
      (content) => content.map((block) => (block.signature ? { ...block, signature: 'x' } : block)),
      adaptive,
      '400 invalid_request_error: messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    [
      'without a signature',
      (content) => content.map(({ signature: _, ...block }) => block),
      adaptive,
      '400 invalid_request_error: messages.1.content.0.thinking.signature: Field required',
    ],
    [
      'from another model',
      (content) => content,
      { ...adaptive, model: 'other' },
      '400 invalid_request_error: messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
  ])('%s', async (_how, change, more, wanted) => {
    expect(await handedBack(change, more)).toContain(wanted)
  })
})

describe('models refuse kinds of thinking and temperatures, by whatever name a gateway has for them', () => {
  const opus = '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"'
  const fable = '"thinking.type.disabled" is not supported for this model. Thinking defaults to adaptive mode'
  test.each<[string, object, string]>([
    ['claude-opus-4-7', enabled, opus],
    ['anthropic/claude-opus-4.8', enabled, opus],
    ['claude-opus-5', enabled, opus],
    ['claude-sonnet-5-5', enabled, opus],
    ['claude-fable-5', enabled, opus],
    ['claude-fable-5', { thinking: { type: 'disabled' } }, fable],
    ['claude-mythos-5-1', { thinking: { type: 'disabled' } }, fable],
    ['claude-haiku-4-5', adaptive, 'adaptive thinking is not supported on this model'],
    ['anthropic/claude-haiku-4.5', adaptive, 'adaptive thinking is not supported on this model'],
    ['claude-sonnet-4-5-20250929', adaptive, 'adaptive thinking is not supported on this model'],
    ['claude-opus-4-5', adaptive, 'adaptive thinking is not supported on this model'],
    ['claude-opus-5', { temperature: 0 }, '`temperature` is deprecated for this model.'],
    ['claude-haiku-4-5', { ...enabled, temperature: 0 }, '`temperature` may only be set to 1 when thinking is enabled'],
    ['claude-haiku-4-5', { ...enabled, temperature: 1 }, 'accepted'],
    ['claude-haiku-4-5', enabled, 'accepted'],
    ['claude-opus-4-6', enabled, 'accepted'],
    ['claude-opus-4-6', adaptive, 'accepted'],
    ['claude-opus-4-7', adaptive, 'accepted'],
    ['claude-opus-4-7', { thinking: { type: 'disabled' } }, 'accepted'],
    ['claude-fable-5', adaptive, 'accepted'],
  ])('%s with %j', async (model, more, wanted) => {
    const said = await post(await rehearse(), { ...ask('x'), max_tokens: 9_000, model, ...more })
    expect(said).toContain(wanted)
  })

  test.each(['enabled', 'adaptive', 'disabled'] as const)('a server of models that refuse %s', async (type) => {
    const server = await rehearse({ refusesThinking: [type] })
    const body = { ...ask('x'), max_tokens: 9_000, model: 'house-model', thinking: { type, budget_tokens: 2_000 } }
    expect(await post(server, body)).toMatch(/^400 invalid_request_error: .*not supported/)
  })
})

describe('calls of the history have names and ids of the API', () => {
  test.each([
    [
      { name: 'note<|channel|>commentary' },
      "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
    ],
    [{ name: 'functions.note' }, 'messages.1.content.0.tool_use.name: String should match pattern'],
    [{ name: '' }, 'messages.1.content.0.tool_use.name: String should match pattern'],
    [{ name: 'x'.repeat(201) }, 'messages.1.content.0.tool_use.name: String should have at most 200 characters'],
    [{ id: 'functions.look:0' }, "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"],
    [{ id: '' }, 'messages.1.content.0.tool_use.id: String should match pattern'],
  ])('%j', async (wrong, words) => {
    const call = { type: 'tool_use', id: 'c1', name: 'look', input: {}, ...wrong }
    const body = withMessages(
      user,
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result(call.id)] },
    )
    expect(await post(await rehearse(), body)).toContain(words)
  })
})

describe('pictures have a largest size, and a smaller one where there are many', () => {
  const picture = (side: number) => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: sized(side).toString('base64') },
  })
  /** A PNG that says it is so large. */
  const sized = (side: number): Buffer => {
    const bytes = paintDisc('red', 2)
    bytes.writeUInt32BE(side, 16)
    return bytes
  }
  const many = (last: number) => [...Array.from({ length: 20 }, () => picture(16)), picture(last)]
  const shown = async (...content: object[]) => post(await rehearse(), withMessages({ role: 'user', content }))

  test('2,000 pixels beyond twenty pictures, wherever they are', async () => {
    expect(await shown(...many(2001))).toBe(
      '400 invalid_request_error: messages.0.content.20.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
    )
    expect(await shown(...many(2000))).toBe('accepted')
    expect(await shown(...many(2001).slice(1))).toBe('accepted')
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] }
    const results = { role: 'user', content: [{ ...result('c1'), content: many(16) }, picture(2001)] }
    expect(await post(await rehearse(), withMessages(user, call, results))).toContain(
      'messages.2.content.1.image.source.base64.data: ',
    )
  })

  test('8,000 pixels else', async () => {
    expect(await shown(picture(8001))).toBe(
      '400 invalid_request_error: messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels',
    )
    expect(await shown(picture(8000))).toBe('accepted')
  })
})

describe('servers in front of the API and beside it', () => {
  test.each<[keyof typeof REFUSALS, number, unknown]>([
    ['gatewayLimit', 429, { message: 'Too many requests, please wait before trying again.' }],
    ['gatewayForbidden', 403, { message: 'Forbidden' }],
    ['proxy', 502, expect.stringContaining('<html>')],
    ['proxyLimit', 429, expect.stringContaining('<html>')],
    ['bedrock', 400, { message: expect.stringContaining('The model returned the following errors: ') }],
    [
      'noCredit',
      400,
      expect.objectContaining({
        error: { type: 'invalid_request_error', message: expect.stringContaining('credit balance is too low') },
      }),
    ],
  ])('%s', async (kind, status, wanted) => {
    const response = await posted(await rehearse({ script: playReplies(REFUSALS[kind]) }), ask('x'))
    const body = await response.text()
    expect(body.startsWith('<') ? body : JSON.parse(body)).toEqual(wanted)
    expect(response.status).toBe(status)
  })

  const step: readonly ReplyBlock[] = [
    { type: 'thinking', thinking: 'Hm.' },
    { type: 'tool_use', id: 'c1', name: 'look', input: { at: 1 } },
    { type: 'tool_use', id: 'c2', name: 'look', input: { at: 2 } },
  ]
  async function streamed(options: { imitates?: Imitator; quirks?: Quirks }): Promise<Record<string, unknown>[]> {
    const { imitates, quirks = {} } = options
    const script = playReplies({ blocks: step, quirks, split: (text) => [text] })
    const server = await rehearse({ script, ...(imitates && { imitates }) })
    const body = await (await posted(server, { ...withMessages(user), stream: true })).text()
    return body
      .trimEnd()
      .split('\n\n')
      .map((event) => JSON.parse(event.replace(/^event: .*\ndata: /, '')))
  }

  test.each<[Imitator, RegExp, RegExp]>([
    ['ollama', /"thinking_delta"/, /signature/],
    ['kimi', /"thinking_delta"/, /signature/],
    ['deepseek', /"signature_delta"/, /"thinking_delta"/],
    ['llama-cpp', /"name":"look","caller"|"name":"look"\}/, /"name":"look","input"/],
    ['minimax', /"text":"<think>\\nHm\.\\n<\/think>/, /"thinking_delta"/],
  ])('%s sends thoughts and calls in its own form', async (imitates, has, lacks) => {
    const events = JSON.stringify(await streamed({ imitates }))
    expect(events).toMatch(has)
    expect(events).not.toMatch(lacks)
  })

  test.each<[Imitator, string]>([
    ['ollama', 'accepted'],
    ['llama-cpp', 'accepted'],
    [
      'kimi',
      '400 invalid_request_error: thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
    ],
    [
      'deepseek',
      '400 invalid_request_error: The `content[].thinking` in the thinking mode must be passed back to the API.',
    ],
  ])('%s is asked for the next step with a call that has no thought', async (imitates, wanted) => {
    const call = { type: 'tool_use', id: 'c1', name: 'look', input: {} }
    const again = (...content: object[]) =>
      withMessages(user, { role: 'assistant', content }, { role: 'user', content: [result('c1')] })
    const server = await rehearse({ imitates })
    expect(await post(server, again(call))).toBe(wanted)
    expect(await post(server, again({ type: 'thinking', thinking: 'Hm.' }, call))).toBe('accepted')
  })

  test('the input of a call with its beginning, blocks without an end and by turns, and two beginnings', async () => {
    const types = (events: Record<string, unknown>[]) =>
      events.map(({ type, index }) => `${type} ${index ?? ''}`.trim())
    const atStart = await streamed({ quirks: { inputAtStart: true } })
    expect(JSON.stringify(atStart)).not.toContain('input_json_delta')
    expect(atStart).toContainEqual(
      expect.objectContaining({ content_block: expect.objectContaining({ id: 'c2', input: { at: 2 } }) }),
    )
    expect(types(await streamed({ quirks: { unended: true } }))).not.toContain('content_block_stop 0')
    expect(types(await streamed({ quirks: { startsTwice: true } })).slice(0, 2)).toEqual([
      'message_start',
      'message_start',
    ])
    const turns = types(await streamed({ quirks: { interleaved: true } }))
    expect(turns.filter((type) => type.startsWith('content_block_start'))).toEqual(turns.slice(1, 4))
    expect(turns.filter((type) => /[12]$/.test(type)).slice(2, 6)).toEqual([
      'content_block_delta 1',
      'content_block_delta 2',
      'content_block_delta 1',
      'content_block_delta 2',
    ])
  })
})
