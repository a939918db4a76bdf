import { describe, expect, test } from 'vitest'
import { DIALECTS, type DialectName } from '../../../src/rehearsal/openai/refused.ts'
import { type AnswerReply, playReplies, textReply } from '../../../src/rehearsal/openai/script.ts'
import { answerOf, asking, call, posted, result, said, system, user, withMessages } from './dialect-parts.ts'
import { rehearse } from './rehearsal.ts'

const deepseek = (message: string) => ({
  error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request_error' },
})
const ALTERNATE =
  'After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.'

describe('each dialect refuses messages in the words and the shape of its server', () => {
  test.each<[string, DialectName, object, readonly [status: number, body: unknown]]>([
    [
      'a call without its thoughts',
      'deepseek',
      withMessages(user, asking(), result()),
      [400, deepseek('The `reasoning_content` in the thinking mode must be passed back to the API.')],
    ],
    [
      'an answer without thoughts in a turn with calls',
      'deepseek',
      withMessages(user, asking({ reasoning_content: '' }), result(), { role: 'assistant', content: 'done' }, user),
      [400, deepseek('The `reasoning_content` in the thinking mode must be passed back to the API.')],
    ],
    [
      'thoughts nobody has had',
      'deepseek',
      withMessages(user, asking({ reasoning_content: 'My own.' }), result()),
      [400, { error: { message: said('not the thoughts that were sent') } }],
    ],
    [
      'a call without its thoughts, in an older turn too',
      'kimi',
      withMessages(user, asking(), result(), { role: 'assistant', content: 'done' }, user),
      [
        400,
        {
          error: {
            message: 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
            type: 'invalid_request_error',
          },
        },
      ],
    ],
    [
      'a call without a signature',
      'gemini',
      withMessages(user, asking(), result()),
      [
        400,
        [
          {
            error: {
              code: 400,
              message: said('Function call is missing a thought_signature in functionCall parts.'),
              status: 'INVALID_ARGUMENT',
            },
          },
        ],
      ],
    ],
    [
      'a false signature',
      'gemini',
      withMessages(
        user,
        asking({}, call('c1', { extra_content: { google: { thought_signature: 'bm8=' } } })),
        result('c1'),
      ),
      [400, [{ error: { code: 400, message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' } }]],
    ],
    [
      'a user behind a tool',
      'mistral',
      withMessages(user, asking(), result(), user),
      [
        400,
        {
          object: 'error',
          message: "Unexpected role 'user' after role 'tool'",
          type: 'invalid_request_message_order',
          param: null,
          code: '3230',
          raw_status_code: 400,
        },
      ],
    ],
    [
      'an assistant at the end',
      'mistral',
      withMessages(user, { role: 'assistant', content: 'x' }),
      [400, { message: said('Expected last role User or Tool') }],
    ],
    [
      'an id of another length',
      'mistral',
      withMessages(user, asking({}, call('call_1')), result('call_1')),
      [
        400,
        {
          message: 'Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.',
          type: 'invalid_function_call',
          code: '3280',
        },
      ],
    ],
    [
      'a field it does not know',
      'mistral',
      withMessages(user, asking({ reasoning_content: 'x' }), result()),
      [
        422,
        {
          object: 'error',
          message: {
            detail: [{ type: 'extra_forbidden', loc: ['body', 'messages', 1, 'assistant', 'reasoning_content'] }],
          },
        },
      ],
    ],
    [
      'a field of a call it does not know',
      'mistral',
      withMessages(user, asking({}, call('c12345678', { extra_content: {} })), result()),
      [422, { message: { detail: [{ loc: ['body', 'messages', 1, 'assistant', 'tool_calls', 0, 'extra_content'] }] } }],
    ],
    [
      'a field it does not know',
      'groq',
      withMessages(user, asking({ reasoning_content: 'x' }), result()),
      [
        400,
        {
          error: {
            message:
              "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
            type: 'invalid_request_error',
          },
        },
      ],
    ],
    [
      'a called tool that is not offered',
      'groq',
      { model: 'm', messages: [user, asking(), result()] },
      [400, { error: { message: 'requested tool does not exist' } }],
    ],
    [
      'an empty message',
      'xai',
      withMessages({ role: 'user', content: '' }),
      [
        400,
        {
          code: 'Client specified an invalid argument',
          error: said('Each message must have at least one content element.'),
        },
      ],
    ],
    [
      'torn arguments',
      'ollama',
      withMessages(user, asking({}, call('c', { function: { name: 'look', arguments: '' } })), result('c')),
      [
        400,
        { error: { message: 'invalid tool call arguments', type: 'invalid_request_error', param: null, code: null } },
      ],
    ],
    [
      'a user behind a tool',
      'llama-cpp',
      withMessages(user, asking(), result(), user),
      [500, { error: { code: 500, message: said(`Jinja Exception: ${ALTERNATE}`), type: 'server_error' } }],
    ],
    ['two users', 'llama-cpp', withMessages(system, user, user), [500, { error: { code: 500 } }]],
    [
      'a user behind a tool',
      'lm-studio',
      withMessages(user, asking(), result(), user),
      [400, { error: said(`Error rendering prompt with jinja template: "${ALTERNATE}"`) }],
    ],
    [
      'an assistant in front',
      'lm-studio',
      withMessages({ role: 'assistant', content: 'x' }, user),
      [400, { error: said(ALTERNATE) }],
    ],
    [
      'details of another model',
      'openrouter',
      withMessages(user, asking({ reasoning_details: [{ type: 'reasoning.text', text: 'x' }] }), result()),
      [
        400,
        {
          error: {
            message: 'Provider returned error',
            code: 400,
            metadata: { provider_name: 'Google AI Studio', raw: said('Corrupted thought signature.') },
          },
        },
      ],
    ],
    [
      'blocks of another model',
      'litellm',
      withMessages(user, asking({ thinking_blocks: [{ type: 'thinking', thinking: 'x', signature: 'y' }] }), result()),
      [400, { error: { message: said('litellm.BadRequestError: AnthropicException - '), code: '400' } }],
    ],
  ])('%s: %s', async (_what, dialect, body, wanted) => {
    expect(await answerOf({ dialect }, body)).toMatchObject(wanted)
  })

  test.each<[string, DialectName, object]>([
    ['thoughts of a call that had none', 'deepseek', withMessages(user, asking({ reasoning_content: '' }), result())],
    ['a turn that called nothing', 'deepseek', withMessages(user, { role: 'assistant', content: 'x' }, user)],
    ['thoughts of a call that had none', 'kimi', withMessages(user, asking({ reasoning_content: '.' }), result())],
    [
      'an older turn without signatures',
      'gemini',
      withMessages(user, asking(), result(), { role: 'assistant', content: 'x' }, user),
    ],
    [
      'the documented value for a call of another model',
      'gemini',
      withMessages(
        user,
        asking(
          {},
          call('c1', { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } }),
          call('c2'),
        ),
        result('c1'),
        result('c2'),
      ),
    ],
    [
      'words between a tool and a user',
      'mistral',
      withMessages(user, asking(), result(), { role: 'assistant', content: 'Yes?' }, user),
    ],
    [
      'words between a tool and a user',
      'llama-cpp',
      withMessages(system, user, asking(), result(), { role: 'assistant', content: 'Yes?' }, user),
    ],
    ['a user behind a tool', 'vllm', withMessages(user, asking(), result(), user)],
    ['calls of another model', 'openrouter', withMessages(user, asking(), result())],
    ['calls of another model', 'litellm', withMessages(user, asking(), result())],
  ])('and takes %s: %s', async (_what, dialect, body) => {
    expect((await answerOf({ dialect }, body))[0]).toBe(200)
  })
})

describe('what must come back is what was sent', () => {
  const thoughts = { type: 'reasoning', reasoning: 'The garden, I think.' } as const
  const asked: AnswerReply = {
    parts: [
      thoughts,
      { type: 'tool_call', name: 'look', arguments: { at: 1 } },
      { type: 'tool_call', name: 'look', arguments: { at: 2 } },
    ],
  }

  /** Plays a step, and asks again with its message, which `change` may alter. */
  async function handedBack(
    dialect: DialectName,
    change: (message: Record<string, unknown>) => object,
  ): Promise<unknown> {
    const server = await rehearse({ dialect, script: playReplies(asked, textReply('Seen.')) })
    const [, first] = await posted(server, withMessages(user))
    const { choices } = first as { choices: { message: Record<string, unknown> }[] }
    const { refusal: _, annotations: __, ...message } = choices[0]?.message ?? {}
    const calls = message.tool_calls as { id: string }[]
    const [status, body] = await posted(
      server,
      withMessages(user, change(message), ...calls.map(({ id }) => result(id))),
    )
    return status === 200 ? 'accepted' : JSON.stringify(body)
  }

  test.each(DIALECTS)('a step of it is accepted as it came: %s', async (dialect) => {
    expect(
      await handedBack(dialect, (message) => (dialect === 'mistral' ? { ...message, content: '' } : message)),
    ).toBe('accepted')
  })

  test.each<[DialectName, string, unknown, string]>([
    ['deepseek', 'reasoning_content', undefined, 'must be passed back'],
    ['deepseek', 'reasoning_content', '', 'not the thoughts that were sent'],
    ['deepseek', 'reasoning_content', 'The garden, I thinK.', 'not the thoughts that were sent'],
    ['kimi', 'reasoning_content', undefined, 'reasoning_content is missing'],
    ['kimi', 'reasoning_content', ' ', 'not the thoughts that were sent'],
    ['openrouter', 'reasoning_details', undefined, 'missing a thought_signature'],
    ['openrouter', 'reasoning_details', [], 'Corrupted thought signature.'],
    ['litellm', 'thinking_blocks', undefined, 'Expected `thinking` or `redacted_thinking`, but found `tool_use`'],
    ['litellm', 'thinking_blocks', [{ type: 'thinking', thinking: '', signature: '' }], 'Invalid `signature`'],
  ])('%s refuses a step whose %s is %j', async (dialect, field, value, words) => {
    expect(await handedBack(dialect, (message) => ({ ...message, [field]: value }))).toContain(words)
  })

  test('Gemini wants the signature of the first call, whatever its id is by now', async () => {
    const changed = (change: (call: object, nth: number) => object) => (message: Record<string, unknown>) => ({
      ...message,
      tool_calls: (message.tool_calls as object[]).map(change),
    })
    expect(
      await handedBack(
        'gemini',
        changed((one, nth) => ({ ...one, id: `other${nth}` })),
      ),
    ).toContain('tool_call_id')
    expect(
      await handedBack(
        'gemini',
        changed((one) => ({ ...one, extra_content: undefined })),
      ),
    ).toContain('missing a thought_signature')
  })

  test('details that come back in the pieces in which they were streamed are taken', async () => {
    const pieces = (message: Record<string, unknown>) => {
      const [text, signed] = message.reasoning_details as { text: string }[]
      const cut = [text?.text.slice(0, 5), text?.text.slice(5)].map((part) => ({ ...text, text: part }))
      return { ...message, reasoning_details: [...cut, signed] }
    }
    expect(await handedBack('openrouter', pieces)).toBe('accepted')
  })

  test('a step of another model on the same server is not that of this one', async () => {
    const server = await rehearse({ dialect: 'kimi', script: playReplies(asked, textReply('Seen.')) })
    await posted(server, { ...withMessages(user), model: 'other' })
    const one = {
      role: 'assistant',
      content: null,
      tool_calls: [1, 2].map((at) => ({ ...call(`c${at}`), function: { name: 'look', arguments: `{"at":${at}}` } })),
    }
    const again = (reasoning_content: string) =>
      withMessages(user, { ...one, reasoning_content }, result('c1'), result('c2'))
    expect((await posted(server, again(thoughts.reasoning)))[0]).toBe(400)
    expect((await posted(server, again('')))[0]).toBe(200)
  })
})

describe('each dialect refuses schemas of tools that its server cannot read', () => {
  test.each<[DialectName, object, string]>([
    ['gemini', { const: 'x' }, 'Unknown name "const" at \'parameters.properties.a\': Cannot find field.'],
    ['gemini', { type: 'string', anyOf: [{ type: 'string' }] }, 'When using any_of, it must be the only field set.'],
    ['gemini', { type: ['string', 'null'] }, "didn't specify the schema type field"],
    ['gemini', { type: 'object', required: ['b'] }, 'required[0]: property is not defined'],
    ['gemini', { type: 'object', properties: {} }, 'should be non-empty for OBJECT type'],
    ['gemini', { type: 'string', required: ['b'] }, 'only allowed for OBJECT type'],
    ['gemini', { type: 'array', items: {} }, 'items: missing field'],
    ['gemini', { type: 'integer', enum: [1] }, 'enum: only allowed for STRING type'],
    ['gemini', { type: 'string', enum: ['x', ''] }, 'enum[1]: cannot be empty'],
    ['gemini', { type: 'string', enum: [true] }, "enum[0]' (TYPE_STRING), true"],
    ['kimi', { type: 'string', anyOf: [{ type: 'string' }] }, 'type should be defined in anyOf items'],
    ['kimi', { enum: ['x'] }, 'type is not defined'],
    ['kimi', { type: ['string', 'null'] }, 'type must be a string'],
    ['kimi', { type: 'string', enum: ['x', 1] }, 'enum values must be of one type'],
    ['kimi', { $ref: '#/properties/a' }, 'references must start with #/$defs/'],
    ['kimi', { $ref: '#', type: 'object' }, 'when using $ref, type should be defined in the referenced schema'],
    ['llama-cpp', { type: 'string', pattern: '\\S' }, "Pattern must start with '^' and end with '$'"],
    ['llama-cpp', { type: 'string', pattern: '^\\d+$' }, 'failed to parse grammar'],
    ['llama-cpp', { type: 'string', maxLength: 65_536 }, 'failed to parse grammar'],
    ['lm-studio', { type: 'object', properties: {} }, 'failed to parse grammar'],
  ])('%s %j', async (dialect, a, words) => {
    const parameters = { type: 'object', properties: { a } }
    const body = { model: 'm', messages: [user], tools: [{ type: 'function', function: { name: 'look', parameters } }] }
    const [status, answer] = await answerOf({ dialect }, body)
    expect(status).toBe(400)
    expect(JSON.stringify(answer).replaceAll('\\"', '"')).toContain(words)
  })
})
