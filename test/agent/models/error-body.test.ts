import { describe, expect, it } from 'vitest'
import { readErrorBody, type SaidError, saysError } from '../../../src/agent/models/error-body.ts'

const JSON_TYPE = 'application/json'
const read = (body: unknown, type = JSON_TYPE) =>
  readErrorBody(typeof body === 'string' ? body : JSON.stringify(body), type)

const signature =
  'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.'
const missing = 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 3'

/** The bodies are those of the servers, as public reports have them. */
const BODIES: readonly (readonly [string, unknown, SaidError])[] = [
  [
    'OpenAI',
    {
      error: {
        message: 'Unsupported parameter.',
        type: 'invalid_request_error',
        param: 'max_tokens',
        code: 'unsupported_parameter',
      },
    },
    {
      message: 'Unsupported parameter.',
      type: 'invalid_request_error',
      param: 'max_tokens',
      code: 'unsupported_parameter',
    },
  ],
  [
    'Anthropic',
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_1' },
    { message: 'Overloaded', type: 'overloaded_error' },
  ],
  [
    'Anthropic, with a code of its own',
    {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'No.', details: { error_code: 'enforced_spend_limit_reached' } },
    },
    { message: 'No.', type: 'rate_limit_error', code: 'enforced_spend_limit_reached' },
  ],
  ['Ollama natively', { error: 'model "x" not found' }, { message: 'model "x" not found' }],
  [
    'Ollama, the words as the name of a field',
    { 'error parsing tool call': "invalid character 'c' looking for beginning of value" },
    { message: "error parsing tool call: invalid character 'c' looking for beginning of value" },
  ],
  [
    'xAI',
    { code: 'Client specified an invalid argument', error: 'Argument not supported on this model: presencePenalty' },
    { message: 'Argument not supported on this model: presencePenalty', code: 'Client specified an invalid argument' },
  ],
  ['Cohere', { message: 'too many tokens' }, { message: 'too many tokens' }],
  [
    'Cerebras',
    {
      message: 'Please reduce the length.',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
    {
      message: 'Please reduce the length.',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  ],
  [
    'Bedrock',
    { message: 'The model returned the following errors: no', __type: 'ValidationException' },
    { message: 'The model returned the following errors: no', type: 'ValidationException' },
  ],
  [
    'older versions of vLLM',
    { object: 'error', message: 'No.', type: 'BadRequestError', param: null, code: 400 },
    { message: 'No.', type: 'BadRequestError', code: '400', status: 400 },
  ],
  [
    'Mistral',
    {
      object: 'error',
      message: "Unexpected role 'user' after role 'tool'",
      type: 'invalid_request_message_order',
      param: null,
      code: '3230',
    },
    { message: "Unexpected role 'user' after role 'tool'", type: 'invalid_request_message_order', code: '3230' },
  ],
  [
    'Mistral, an object as the message',
    {
      object: 'error',
      message: {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'messages', 31, 'assistant', 'reasoning_content'],
            msg: 'Extra inputs are not permitted',
            input: '\n',
          },
        ],
      },
      type: 'invalid_request_error',
      code: null,
    },
    {
      message: 'body.messages.31.assistant.reasoning_content: Extra inputs are not permitted',
      type: 'extra_forbidden',
    },
  ],
  [
    'Mistral, a list as the message',
    {
      object: 'Error',
      message: [{ type: 'extra_forbidden', loc: ['body', 'tools'], msg: 'Extra inputs are not permitted', input: [] }],
      code: 3001,
    },
    { message: 'body.tools: Extra inputs are not permitted', type: 'extra_forbidden', code: '3001' },
  ],
  ['FastAPI', { detail: 'Not Found' }, { message: 'Not Found' }],
  [
    'FastAPI, fields',
    { detail: [{ loc: ['body', 'stream_options'], msg: 'extra fields not permitted', type: 'value_error.extra' }] },
    { message: 'body.stream_options: extra fields not permitted', type: 'value_error.extra' },
  ],
  [
    'Tinker',
    {
      detail: 'Validation Error',
      errors: [{ loc: 'body -> messages -> 0 -> type', msg: "Input should be 'text'", type: 'literal_error' }],
    },
    { message: "Validation Error: body -> messages -> 0 -> type: Input should be 'text'", type: 'literal_error' },
  ],
  [
    'a Nest server',
    { statusCode: 429, message: 'ThrottlerException: Too Many Requests', error: 'Too Many Requests' },
    { message: 'ThrottlerException: Too Many Requests', status: 429 },
  ],
  [
    'Cloudflare',
    { success: false, errors: [{ code: 10000, message: 'Authentication error' }], result: null },
    { message: 'Authentication error', code: '10000' },
  ],
  ['a list of sentences', { errors: ['rate limited', 'come back'] }, { message: 'rate limited; come back' }],
  [
    'Gemini',
    [{ error: { code: 400, message: signature, status: 'INVALID_ARGUMENT' } }],
    { message: signature, code: '400', status: 400, type: 'INVALID_ARGUMENT' },
  ],
  [
    'Gemini, with the time to wait',
    [
      {
        error: {
          code: 429,
          message: 'You exceeded your current quota.',
          status: 'RESOURCE_EXHAUSTED',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }],
        },
      },
    ],
    {
      message: 'You exceeded your current quota.',
      code: '429',
      status: 429,
      type: 'RESOURCE_EXHAUSTED',
      retryAfterMs: 34_500,
    },
  ],
  [
    'Gemini, wrapped twice',
    {
      error: {
        message:
          '{\n  "error": {\n    "code": 429,\n    "message": "Resource has been exhausted (e.g. check quota).",\n    "status": "RESOURCE_EXHAUSTED"\n  }\n}\n',
        code: 429,
        status: 'Too Many Requests',
      },
    },
    { message: 'Resource has been exhausted (e.g. check quota).', code: '429', status: 429, type: 'Too Many Requests' },
  ],
  [
    'OpenRouter, with the words of the server behind it',
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: JSON.stringify({ error: { message: missing, type: 'invalid_request_error' } }),
          provider_name: 'Moonshot',
        },
      },
    },
    { message: `Provider returned error: ${missing}`, code: '400', status: 400, type: 'invalid_request_error' },
  ],
  [
    'OpenRouter, an object as those words',
    {
      error: {
        message: 'Provider returned error',
        code: 502,
        metadata: { raw: { error_type: 'validation_error', error_message: 'No.' } },
      },
    },
    { message: 'Provider returned error: No.', code: '502', status: 502, type: 'validation_error' },
  ],
  ['SiliconFlow', { code: 20015, message: missing, data: null }, { message: missing, code: '20015' }],
  ['DashScope-like', { code: 'Arrearage', msg: 'Access denied.' }, { message: 'Access denied.', code: 'Arrearage' }],
  ['MiniMax', { base_resp: { status_code: 1004, status_msg: 'login fail' } }, { message: 'login fail' }],
  [
    'LiteLLM',
    {
      error: {
        message:
          'litellm.BadRequestError: MistralException - {"object":"error","message":"Unexpected role \'user\' after role \'tool\'","code":"3230"}\nmodel=mistral. context_window_fallbacks=None. fallbacks=None.\n\nSet \'context_window_fallback\' - https://docs.litellm.ai\nReceived Model Group=x',
        type: null,
        param: null,
        code: '400',
      },
    },
    { message: "MistralException - Unexpected role 'user' after role 'tool'", code: '3230', status: 400 },
  ],
  [
    'llama.cpp, whose window is a field',
    {
      error: {
        code: 400,
        message: 'too large',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 14429,
        n_ctx: 8192,
      },
    },
    {
      message: 'too large (n_prompt_tokens: 14429, n_ctx: 8192)',
      code: '400',
      status: 400,
      type: 'exceed_context_size_error',
    },
  ],
  [
    'problem+json',
    { type: 'about:blank', title: 'Too Many Requests', detail: 'Slow down.', status: 429 },
    { message: 'Too Many Requests: Slow down.', type: 'about:blank', status: 429 },
  ],
  [
    'a gateway with names of its own',
    { error_type: 'BadRequestError', error_message: 'No.', choices: null },
    { message: 'No.', type: 'BadRequestError' },
  ],
  ['Apigee', { fault: { faultstring: 'Invalid ApiKey', detail: { errorcode: 'x' } } }, { message: 'Invalid ApiKey' }],
]

describe('an error body', () => {
  it.each(BODIES)('of %s is read', (_name, body, error) => {
    expect(read(body)).toEqual(error)
  })

  it('a sentence by itself is the error', () => {
    expect(read('upstream connect error', 'text/plain')).toEqual({ message: 'upstream connect error' })
    expect(read('"a sentence in quotation marks"')).toEqual({ message: 'a sentence in quotation marks' })
    expect(read('{"error":{"message":"torn', JSON_TYPE)?.message).toContain('torn')
  })

  it.each([
    ['a page', '<html><body>502</body></html>', 'text/html'],
    ['a page that says it is text', '<!DOCTYPE html><title>x</title>', 'text/plain'],
    ['a document of a cloud', '<?xml version="1.0"?><Error/>', 'application/xml'],
    ['nothing', ' \n', JSON_TYPE],
    ['JSON of something else', '{"hello":"there"}', JSON_TYPE],
    ['an empty list', '[]', JSON_TYPE],
  ])('%s says no error', (_name, text, type) => {
    expect(read(text, type)).toBeUndefined()
  })

  it.each([
    ['Please try again in 4.77s. Need more tokens?', 4_770],
    ['Please try again in 7m12s.', 432_000],
    ['Try again in 60 seconds. Passed model=x', 60_000],
    ['Please retry in 20.04466179s.', 20_045],
    ['Rate limit reached. Please try again in 20ms.', 20],
    ['Please retry after 1 minute.', 60_000],
    ['try again in 2h', 7_200_000],
    ['please try again later', undefined],
  ])('%s names the time: %s ms', (words, ms) => {
    expect(read({ error: { message: words } })?.retryAfterMs).toBe(ms)
  })

  it.each([
    [{ error: { message: 'x', retry_after: 3 } }, 3_000],
    [{ message: 'x', retry_after: 1.5 }, 1_500],
    [{ error: { message: 'x', metadata: { retry_after_seconds: 9 } } }, 9_000],
    [{ error: { message: 'x', retry_after: -1 } }, undefined],
    [{ error: { message: 'x', retry_after: 1e12 } }, 86_400_000],
  ])('%j names the time: %s ms', (body, ms) => {
    expect(read(body)?.retryAfterMs).toBe(ms)
  })

  it('words, fields and depth are bounded, and a request that is repeated in them is left out', () => {
    expect(read({ error: { message: 'x'.repeat(900_000) } })?.message.length).toBeLessThan(2_100)
    const many = Array.from({ length: 500 }, (_, at) => ({
      loc: ['body', 'messages', at, 'reasoning_content'],
      msg: 'no',
    }))
    expect(read({ detail: many })?.message.length).toBeLessThan(300)
    expect(read(`${'{"error":'.repeat(100_000)}{"message":"deep"}${'}'.repeat(100_000)}`)).toBeUndefined()
    for (const flood of ['\n', '[', '{"error":', '1s', 'try again in '])
      expect(read(`x${flood.repeat(900_000 / flood.length)}`)?.message.length ?? 0).toBeLessThan(2_100)
    const echo =
      "[{'type': 'value_error', 'loc': ('body',), 'msg': 'Value error, no', 'input': {'messages': ['secret']}}]"
    expect(read({ object: 'error', message: echo })?.message).not.toContain('secret')
  })

  it('JSON within a sentence that goes on behind it stays words', () => {
    const words = `error parsing tool call: raw='{"message":"hi"}]', err=invalid character ']' after top-level value`
    expect(read({ error: words })?.message).toBe(words)
  })
})

describe('a chunk of a stream says an error', () => {
  it.each([
    [{ error: { message: 'x' } }, true],
    [{ object: 'error', message: 'x', code: 400 }, true],
    [{ code: 20015, message: 'x', data: null }, true],
    [{ choices: null, error_type: 'BadRequestError', error_message: 'x' }, true],
    [{ choices: [], error: { code: 502, message: 'x' } }, true],
    [{ base_resp: { status_code: 1004, status_msg: 'x' } }, true],
    [[{ error: { code: 429, message: 'x' } }], true],
    [{ choices: [{ index: 0, delta: { content: 'error' } }] }, false],
    [{ choices: [], usage: { total_tokens: 3 } }, false],
    [{ choices: [], base_resp: { status_code: 0, status_msg: '' } }, false],
    [{ id: '', object: '', choices: [], prompt_filter_results: [] }, false],
    [{ hello: 'there' }, false],
    [[], false],
  ])('%j: %s', (chunk, is) => {
    expect(saysError(chunk)).toBe(is)
  })
})

describe('words that were made to cost', () => {
  it.each(['"', "'", ' ', '.', '\n'])('many of %j behind the JSON of an error: its beginning', (mark) => {
    const message = `failed: {"message":"a"}${mark.repeat(40_000)}x`
    for (let time = 0; time < 20; time++)
      expect(read({ error: { message } })?.message).toMatch(/^failed: {"message":"a"}/)
  })
})
