import { describe, expect, test } from 'vitest'
import { ask, post, rehearse } from './rehearsal.ts'

const look = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }
const named = (name: unknown) => [{ type: 'function', function: { name } }]
const call = (id = 'c1', name = 'weather') => ({ id, type: 'function', function: { name, arguments: '{}' } })
const asking = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const result = (id = 'c1') => ({ role: 'tool', tool_call_id: id, content: 'rain' })
const user = { role: 'user', content: 'hi' }
const withMessages = (...messages: unknown[]): object => ({ model: 'm', messages })
const withTools = (tools: unknown, more: object = {}): object => ({ ...ask('x'), tools, ...more })

const PNG = `iVBORw0K${'A'.repeat(40)}`
const url = (address: unknown, role = 'user') =>
  withMessages({ role, content: [{ type: 'image_url', image_url: { url: address } }] })

const UNANSWERED =
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
const FORMATS =
  "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp']."

describe('the Chat Completions API refuses', () => {
  test.each<[string, unknown, string]>([
    ['a missing model', { messages: [user] }, 'null null: you must provide a model parameter'],
    ['a model that is no text', { model: 7, messages: [user] }, 'invalid_type model: Invalid type for'],
    [
      'missing messages',
      { model: 'm' },
      "missing_required_parameter messages: Missing required parameter: 'messages'.",
    ],
    [
      'messages that are no list',
      { model: 'm', messages: 'hi' },
      "invalid_type messages: Invalid type for 'messages': expected an array of objects, but got a string instead.",
    ],
    ['no message', withMessages(), "empty_array messages: Invalid 'messages': empty array."],
    ['an unknown field', { ...ask('x'), maxTokens: 5 }, 'null null: Unrecognized request argument supplied: maxTokens'],
    ['a message without role', withMessages({ content: 'x' }), 'missing_required_parameter messages[0].role: '],
    [
      'an unknown role',
      withMessages({ role: 'bot', content: 'x' }),
      "invalid_value messages[0].role: Invalid value: 'bot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    ],
    ['a message without content', withMessages({ role: 'user' }), 'missing_required_parameter messages[0].content: '],
    [
      'content that is null',
      withMessages(user, { role: 'assistant', content: null }),
      "null messages.[1].content: Invalid value for 'content': expected a string, got null.",
    ],
    [
      'content of another kind',
      withMessages({ role: 'user', content: { text: 'x' } }),
      "invalid_type messages[0].content: Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an object instead.",
    ],
    [
      'a part without type',
      withMessages({ role: 'user', content: [{ text: 'x' }] }),
      "missing_required_parameter messages[0].content[0].type: Missing required parameter: 'messages[0].content[0].type'.",
    ],
    [
      'a part of an unknown type',
      withMessages({ role: 'user', content: [{ type: 'image' }] }),
      "invalid_value messages[0].content[0].type: Invalid value: 'image'.",
    ],
    ['no part', withMessages({ role: 'user', content: [] }), 'empty_array messages[0].content: '],
    [
      'a result out of nowhere',
      withMessages(user, result()),
      "null messages.[1].role: Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ],
    [
      'a result that comes too late',
      withMessages(user, asking(call()), result(), user, result()),
      'null messages.[4].role: Invalid parameter: messages with role',
    ],
    [
      'a result without the id of its call',
      withMessages(user, asking(call()), { role: 'tool', content: 'x' }),
      "null messages.[2].tool_call_id: Missing parameter 'tool_call_id'",
    ],
    [
      'a result of another call',
      withMessages(user, asking(call()), result('c2')),
      "null messages.[2].tool_call_id: Invalid parameter: 'tool_call_id' of 'c2' not found in 'tool_calls' of previous message.",
    ],
    [
      'two results of one call',
      withMessages(user, asking(call()), result(), result()),
      "null messages.[3].tool_call_id: Duplicate value for 'tool_call_id' of 'c1'",
    ],
    ['a call without answer', withMessages(user, asking(call())), `null messages.[2].role: ${UNANSWERED}c1`],
    [
      'one of two calls without answer',
      withMessages(user, asking(call(), call('c2')), result(), user),
      `null messages.[3].role: ${UNANSWERED}c2`,
    ],
    ['an empty list of calls', withMessages(user, asking()), 'empty_array messages[1].tool_calls: '],
    [
      'an id of a call that is too long',
      withMessages(user, asking(call('x'.repeat(41)))),
      "string_above_max_length messages[1].tool_calls[0].id: Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
    ],
    [
      'a call with a bad name',
      withMessages(user, asking(call('c1', 'the weather'))),
      'invalid_value messages[1].tool_calls[0].function.name: ',
    ],
    [
      'arguments that are no text',
      withMessages(user, asking({ ...call(), function: { name: 'weather', arguments: {} } })),
      'invalid_type messages[1].tool_calls[0].function.arguments: ',
    ],
    ['a tool without function', withTools([{ type: 'function' }]), 'missing_required_parameter tools[0].function: '],
    ['a tool of another type', withTools([{ ...look, type: 'bash' }]), 'invalid_value tools[0].type: '],
    ['a tool without name', withTools(named(undefined)), 'missing_required_parameter tools[0].function.name: '],
    [
      'a bad tool name',
      withTools(named('the weather')),
      "invalid_value tools[0].function.name: Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    ],
    ['a long tool name', withTools(named('x'.repeat(65))), 'string_above_max_length tools[0].function.name: '],
    ['no tools in a list of them', withTools([]), 'empty_array tools: '],
    ['too many tools', withTools(Array.from({ length: 129 }, () => look)), 'array_above_max_length tools: '],
    ...[
      [{ properties: { a: { type: 'array' } } }, "In context=('properties', 'a'), array schema missing items."],
      [
        { properties: {}, oneOf: [{}] },
        "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not'",
      ],
      [{ properties: [] }, "[] is not of type 'object'"],
      [{ properties: {}, required: null }, "null is not of type 'array'"],
      [{ properties: { a: { type: 'float' } } }, '"float" is not under any of the given schemas'],
    ].map(([schema, words]): [string, object, string] => [
      `a schema that has ${JSON.stringify(schema)}`,
      withTools([{ type: 'function', function: { name: 'w', parameters: { type: 'object', ...(schema as object) } } }]),
      `invalid_function_parameters tools[0].function.parameters: Invalid schema for function 'w': ${words}`,
    ]),
    ['a choice without tools', { ...ask('x'), tool_choice: 'auto' }, 'null tool_choice: Invalid value for'],
    [
      'a schema that is no object',
      withTools([{ type: 'function', function: { name: 'w', parameters: { type: 'string' } } }]),
      "invalid_function_parameters tools[0].function.parameters: Invalid schema for function 'w': schema must be",
    ],
    [
      'a schema without properties',
      withTools([{ type: 'function', function: { name: 'w', parameters: { type: 'object' } } }]),
      "invalid_function_parameters tools[0].function.parameters: Invalid schema for function 'w': In context=(), object schema missing properties.",
    ],
    [
      'a picture in the message of an assistant',
      url(`data:image/png;base64,${PNG}`, 'assistant'),
      "invalid_value messages[0]: Invalid 'messages[0]'. Image URLs are only allowed for messages with role 'user', but this message with role 'assistant' contains an image URL.",
    ],
    [
      'a picture of a type it does not know',
      url(`data:image/heic;base64,${PNG}`),
      `invalid_image_format null: ${FORMATS}`,
    ],
    ['a picture that is none', url(`data:image/png;base64,${'A'.repeat(48)}`), `invalid_image_format null: ${FORMATS}`],
    ['a torn picture', url('data:image/png;base64,iVBORw0K'), `invalid_image_format null: ${FORMATS}`],
    ['a file that is no picture', url(`data:text/plain;base64,${PNG}`), 'invalid_image_format null: Invalid MIME type'],
    ['base64 that is none', url('data:image/png;base64,!!'), 'invalid_base64 null: '],
    ['an address that cannot be loaded', url('https://example.org/a.png'), 'invalid_image_url messages[0].content[0]'],
    [
      'a limit below 1',
      { ...ask('x'), max_tokens: 0 },
      "integer_below_min_value max_tokens: Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
    ],
    ['a limit as text', { ...ask('x'), max_tokens: '5' }, 'invalid_type max_tokens: '],
    [
      'the old limit for a model that thinks',
      { ...ask('x'), model: 'o3-mini', max_tokens: 5 },
      "unsupported_parameter max_tokens: Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ],
    [
      'both limits',
      { ...ask('x'), max_tokens: 5, max_completion_tokens: 5 },
      "null max_tokens: Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
    ],
    [
      'an effort of a model that does not think',
      { ...ask('x'), model: 'gpt-4o', reasoning_effort: 'low' },
      'null null: Unrecognized request argument supplied: reasoning_effort',
    ],
    [
      'an effort the model does not know',
      { ...ask('x'), model: 'o3', reasoning_effort: 'none' },
      "unsupported_value reasoning_effort: Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'low', 'medium', and 'high'.",
    ],
    [
      'an effort nobody knows',
      { ...ask('x'), model: 'o3', reasoning_effort: 'huge' },
      "invalid_value reasoning_effort: Invalid value: 'huge'.",
    ],
    [
      'tools of a model that thinks by itself',
      withTools([look], { model: 'gpt-5.6-sol' }),
      "null reasoning_effort: Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    ],
    [
      'tools of a model that is told to think',
      withTools([look], { model: 'gpt-5.4', reasoning_effort: 'low' }),
      'null reasoning_effort: Function tools with reasoning_effort are not supported for gpt-5.4',
    ],
    [
      'options of a stream without a stream',
      { ...ask('x'), stream_options: { include_usage: true } },
      "null stream_options: The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    ],
    ['broken JSON', '{"model":', 'null null: We could not parse the JSON body of your request.'],
  ])('%s', async (_name, body, message) => {
    const server = await rehearse()
    expect(await post(server, body)).toContain(`400 ${message}`)
    expect(server.ledger.requests()).toHaveLength(0)
  })

  test('a wrong or missing key, an unknown model, path and method, and 50 MB', async () => {
    const server = await rehearse({ models: ['m'], apiKey: 'sk-rehearsal-0001' })
    const body = { ...ask('x'), model: 'm' }

    expect(await post(server, body, { authorization: 'Bearer sk-proj-not-the-key' })).toBe(
      '401 invalid_api_key null: Incorrect API key provided: sk-proj-*******-key. You can find your API key at https://platform.openai.com/account/api-keys.',
    )
    expect(await post(server, body, { authorization: '' })).toContain("401 null null: You didn't provide an API key.")
    expect(await post(server, ask('x'))).toBe(
      '404 model_not_found null: The model `rehearsal-model` does not exist or you do not have access to it.',
    )
    expect(await post(server, ' '.repeat(50 * 1024 * 1024 + 1))).toContain('413 ')
    expect(await post(server, body)).toBe('accepted')
    expect((await fetch(`${server.baseUrl}/responses`, { method: 'POST' })).status).toBe(404)
    expect((await fetch(`${server.baseUrl}/chat/completions`)).status).toBe(405)
  })

  test('a prompt above the context of the model', async () => {
    const server = await rehearse({ contextTokens: 100 })
    expect(await post(server, ask('x'.repeat(1000)))).toMatch(
      /^400 context_length_exceeded messages: This model's maximum context length is 100 tokens\. However, your messages resulted in \d+ tokens\./,
    )
    expect(await post(server, ask('x'))).toBe('accepted')
  })
})

describe('the Chat Completions API accepts', () => {
  test.each([
    ['messages of one role in a row', withMessages(user, user)],
    [
      'a developer message, and a system message anywhere',
      withMessages({ ...user, role: 'developer' }, user, { ...user, role: 'system' }),
    ],
    ['two calls answered in any order', withMessages(user, asking(call(), call('c2')), result('c2'), result())],
    ['tool messages without tools', withMessages(user, asking(call()), result())],
    [
      'arguments that are no JSON',
      withMessages(user, asking({ ...call(), function: { name: 'w', arguments: '{"a' } }), result()),
    ],
    ['a picture', url(`data:image/png;base64,${PNG}`)],
    ['the new limit for every model', { ...ask('x'), max_completion_tokens: 5 }],
    ['tools of a model that can think', withTools([look], { model: 'gpt-5.4' })],
    ['tools of a model that shall not think', withTools([look], { model: 'gpt-5.6', reasoning_effort: 'none' })],
    ['an effort of a model that thinks', { ...ask('x'), model: 'gpt-5.1', reasoning_effort: 'none' }],
  ])('%s', async (_name, body) => {
    expect(await post(await rehearse(), body)).toBe('accepted')
  })

  test('calls without a key where none is needed', async () => {
    expect(await post(await rehearse({ keyless: true }), ask('x'), { authorization: '' })).toBe('accepted')
  })
})
