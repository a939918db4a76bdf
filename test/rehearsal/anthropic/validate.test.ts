import { describe, expect, test } from 'vitest'
import { ask, post, rehearse } from './rehearsal.ts'

const tools = [{ name: 'weather', input_schema: { type: 'object' } }]
const call = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'weather', input: {} }] }
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'rain' }] }
const user = { role: 'user', content: 'hi' }

/** A request with these messages and the weather tool. */
function withMessages(...messages: unknown[]): object {
  return { model: 'm', max_tokens: 5, tools, messages }
}

const PNG = `iVBORw0K${'A'.repeat(40)}`
const picture = (source: object) => withMessages({ role: 'user', content: [{ type: 'image', source }] })
const base64 = (data: string, type = 'image/png') => picture({ type: 'base64', media_type: type, data })

describe('the Messages API refuses', () => {
  test.each([
    ['a missing model', { max_tokens: 5, messages: [user] }, 'model: Field required'],
    ['a missing max_tokens', { model: 'm', messages: [user] }, 'max_tokens: Field required'],
    ['missing messages', { model: 'm', max_tokens: 5 }, 'messages: Field required'],
    [
      'max_tokens 0',
      { model: 'm', max_tokens: 0, messages: [user] },
      'max_tokens: Input should be greater than or equal to 1',
    ],
    [
      'max_tokens as text',
      { model: 'm', max_tokens: '5', messages: [user] },
      'max_tokens: Input should be a valid integer',
    ],
    ['no message', withMessages(), 'messages: at least one message is required'],
    [
      'an assistant first',
      withMessages({ role: 'assistant', content: 'x' }),
      'messages: first message must use the "user" role',
    ],
    [
      'a tool role',
      withMessages(user, { role: 'tool', content: 'x' }),
      "messages.1.role: Input should be 'user' or 'assistant'",
    ],
    ['a system role', withMessages({ role: 'system', content: 'x' }), 'messages: Unexpected role "system"'],
    [
      'an empty text block',
      withMessages({ role: 'user', content: [{ type: 'text', text: '' }] }),
      'messages: text content blocks must be non-empty',
    ],
    [
      'a blank text block',
      withMessages({ role: 'user', content: [{ type: 'text', text: ' ' }] }),
      'messages: text content blocks must contain non-whitespace text',
    ],
    [
      'an empty message',
      withMessages({ role: 'user', content: [] }, user),
      'messages.0: all messages must have non-empty content',
    ],
    [
      'a picture of a type it does not know',
      base64(PNG, 'image/heic'),
      "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    ],
    ['a picture that is none', base64('A'.repeat(48)), 'Could not process image'],
    ['a torn picture', base64('iVBORw0K'), 'Could not process image'],
    [
      'a picture of another type than it says',
      base64(PNG, 'image/jpeg'),
      'messages.0.content.0.image.source.base64: The image was specified using the image/jpeg media type, but the image appears to be a image/png image',
    ],
    [
      'a picture that is too large',
      base64(`${PNG}${'A'.repeat(5_242_880)}`),
      'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum',
    ],
    [
      'a tool call within a result',
      withMessages(user, call, {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'thinking', thinking: 'x', signature: 's' }] },
        ],
      }),
      "messages.2.content.0.tool_result.content.0: Input tag 'thinking'",
    ],
    [
      'a dangling tool_use',
      withMessages(user, call),
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1.',
    ],
    [
      'a tool_use answered too late',
      withMessages(user, call, user, { role: 'assistant', content: 'x' }, result),
      'messages.1: `tool_use` ids were found',
    ],
    [
      'a tool_result out of nowhere',
      withMessages(result),
      'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1.',
    ],
    [
      'two results for one call',
      withMessages(user, call, result, result),
      'messages.2.content.1: each tool_use must have a single result',
    ],
    ['an id used twice', withMessages(user, call, result, call, result), 'messages: `tool_use` ids must be unique'],
    [
      'tool blocks without tools',
      { ...withMessages(user, call, result), tools: undefined },
      'Requests which include `tool_use` or `tool_result` blocks must define tools',
    ],
    [
      'a tool without schema',
      { ...ask('x'), tools: [{ name: 'weather' }] },
      'tools.0.custom.input_schema: Field required',
    ],
    [
      'a bad tool name',
      { ...ask('x'), tools: [{ ...tools[0], name: 'the weather' }] },
      'tools.0.custom.name: String should match pattern',
    ],
    ...[
      [{ properties: { $filter: {} } }, ".properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"],
      [{ properties: {}, anyOf: [{}] }, ': input_schema does not support oneOf, allOf, or anyOf at the top level'],
      [{ properties: { a: { type: 'int' } } }, ': JSON schema is invalid. It must match JSON Schema draft 2020-12'],
      [{ properties: { a: { items: [{}] } } }, ': JSON schema is invalid. It must match JSON Schema draft 2020-12'],
      [{ properties: { a: { $ref: '#/$defs/b' } } }, ': JSON schema is invalid.'],
    ].map(([schema, words]): [string, object, string] => [
      `a schema that has ${JSON.stringify(schema)}`,
      { ...ask('x'), tools: [{ name: 'weather', input_schema: { type: 'object', ...(schema as object) } }] },
      `tools.0.custom.input_schema${words}`,
    ]),
    ['two tools of one name', { ...ask('x'), tools: [...tools, ...tools] }, 'tools: Tool names must be unique.'],
    [
      'thinking without signature',
      withMessages(user, { role: 'assistant', content: [{ type: 'thinking', thinking: 'x' }] }, user),
      'messages.1.content.0.thinking.signature: Field required',
    ],
    [
      'a thinking budget over max_tokens',
      { ...ask('x'), thinking: { type: 'enabled', budget_tokens: 2000 } },
      '`max_tokens` must be greater than `thinking.budget_tokens`',
    ],
    ['broken JSON', '{"model":', 'The request body is not valid JSON'],
  ])('%s', async (_name, body, message) => {
    const server = await rehearse()
    expect(await post(server, body)).toContain(`400 invalid_request_error: ${message}`)
    expect(server.ledger.requests()).toHaveLength(0)
  })

  test('a wrong or missing key, a missing version, an unknown path and model, and 32 MB', async () => {
    const server = await rehearse({ models: ['m'] })
    const body = { ...ask('x'), model: 'm' }

    expect(await post(server, body, { 'x-api-key': 'wrong' })).toBe('401 authentication_error: invalid x-api-key')
    expect(await post(server, body, { 'x-api-key': '' })).toBe('401 authentication_error: x-api-key header is required')
    expect(await post(server, body, { 'anthropic-version': '' })).toContain('400 invalid_request_error')
    expect(await post(server, ask('x'))).toBe('404 not_found_error: model: rehearsal-model')
    expect(await post(server, ' '.repeat(32 * 1024 * 1024 + 1))).toContain('413 request_too_large')
    expect(await post(server, body)).toBe('accepted')
    expect((await fetch(`${server.baseUrl}/v2/messages`, { method: 'POST' })).status).toBe(404)
  })
})

describe('the Messages API accepts', () => {
  test.each([
    ['messages of one role in a row', withMessages(user, user)],
    ['a result in the second of two user messages', withMessages(user, call, result, user)],
    ['an empty prefill', withMessages(user, { role: 'assistant', content: '' })],
    ['a dated tool of the vendor', { ...ask('x'), tools: [{ type: 'bash_20250124', name: 'bash' }] }],
  ])('%s', async (_name, body) => {
    expect(await post(await rehearse(), body)).toBe('accepted')
  })
})
