import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { echoScript, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { DOT } from '../fakes/pictures.ts'
import { startChatHouse, user } from './chat-clients.ts'
import type { HouseholdOptions } from './household.ts'

const agents = [
  { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools: [], answerTokens: 100 },
]
const http = { host: '127.0.0.1', port: 0, hosts: [], origins: [] }
const house = (script: Script = echoScript, config: HouseholdOptions['config'] = {}) =>
  startChatHouse({ script, config: { agents, http, ...config } })
const asked = { model: 'main', messages: [user('hi')] }
/** A client relies on these: a value that is none of theirs is a mistake. */
const CHECKED = new Set(['stream_options', 'modalities'])
const TOOL = { type: 'function', function: { name: 'x', parameters: { type: 'object' } } }
/** The answer would have to be a call. */
const FORCED = [
  ...['required', 'any', true, 7, [TOOL], { type: 'function', function: { name: 'x' } }, { name: 'x' }],
  ...[
    { type: 'custom', custom: { name: 'x' } },
    { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [TOOL] } },
  ],
]
const UNSUPPORTED = 'unsupported_value'
type Refused = [object, string | undefined, string?]
const KEPT = [{ metadata: { session: 'bob' } }, {}]

describe('a request that is not answered', () => {
  it('tells the official client by its class, code and parameter', async () => {
    const home = await house()
    const client = await home.client()
    const cases: readonly Refused[] = [
      [{ messages: [] }, 'messages', 'empty_array'],
      [{ messages: 'hi' }, 'messages', 'invalid_type'],
      [{ messages: undefined }, 'messages', 'missing_required_parameter'],
      [{ model: undefined }, 'model', 'missing_required_parameter'],
      [{ messages: [user('  ')] }, 'messages'],
      [{ messages: [{ role: 'model', content: 'x' }] }, 'messages[0].role'],
      [{ messages: [{ role: 'assistant', content: '' }] }, 'messages'],
      [{ messages: [user('hi'), { role: 'user' }] }, 'messages[1].content'],
      [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
      [{ messages: ['hi'] }, 'messages[0]'],
      [{ stream_options: 5 }, 'stream_options'],
      [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
      [{ messages: [{ role: 'user', content: [7] }] }, 'messages[0].content[0]'],
      [{ model: '' }, 'model', 'invalid_value'],
      [{ model: 7 }, 'model', 'invalid_type'],
      [{ n: 2 }, 'n', 'unsupported_value'],
      ...FORCED.map((choice): Refused => [{ tools: [TOOL], tool_choice: choice }, 'tool_choice', UNSUPPORTED]),
      ...FORCED.map((choice): Refused => [{ functions: [{}], function_call: choice }, 'function_call', UNSUPPORTED]),
      [{ messages: [user('hi'), { role: 'assistant', content: 'ok' }, user('')] }, 'messages'],
      [{ messages: [user('hi'), { role: 'assistant', content: 'ok' }, { role: 'user', content: [] }] }, 'messages'],
      [{ response_format: { type: 'json_object' } }, 'response_format.type', 'unsupported_value'],
      [{ response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } } }, 'response_format.type'],
      [{ audio: { voice: 'alloy', format: 'mp3' } }, 'audio', 'unsupported_parameter'],
      [{ logprobs: true }, 'logprobs'],
      [{ top_logprobs: 3 }, 'top_logprobs'],
      [{ modalities: ['text', 'audio'] }, 'modalities[1]', 'unsupported_value'],
      [{ stream: 'yes' }, 'stream'],
      [{ metadata: { session: 7 } }, 'metadata.session'],
    ]
    for (const more of KEPT)
      for (const [changes, param, code = expect.any(String)] of cases) {
        const refused = client.chat.completions.create({ ...asked, ...more, ...changes } as typeof asked)
        const error = await refused.then(
          () => 'answered',
          (thrown: unknown) => thrown,
        )
        expect([changes, error]).toEqual([changes, expect.any(OpenAI.BadRequestError)])
        expect([changes, error]).toMatchObject([changes, { param, code, type: 'invalid_request_error' }])
        expect((error as Error).message).not.toMatch(/invalid input|expected/i)
      }
    const unknown = client.chat.completions.create({ ...asked, model: 'gpt-5.4' })
    await expect(unknown).rejects.toMatchObject({
      ...{ status: 404, code: 'model_not_found', param: 'model' },
      message: expect.stringContaining('There is no agent "gpt-5.4". The agents are: main.'),
    })
    const long = await client.models.retrieve('x'.repeat(3_000)).catch((thrown: Error) => thrown.message)
    expect(long).toMatch(/x{64}". The agents are: main\.$/)
    expect(home.anthropic?.ledger.requests()).toEqual([])
    expect(await home.sessions()).toEqual([])
  })

  it('what changes nothing that was promised is ignored', async () => {
    const client = await (await house()).client()
    const ignored = {
      ...{ temperature: 0.2, top_p: 1, max_tokens: 5, max_completion_tokens: 5, seed: 1, presence_penalty: 0 },
      ...{ n: 1, tools: [], tool_choice: 'auto', stop: null, logprobs: false, response_format: { type: 'text' } },
      ...{ metadata: { a: 'b' }, store: false, reasoning_effort: 'low', parallel_tool_calls: true, chat_id: 'x' },
    } as const
    const bounds = [-1, 0, null, 1e12, 1.5, '512', '', {}]
    const each = [
      ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'seed'],
      ...['presence_penalty', 'frequency_penalty', 'logit_bias', 'metadata', 'stream_options', 'modalities'],
      ...['service_tier', 'prediction', 'store', 'stop', 'reasoning_effort', 'top_k', 'safe_prompt', 'name'],
    ].flatMap((field) => (CHECKED.has(field) ? [null] : bounds).map((value) => ({ [field]: value })))
    const further = [
      ...[{ tools: null }, { tools: [], tool_choice: 'none' }, { tool_choice: '' }, { functions: [] }],
      ...[[TOOL], [{}], [7], 'x', { x: TOOL }].flatMap((tools) => [{ tools }, { functions: tools }]),
      ...[null, 'auto', 'none', {}].flatMap((choice) => [
        ...[
          { tools: [TOOL], tool_choice: choice },
          { functions: [TOOL.function], function_call: choice },
        ],
      ]),
      { tools: [TOOL], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [TOOL] } } },
      // ChatDev sends all of its fields, set or not.
      { stop: null, user: '', functions: null, tool_choice: null, seed: null, max_tokens: 15821.0, logit_bias: {} },
      ...[
        { modalities: ['text'] },
        { stop: ['.', '\n'] },
        { logit_bias: { 50256: -100 } },
        { n: null },
        { stream: null },
      ],
      ...[{ prediction: { type: 'content', content: 'hi' } }, { stream_options: { include_usage: null } }],
      ...[{ response_format: null }, { logprobs: null, top_logprobs: 0 }, { think: false, keep_alive: '5m' }],
    ]
    for (const more of [ignored, ...each, ...further]) {
      const { choices } = await client.chat.completions.create({ ...asked, ...(more as object) })
      expect([more, choices[0]?.message.content]).toEqual([more, 'echo hi'])
    }
  })

  it('an assistant that has only called tools needs no words', async () => {
    const client = await (await house()).client()
    const called = { role: 'assistant', tool_calls: [] }
    const messages = [user('hi'), called, { ...called, content: null }, user('and?')] as never
    const { choices } = await client.chat.completions.create({ model: 'main', messages })
    expect(choices[0]?.message.content).toContain('and?')
  })

  it('an empty message in the middle of a history is as none', async () => {
    const home = await house()
    const client = await home.client()
    for (const content of [[], '', [{ type: 'text', text: '' }]])
      for (const role of ['system', 'assistant', 'user', 'developer']) {
        const messages = [user('hi'), { role, content }, user('and?')] as never
        const { choices } = await client.chat.completions.create({ model: 'main', messages })
        expect([role, content, choices[0]?.message.content]).toEqual([role, content, expect.stringMatching(/and\?$/)])
      }
  })

  it('F-K01: no token, a wrong one and one without the scope are the errors of OpenAI', async () => {
    const home = await house()
    const wrong = new OpenAI({ apiKey: 'sk-x', baseURL: home.baseURL, maxRetries: 0 })
    await expect(wrong.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
    await expect(wrong.chat.completions.create(asked)).rejects.toMatchObject({
      ...{ code: 'invalid_api_key', message: expect.stringMatching(/parley token create api:<name> --scope chat/) },
    })
    const reader = await home.client('api:ui', ['sessions:read', 'sessions:write'])
    await expect(reader.models.list()).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError)
    await expect(reader.chat.completions.create(asked)).rejects.toMatchObject({
      ...{ type: 'permission_error', message: expect.stringMatching(/no scope chat.*token create .* --scope chat/) },
    })
    for (const body of ['{', '[]', 'null', '']) {
      const headers = { authorization: `Bearer ${await home.token()}`, 'content-type': 'application/json' }
      const response = await fetch(`${home.baseURL}/chat/completions`, { method: 'POST', headers, body })
      expect([body, response.status, await response.json()]).toEqual([
        ...[body, 400],
        { error: { message: expect.any(String), type: 'invalid_request_error', code: 'invalid_value', param: null } },
      ])
    }
  })

  it('a path that is none is an error of OpenAI, and names the right one and those that there are', async () => {
    const home = await house()
    const headers = { authorization: `Bearer ${await home.token()}` }
    const root = home.baseURL.replace(/\/v1$/, '')
    const models = ['GET /v1/models/', 'GET /models', 'GET /v1/v1/models', 'GET //v1/models', 'GET /v1/models//']
    const chats = [
      ...['POST /v1/chat/completions/', 'POST /chat/completions', 'POST /v1//chat/completions'],
      ...['POST /v1/v1/chat/completions', 'POST //chat//completions', 'POST /openai/deployments/main/chat/completions'],
    ]
    const others = [
      ...['POST /v1/completions', 'POST /v1/responses', 'POST /v1/embeddings', 'GET /v1/chat/completions'],
      ...['OPTIONS /v1/chat/completions', 'DELETE /v1/models/main'],
    ]
    const asked = [
      ...models.map((one) => [one, ': ask /v1/models'] as const),
      ...chats.map((one) => [one, ': ask /v1/chat/completions'] as const),
      ...others.map((one) => [one, ''] as const),
    ]
    for (const [one, right] of asked) {
      const [method = '', path] = one.split(' ')
      const response = await fetch(`${root}${path}`, { method, headers })
      expect([one, response.status, await response.json()]).toEqual([
        ...[one, 404],
        {
          error: {
            message: expect.stringContaining(
              `There is no ${one}${right}. Of OpenAI's API there are GET /v1/models and`,
            ),
            ...{ type: 'invalid_request_error', code: 'unknown_url', param: null },
          },
        },
      ])
      // Whoever brings no token is told the same of every path.
      expect((await fetch(`${root}${path}`, { method })).status).toBe(401)
    }
    const head = await fetch(`${home.baseURL}/models`, { method: 'HEAD', headers })
    expect([head.status, await head.text()]).toEqual([200, ''])
    // Clients add what they like to the address.
    expect((await fetch(`${home.baseURL}/models?user=bob&limit=20`, { headers })).status).toBe(200)
  })

  it('a budget that is spent is no quota, and no client tries again by itself', async () => {
    const day = { tokens: 100 }
    const usage = { input_tokens: 450, output_tokens: 50 }
    const home = await house(() => textReply('fine', { usage }), {
      budgets: { timezone: 'UTC', warnAt: 0.8, prices: {}, total: { day } } as never,
    })
    const client = new OpenAI({ apiKey: await home.token(), baseURL: home.baseURL, maxRetries: 3 })
    for (const more of [...KEPT, { ...asked, stream: true }]) {
      const refused = client.chat.completions.create({ ...asked, ...more })
      await expect(refused).rejects.toMatchObject({
        status: 402,
        code: 'insufficient_quota',
        type: 'insufficient_quota',
      })
    }
    expect(home.anthropic?.ledger.requests()).toEqual([])
    // Each was said once.
    const { events } = await home.daemon.operator.sessions.history('api:ui:bob', { limit: 200 })
    expect(events.filter(({ type }) => type === 'user_message')).toHaveLength(1)
  })

  it('C10: a session that has had all its turns names what helps a client, and a new session is answered', async () => {
    const home = await house(echoScript, { session: { queue: { max: 100, busy: 'queue' }, turnCap: { api: 1 } } })
    const client = await home.client()
    const ask = (session: string) => client.chat.completions.create({ ...asked, metadata: { session } })
    await ask('one')
    const refused = await ask('one').catch((error: Error) => error.message)
    expect(refused).toMatch(/begin a new chat, or a session of another name, or .* session\.turnCap\.api\. \(tr_/)
    const [why] = await home.daemon.operator.why(/tr_\w+/.exec(String(refused))?.[0] ?? '')
    expect(JSON.stringify(why)).toMatch(/begin a new chat there.*raise session\.turnCap\.api/i)
    expect(JSON.stringify(why)).not.toContain('/new')
    expect((await ask('two')).choices[0]?.finish_reason).toBe('stop')
  })

  it('R32: a full queue is a limit of rate', async () => {
    const gate = createGate()
    const home = await house(() => textReply('late', { holds: [{ beforeDelta: 0, gate }] }), {
      session: { queue: { max: 1, busy: 'queue' } },
    })
    const client = await home.client()
    const ask = (words: string) =>
      client.chat.completions.create({ ...asked, messages: [user(words)], metadata: { session: 'bob' } })
    const first = ask('one')
    await gate.reached
    const second = ask('two')
    await expect.poll(async () => (await home.daemon.operator.status()).waiting).toBe(1)
    await expect(ask('three')).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    gate.release()
    await Promise.all([first, second])
  })

  it('a model whose key is wrong is a failure of the server that no client repeats', async () => {
    const home = await house(() => ({ error: { status: 401, type: 'authentication_error' } }))
    const client = new OpenAI({ apiKey: await home.token(), baseURL: home.baseURL, maxRetries: 3 })
    for (const more of KEPT) {
      const refused = client.chat.completions.create({ ...asked, ...more })
      await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError)
      await expect(client.chat.completions.create({ ...asked, ...more })).rejects.toMatchObject({
        ...{ code: 'model_auth', type: 'server_error' },
      })
    }
    expect(home.anthropic?.ledger.requests()).toHaveLength(4)
  })

  it('T30: the send policy holds for a chat that is not kept as well', async () => {
    const home = await startChatHouse({
      script: echoScript,
      routing: {
        access: { direct: 'public', groups: [] },
        sendPolicy: { rules: [{ match: { channel: 'api' }, action: 'deny' }], default: 'allow' },
      } as never,
      config: { agents, http },
    })
    const client = await home.client()
    for (const more of KEPT)
      await expect(client.chat.completions.create({ ...asked, ...more })).rejects.toMatchObject({ status: 403 })
    expect(home.anthropic?.ledger.requests()).toEqual([])
  })
})

describe('pictures and files', () => {
  const url = `data:image/png;base64,${Buffer.from(DOT).toString('base64')}`
  const picture = { type: 'image_url', image_url: { url } } as const
  const note = `data:text/plain;base64,${Buffer.from('milk and eggs').toString('base64')}`

  it('come inside of the request, are shown, and are kept with a session alone', async () => {
    const home = await house()
    const client = await home.client()
    const file = { type: 'file', file: { file_data: note, filename: 'list.txt' } } as const
    for (const more of KEPT) {
      const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'look' }, picture, file] }]
      await client.chat.completions.create({ model: 'main', messages, ...more })
      const shown = home.anthropic?.ledger.requests().at(-1)?.messages.at(-1)?.content
      expect(shown).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ type: 'image' }),
          expect.objectContaining({ type: 'text', text: expect.stringContaining('> milk and eggs') }),
        ]),
      )
    }
    // That of the session is needed for its next turn; the other request has left none.
    const { events } = await home.daemon.operator.sessions.history('api:ui:bob', { limit: 200 })
    expect(events.flatMap(({ files }) => files ?? [])).toMatchObject([{ mime: 'image/png' }, { mime: 'text/plain' }])
  })

  it('an address is not fetched, and what is no file is refused', async () => {
    const home = await house()
    const client = await home.client()
    for (const bad of [
      'https://example.org/a.png',
      'file:///etc/passwd',
      'data:image/png,abc',
      'data:image/png;base64,',
      'data:image/png;base64,@@@@',
      // Read with what is no base64 left out, it would be another file.
      url.replace(/.{8}$/, '@@@@$&'),
      'x',
    ])
      for (const more of KEPT) {
        const messages = [{ role: 'user' as const, content: [{ type: 'image_url' as const, image_url: { url: bad } }] }]
        await expect(client.chat.completions.create({ model: 'main', messages, ...more })).rejects.toMatchObject({
          ...{ status: 400, param: 'messages[0].content[0].image_url' },
        })
      }
    expect(await home.sessions()).toEqual([])
  })

  it('a body of 2 MB is read, one of 21 MB is not', async () => {
    const home = await house()
    const client = await home.client()
    const large = Buffer.alloc(1_500_000, 'a').toString('base64')
    const messages = (data: string) => [
      {
        role: 'user' as const,
        content: [{ type: 'file' as const, file: { file_data: `data:text/plain;base64,${data}` } }],
      },
    ]
    await expect(client.chat.completions.create({ model: 'main', messages: messages(large) })).resolves.toBeDefined()
    const huge = 'a'.repeat(21 * 1024 * 1024)
    const refused = client.chat.completions.create({ model: 'main', messages: messages(huge) })
    await expect(refused).rejects.toMatchObject({
      ...{ status: 413, type: 'invalid_request_error', code: 'too_long', param: null },
      message: expect.stringContaining('20971520 bytes'),
    })
    const thrown = await refused.catch((error: unknown) => error)
    expect(thrown instanceof OpenAI.APIError && thrown.headers?.get('x-should-retry')).toBe('false')
  })
})
