import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { DIALECTS, type DialectName } from '../../../src/rehearsal/openai/refused.ts'
import type { OpenAiServerOptions } from '../../../src/rehearsal/openai/server.ts'
import { answerOf, picture, said, system, user, withMessages } from './dialect-parts.ts'
import { ask, askStreamed, rehearse } from './rehearsal.ts'

describe('each dialect says what its server cannot do', () => {
  test.each<[string, OpenAiServerOptions, object, readonly [status: number, body: unknown]]>([
    [
      'tools',
      { dialect: 'ollama', lacks: ['tools'] },
      withMessages(user),
      [400, { error: { message: 'registry.ollama.ai/library/m does not support tools' } }],
    ],
    [
      'tools',
      { dialect: 'vllm', lacks: ['tools'] },
      withMessages(user),
      [400, { error: { message: said('--enable-auto-tool-choice'), type: 'BadRequestError', code: 400 } }],
    ],
    [
      'tools',
      { dialect: 'openrouter', lacks: ['tools'] },
      withMessages(user),
      [404, { error: { message: said('No endpoints found that support tool use.'), code: 404 } }],
    ],
    [
      'pictures',
      { dialect: 'openrouter', lacks: ['pictures'] },
      withMessages(picture),
      [404, { error: { message: 'No endpoints found that support image input', code: 404 } }],
    ],
    [
      'pictures',
      { dialect: 'llama-cpp', lacks: ['pictures'] },
      withMessages(picture),
      [500, { error: { code: 500, message: said('image input is not supported'), type: 'server_error' } }],
    ],
    [
      'pictures',
      { dialect: 'deepseek', lacks: ['pictures'] },
      withMessages(picture),
      [400, { error: { message: said('messages[0]: unknown variant `image_url`, expected `text`') } }],
    ],
    [
      'pictures',
      { dialect: 'groq', lacks: ['pictures'] },
      withMessages(picture),
      [400, { error: { message: 'messages[0].content must be a string' } }],
    ],
    [
      'pictures',
      { dialect: 'lm-studio', lacks: ['pictures'] },
      withMessages(picture),
      [400, { error: 'Model does not support images. Please use a model that does.' }],
    ],
    [
      'pictures',
      { lacks: ['pictures'] },
      withMessages(picture),
      [400, { error: { message: said('image_url is only supported by certain models.') } }],
    ],
    [
      'the system role',
      { dialect: 'gemini', lacks: ['system'] },
      withMessages(system, user),
      [400, [{ error: { message: 'Developer instruction is not enabled for models/m' } }]],
    ],
    [
      'the system role',
      { dialect: 'vllm', lacks: ['system'] },
      withMessages(system, user),
      [400, { error: { message: 'System role not supported' } }],
    ],
    [
      'the system role',
      { dialect: 'openrouter', lacks: ['system'] },
      withMessages(system, user),
      [400, { error: { metadata: { raw: said('Developer instruction') } } }],
    ],
    [
      'a field',
      { dialect: 'mistral' },
      { ...ask('x'), max_completion_tokens: 9 },
      [422, { message: { detail: [{ loc: ['body', 'max_completion_tokens'], input: 9 }] } }],
    ],
    [
      'a field',
      { dialect: 'mistral', lacks: ['stream_options'] },
      askStreamed('x'),
      [422, { message: { detail: [{ loc: ['body', 'stream_options'] }] } }],
    ],
    [
      'a field',
      { dialect: 'gemini' },
      { ...ask('x'), store: false },
      [400, [{ error: { message: 'Invalid JSON payload received. Unknown name "store": Cannot find field.' } }]],
    ],
    [
      'a field',
      { dialect: 'xai' },
      { ...ask('x'), reasoning_effort: 'low' },
      [400, { error: 'Model rehearsal-model does not support parameter reasoningEffort.' }],
    ],
    [
      'a field',
      { dialect: 'ollama', lacks: ['reasoning_effort'] },
      { ...ask('x'), reasoning_effort: 'low' },
      [400, { error: { message: '"rehearsal-model" does not support thinking' } }],
    ],
    [
      'a field',
      { dialect: 'litellm', lacks: ['temperature'] },
      { ...ask('x'), temperature: 0 },
      [400, { error: { message: said("does not support parameters: ['temperature']") } }],
    ],
    [
      'a field',
      { lacks: ['temperature'] },
      { ...ask('x'), temperature: 0 },
      [400, { error: { message: said('temperature') } }],
    ],
    [
      'so long an answer',
      { dialect: 'deepseek', answerTokens: 8192 },
      { ...ask('x'), max_tokens: 9000 },
      [400, { error: { message: 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]' } }],
    ],
    [
      'so long an answer',
      { dialect: 'groq', answerTokens: 8192 },
      { ...ask('x'), max_completion_tokens: 9000 },
      [400, { error: { message: said('`max_completion_tokens` must be less than or equal to `8192`') } }],
    ],
    [
      'so long an answer',
      { answerTokens: 8192 },
      { ...ask('x'), max_tokens: 9000 },
      [400, { error: { message: said('at most 8192 completion tokens') } }],
    ],
  ])('%s: %j', async (_what, options, body, wanted) => {
    expect(await answerOf(options, body)).toMatchObject(wanted)
  })

  const tooLong = ask('word '.repeat(400))
  test.each<[DialectName, number, string]>([
    ['openai', 400, "This model's maximum context length is 100 tokens. However, your messages resulted in"],
    ['deepseek', 400, 'in the messages, 0 in the completion)'],
    ['kimi', 400, 'Your request exceeded model token limit: 100 (requested: '],
    ['gemini', 400, 'exceeds the maximum number of tokens allowed (100)'],
    ['mistral', 400, 'too large for model with 100 maximum context length'],
    ['groq', 400, 'Please reduce the length of the messages or completion.'],
    ['xai', 400, "This model's maximum prompt length is 100 but the request contains "],
    ['azure', 400, "This model's maximum context length is 100 tokens."],
    ['ollama', 400, 'prompt too long; exceeded max context length by '],
    ['lm-studio', 200, ') >= n_ctx (100)'],
    ['vllm', 400, "This model's maximum context length is 100 tokens. However, you requested "],
    ['llama-cpp', 400, '"n_ctx": 100'],
    ['openrouter', 400, "This endpoint's maximum context length is 100 tokens. However, you requested about "],
    ['litellm', 400, 'litellm.ContextWindowExceededError: '],
  ])('that a conversation is too long: %s', async (dialect, status, words) => {
    const [got, body] = await answerOf({ dialect, contextTokens: 100 }, tooLong)
    expect(typeof body === 'string' ? body : JSON.stringify(body, null, 2)).toContain(words)
    expect(got).toBe(status)
  })

  test('only a dialect that says so counts the answer towards the window', async () => {
    const long = { ...ask('x'), max_tokens: 200 }
    expect((await answerOf({ dialect: 'vllm', contextTokens: 200 }, long))[0]).toBe(400)
    expect((await answerOf({ dialect: 'xai', contextTokens: 200 }, long))[0]).toBe(200)
  })

  test('a wrong key, each in its own words and with its own status', async () => {
    const statuses = new Map<string, unknown>()
    for (const dialect of DIALECTS) {
      const { baseUrl } = await rehearse({ dialect })
      const response = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body: '{}' })
      statuses.set(dialect, response.status)
    }
    expect(Object.fromEntries(statuses)).toMatchObject({
      gemini: 400,
      xai: 400,
      azure: 401,
      openrouter: 401,
      litellm: 401,
    })
  })
})

test('the facts page has a section for each dialect, and a source for each row', () => {
  const page = readFileSync(new URL('../../../src/rehearsal/MODEL-FACTS.md', import.meta.url), 'utf8')
  const sections = [...page.matchAll(/^## ([a-z-]+)$/gm)].map(([, name]) => name)
  expect(sections).toEqual([...DIALECTS])
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (-|what |server )/.test(line))
  const sources = rows.map((row) => row.split(' | ').at(-1) ?? '')
  expect(rows.length).toBeGreaterThan(80)
  expect(sources.filter((source) => !/[\w.-]+\/[\w.-]+|no source|by analogy/.test(source))).toEqual([])
})
