import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAnthropic } from '../../../src/agent/models/anthropic.ts'
import type { ServerPlace } from '../../../src/agent/models/failure.ts'
import { badCallOf, failureIn, toModelError } from '../../../src/agent/models/failure.ts'
import { ModelError, withBegun } from '../../../src/agent/models/model-error.ts'
import { createOpenAi } from '../../../src/agent/models/openai.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { textContent } from '../../../src/core/content.ts'
import type { Model, ModelRequest } from '../../../src/core/model.ts'
import { startAnthropicServer } from '../../../src/rehearsal/anthropic/server.ts'
import { startOpenAiServer } from '../../../src/rehearsal/openai/server.ts'
import { noMedia } from '../../fakes/media.ts'
import { never } from '../turns.ts'
import { ANSWERS, type AnswerRow, LIMITED, type Meaning } from './answers-of-servers.ts'

const KEY = 'sk-secret-1'
const hello: ModelRequest = {
  ...{ system: '', tools: [], maxTokens: 4096 },
  messages: [{ role: 'user', content: textContent('hello') }],
}

async function failureOf(model: Model): Promise<ModelError> {
  try {
    for await (const _event of model.stream(hello, never())) {
      // What comes before a failure is of no matter.
    }
  } catch (error) {
    if (error instanceof ModelError) return error
    throw error
  }
  return expect.unreachable('The call was answered.')
}

interface Rig {
  readonly server: { close(): Promise<void>; readonly baseUrl: string }
  answerOnce(status: number, body: AnswerRow[2], headers?: AnswerRow[4]): void
  model(baseUrl?: string): Promise<Model>
  readonly kind: ServerPlace['kind']
}

const given = { apiKey: KEY, model: 'some-model', clock: systemClock, media: noMedia }

async function openAi(): Promise<Rig> {
  const server = await startOpenAiServer({ apiKey: KEY })
  return {
    ...{ server, kind: 'openai' },
    answerOnce: (status, body, headers) => {
      server.faults.add({ action: { kind: 'answer', when: 'before', status, body, ...(headers ? { headers } : {}) } })
    },
    model: (baseUrl = server.baseUrl) => createOpenAi({ ...given, baseUrl }),
  }
}

async function anthropic(): Promise<Rig> {
  const server = await startAnthropicServer({ apiKey: KEY })
  return {
    ...{ server, kind: 'anthropic' },
    answerOnce: (status, body, headers) => {
      server.faults.add({ action: { kind: 'answer', when: 'before', status, body, ...(headers ? { headers } : {}) } })
    },
    model: (baseUrl = server.baseUrl) => createAnthropic({ ...given, baseUrl }),
  }
}

describe.each([
  ['openai', openAi],
  ['anthropic', anthropic],
] as const)('a server of %s', (kind, start) => {
  let rig: Rig
  beforeEach(async () => {
    rig = await start()
  })
  afterEach(() => rig.server.close())

  const answered = async (status: number, body: AnswerRow[2], headers?: AnswerRow[4]): Promise<ModelError> => {
    // A refusal from which something is learnt is met a second time.
    for (let times = 0; times < 3; times++) rig.answerOnce(status, body, headers)
    return failureOf(await rig.model())
  }

  it.each(ANSWERS.map((row) => [row[0], row] as const))('%s', async (_name, [, status, body, means, headers]) => {
    const { code, retry = false, afterMs, says = '' } = means
    const failure = await answered(status, body, headers)
    const advice = afterMs === undefined ? { retry } : { retry, afterMs }
    expect({ code: failure.code, advice: failure.advice }).toEqual({ code, advice })
    expect(failure.message).toContain(says)
    expect(failure.message).toContain(new URL(rig.server.baseUrl).host)
    expect(failure.message).not.toMatch(/^(OpenAI|Anthropic)/)
  })

  it.each([
    ['nothing', ''],
    ['empty lines', '\n\n\r\n'],
    ['a comment', ': keep-alive\n\n'],
    ['a piece of a line', 'dat'],
  ])('a stream of %s, as a proxy gives where its server has died, broke off and is worth a retry', async (_, body) => {
    const failure = await answered(200, body, { 'content-type': 'text/event-stream; charset=utf-8' })
    expect(failure).toMatchObject({ code: 'model_failed', advice: { retry: true } })
  })

  it.each([
    ['nothing of another type', '', 'application/octet-stream'],
    ['a short page that calls itself a stream', '<p>', 'text/event-stream'],
    ['a page', '<html></html>', 'text/html'],
  ])('%s is from something else than the API', async (_, body, type) => {
    const failure = await answered(200, body, { 'content-type': type })
    expect(failure).toMatchObject({ code: 'model_unconfigured', advice: { retry: false } })
  })

  it('what was refused is kept in the words of the server', async () => {
    const failure = await answered(400, { error: { message: 'No.', param: 'tools[0]', code: 'x', type: 'y' } })
    expect(failure.refusal).toEqual({ status: 400, words: 'No. (tools[0])', code: 'x' })
    expect(withBegun(failure, true)).toMatchObject({ begun: true, refusal: failure.refusal })
  })

  it.each([
    [401, { message: 'no' }, `Check models.${kind}.apiKey.`],
    [404, { detail: 'Not Found' }, `check models.${kind}.baseUrl`],
  ])('%s: the remedy names the setting of this server', async (status, body, remedy) => {
    expect((await answered(status, body)).message).toContain(remedy)
  })

  it.each([404, 405])('%s of another API: its kind may be wrong as well', async (status) => {
    const page = await answered(status, { detail: 'Not Found' })
    expect(page.message).toMatch(new RegExp(`check models\\.${kind}\\.baseUrl.*, or the kind of models\\.${kind}$`))
  })

  it('the address of the server is named once', async () => {
    const { baseUrl } = rig.server
    const { host } = new URL(baseUrl)
    const elsewhere = await answered(404, { detail: 'Not Found' })
    const busy = await answered(503, '')
    await rig.server.close()
    for (const { message } of [elsewhere, busy, await failureOf(await rig.model())])
      expect(message.split(host), message).toHaveLength(2)
  })

  it('an address with https of a server without it says what to write, and the words of TLS stay in the log', async () => {
    const failure = await failureOf(await rig.model(rig.server.baseUrl.replace('http:', 'https:')))
    expect(failure).toMatchObject({ code: 'model_unconfigured', advice: { retry: false } })
    expect(failure.message).toContain(`the server speaks http, not https: write http:// in models.${kind}.baseUrl.`)
    expect(failure.message).not.toMatch(/SSL|version|record/i)
    expect(`${failure.cause}`).toMatch(/wrong version number/i)
    expect(`${failure.cause}`.length).toBeLessThan(120)
  })

  it('a server with https that says so where it is asked without is taken at its word', async () => {
    const said = 'Client sent an HTTP request to an HTTPS server.\n'
    const failure = await answered(400, said, { 'content-type': 'text/plain' })
    expect(failure.code).toBe('model_unconfigured')
    expect(failure.message).toContain(`the server speaks https, not http: write https:// in models.${kind}.baseUrl.`)
  })

  it('the key stands in no failure, whatever repeats it', async () => {
    for (const body of [
      { error: { message: `the key ${KEY} is wrong`, code: KEY } },
      { detail: `no ${KEY}` },
      `plain ${KEY}`,
      { error: { message: 'Provider returned error', metadata: { raw: `{"message":"${KEY}"}` } } },
    ]) {
      const failure = await answered(401, body)
      expect(failure.message).toContain('[redacted]')
      expect(inspect(failure, { depth: 10 })).not.toContain(KEY)
    }
  })

  it('a server that is not there says why for each address, and which setting names it', async () => {
    const { baseUrl } = rig.server
    await rig.server.close()
    const failure = await failureOf(await rig.model(baseUrl.replace('127.0.0.1', 'localhost')))
    expect(failure).toMatchObject({ code: 'model_failed', advice: { retry: true } })
    expect(failure.message).toMatch(/127\.0\.0\.1:\d+ refused the connection/)
    expect(failure.message).toContain(`Check models.${kind}.baseUrl`)
    expect(failure.refusal).toBeUndefined()
  })

  it('an event that is no JSON is told without its words', async () => {
    const headers = { 'content-type': 'text/event-stream' }
    const failure = await answered(200, 'event: message_start\ndata: {"secret words\n\n', headers)
    expect(failure).toMatchObject({ code: 'model_failed', advice: { retry: true } })
    expect(failure.message).toContain('no JSON')
    expect(failure.message).not.toContain('secret')
  })
})

const STREAM = { 'content-type': 'text/event-stream' }

describe('an error within a stream', () => {
  const CHUNKS: readonly (readonly [string, object, Meaning])[] = [
    [
      'of Groq',
      { error: { message: 'Failed to call a function.', code: 'tool_use_failed', status_code: 400 } },
      { code: 'model_bad_call', retry: true },
    ],
    [
      'of SiliconFlow',
      { code: 20015, message: 'thinking is enabled but reasoning_content is missing', data: null },
      { code: 'model_invalid_request' },
    ],
    [
      'of another gateway',
      { choices: null, error_type: 'BadRequestError', error_message: 'maximum context length is 9 tokens' },
      { code: 'model_context_length' },
    ],
    [
      'of OpenRouter, too long',
      { error: { code: 400, message: 'prompt is too long: 1284668 tokens > 1000000 maximum' }, choices: [] },
      { code: 'model_context_length' },
    ],
    [
      'of OpenRouter, its server left',
      {
        error: { code: 'server_error', message: 'gone' },
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      },
      LIMITED,
    ],
    [
      'of LM Studio',
      { error: { message: 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)' } },
      { code: 'model_context_length' },
    ],
    ['of a key', { error: { message: 'no', type: 'authentication_error' } }, { code: 'model_auth' }],
    ['of a limit', { error: { message: 'slow', status: 'RESOURCE_EXHAUSTED' } }, LIMITED],
    ['of credit', { error: { message: 'no', code: 'insufficient_quota' } }, { code: 'model_no_credit' }],
    ['of a filter', { error: { message: 'no', code: 'content_filter' } }, { code: 'model_refused' }],
    ['that is a sentence', { error: 'inside' }, LIMITED],
  ]

  it.each(CHUNKS)('%s, on the Chat Completions API', async (_name, chunk, { code, retry = false }) => {
    const rig = await openAi()
    rig.answerOnce(200, `data: ${JSON.stringify(chunk)}\n\n`, STREAM)
    const failure = await failureOf(await rig.model())
    await rig.server.close()
    expect(failure).toMatchObject({ code, advice: { retry } })
    expect(failure.refusal?.words).not.toBe('')
  })

  it.each([
    ['overloaded_error', LIMITED],
    ['api_error', LIMITED],
    ['rate_limit_error', LIMITED],
    ['invalid_request_error', { code: 'model_invalid_request', retry: false }],
    ['authentication_error', { code: 'model_auth', retry: false }],
    ['permission_error', { code: 'model_auth', retry: false }],
    ['billing_error', { code: 'model_no_credit', retry: false }],
    ['not_found_error', { code: 'model_unconfigured', retry: false }],
    ['request_too_large', { code: 'model_context_length', retry: false }],
    ['timeout_error', { code: 'model_failed', retry: true }],
  ])('%s, on the Messages API', async (type, { code, retry }) => {
    const rig = await anthropic()
    rig.answerOnce(
      200,
      `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message: 'inside' } })}\n\n`,
      STREAM,
    )
    const failure = await failureOf(await rig.model())
    await rig.server.close()
    expect(failure).toMatchObject({ code, advice: { retry } })
  })

  it('a reason for the end that stands for a call nobody can read is model_bad_call, charged and worth a retry', async () => {
    const rig = await openAi()
    const end = {
      id: 'c',
      choices: [{ index: 0, delta: {}, finish_reason: 'function_call_filter: MALFORMED_FUNCTION_CALL' }],
    }
    rig.answerOnce(200, `data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`, STREAM)
    const failure = await failureOf(await rig.model())
    await rig.server.close()
    expect(failure).toMatchObject({ code: 'model_bad_call', advice: { retry: true }, begun: true })
  })
})

describe('without a library', () => {
  const place: ServerPlace = { name: 'router', kind: 'openai', baseUrl: 'https://router.example/v1', apiKey: KEY }

  it('a failure names the server by its key under models, and OpenAI for its own host alone', () => {
    const thrown = { status: 401, error: { message: 'no' } }
    expect(toModelError(thrown, place).message).toBe('router.example answered 401: no. Check models.router.apiKey.')
    const own = { ...place, baseUrl: 'https://eu.api.openai.com/v1' }
    expect(toModelError(thrown, own).message).toMatch(/^OpenAI answered 401/)
    const messages = { ...place, kind: 'anthropic', baseUrl: 'https://api.anthropic.com' } as const
    expect(toModelError(thrown, messages).message).toMatch(/^Anthropic answered 401/)
  })

  it('several addresses that were tried give their reasons, and an error without words its code', () => {
    const refused = ['::1', '127.0.0.1'].map((address) =>
      Object.assign(new Error(''), { code: 'ECONNREFUSED', address, port: 1 }),
    )
    const both = new Error('Connection error.', {
      cause: new TypeError('fetch failed', { cause: new AggregateError(refused) }),
    })
    expect(toModelError(both, place).message).toContain(
      ': [::1]:1 refused the connection; 127.0.0.1:1 refused the connection.',
    )
    const bare = new Error('fetch failed', { cause: Object.assign(new Error(''), { code: 'UND_ERR_SOCKET' }) })
    expect(toModelError(bare, place).message).toContain(': UND_ERR_SOCKET.')
    expect(toModelError(new Error(''), place).message).toContain('no reason was given')
    expect(toModelError(undefined, place).code).toBe('model_failed')
  })

  it('a failure of ours within that of a library stays itself', () => {
    const ours = new ModelError('model_stalled', 'x', { advice: { retry: true } })
    expect(toModelError(new Error('Connection error.', { cause: ours }), place)).toBe(ours)
  })

  it('what is a part of an answer is no failure', () => {
    expect(failureIn({ choices: [{ index: 0, delta: { content: 'error' } }] }, place)).toBeUndefined()
    expect(badCallOf('stop', place)).toBeUndefined()
  })
})
