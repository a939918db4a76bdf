import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { ModelTrial } from '../../src/core/model.ts'
import { FEWEST_TOKENS, tryModel } from '../../src/daemon/try-model.ts'
import { startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { textReply } from '../../src/rehearsal/openai/script.ts'
import { rehearse } from '../rehearsal/openai/rehearsal.ts'

const TRIAL: ModelTrial = { question: 'Say hello.', maxTokens: FEWEST_TOKENS, withinMs: 20_000 }

type Servers = Parameters<typeof tryModel>[0]['models']

const tried = (models: Servers, id: string, trial: Partial<ModelTrial> = {}) =>
  tryModel({ models, scriptFolder: '' }, id, { ...TRIAL, ...trial })

it('an answer comes with its tokens, its price and its time', async () => {
  const server = await rehearse({ apiKey: 'sk-1', script: () => textReply('Hello.') })
  const outcome = await tried(
    { openai: { kind: 'openai', baseUrl: server.baseUrl, apiKey: new Secret('sk-1') } },
    'openai/gpt-4o-mini',
  )

  if (!outcome.ok) expect.unreachable(outcome.says)
  const { text, usage = { input: 0, output: 0 }, usd, ms } = outcome
  expect(text).toBe('Hello.')
  expect(usd).toBeCloseTo((usage.input * 0.15 + usage.output * 0.6) / 1_000_000, 5)
  expect(usd).toBeGreaterThan(0)
  expect(ms).toBeLessThan(20_000)
  expect(server.ledger.requests()).toHaveLength(1)
})

it('a key that the server repeats in its answer is redacted', async () => {
  const server = await rehearse({ apiKey: 'sk-repeated', script: () => textReply('You are sk-repeated.') })
  const apiKey = new Secret('sk-repeated')
  const outcome = await tried({ openai: { kind: 'openai', baseUrl: server.baseUrl, apiKey } }, 'openai/gpt-4o-mini')
  expect(outcome).toMatchObject({ ok: true, text: 'You are [secret].' })
})

it.each(['openai', 'anthropic'] as const)(
  '%s: a redirect to another origin is not followed, and the remedy names the setting; one on the same origin is',
  async (kind) => {
    const asked: string[] = []
    const elsewhere = createServer((request, response) => {
      asked.push(JSON.stringify(request.headers))
      response.end('{}')
    })
    const server = createServer((request, response) => {
      asked.push(`own ${request.url}`)
      const to = request.url?.includes('/again') ? originOf(elsewhere) : originOf(server)
      response.writeHead(307, { location: `${to}/again${request.url}` }).end()
    })
    for (const one of [server, elsewhere]) await new Promise<void>((done) => one.listen(0, '127.0.0.1', done))
    onTestFinished(() => {
      for (const one of [server, elsewhere]) one.close()
    })
    const apiKey = new Secret('sk-for-one-server')
    const outcome = await tried({ mine: { kind, baseUrl: `${originOf(server)}/v1`, apiKey } }, 'mine/model')
    expect(outcome).toMatchObject({
      ...{ ok: false, code: 'model_unconfigured' },
      says: expect.stringContaining(`is redirected to ${originOf(elsewhere)}, which is not followed`),
      remedy: 'Set models.mine.baseUrl to the address of the server itself.',
    })
    expect(asked.map((one) => one.replace(/\/v1.*/, ''))).toEqual(['own ', 'own /again'])
  },
)

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('a model of nobody’s list has no price, and a script costs nothing', async () => {
  const server = await rehearse({ keyless: true, dialect: 'ollama', script: () => textReply('Hi.') })
  const home: Servers = { home: { kind: 'openai', baseUrl: server.baseUrl } }

  expect(await tried(home, 'home/qwen3:8b')).toEqual(expect.not.objectContaining({ usd: expect.anything() }))
  expect(await tried(home, 'scripted/echo')).toMatchObject({ ok: true, text: 'echo Say hello.', usd: 0 })
})

it('thoughts that use up all tokens count as an answer, for the server answers', async () => {
  const server = await rehearse({
    ...{ keyless: true, dialect: 'deepseek' as const },
    script: () => ({ parts: [{ type: 'reasoning', reasoning: 'Well, well, well.' }], finishReason: 'length' }),
  })

  expect(await tried({ deep: { kind: 'openai', baseUrl: server.baseUrl } }, 'deep/r1')).toMatchObject({ ok: true })
})

it.each([
  { title: 'a refused key', key: 'sk-wrong', code: 'model_auth', remedy: 'Set a valid key in models.there.apiKey' },
  { title: 'a missing key', code: 'model_auth', remedy: 'Set a valid key in models.there.apiKey' },
  {
    title: 'an unknown model',
    key: 'sk-1',
    models: ['big'],
    code: 'model_unconfigured',
    remedy: 'Check the model name',
  },
])('$title is asked for once and named with its remedy, without the key', async ({ key, models, code, remedy }) => {
  const server = await rehearse({ apiKey: 'sk-1', ...(models ? { models } : {}) })
  const access = key === undefined ? {} : { apiKey: new Secret(key) }
  const outcome = await tried({ there: { kind: 'openai', baseUrl: server.baseUrl, ...access } }, 'there/small')

  expect(outcome).toMatchObject({ ok: false, code, remedy: expect.stringContaining(remedy) })
  expect(JSON.stringify(outcome)).toMatch(/answered 40[14]/)
  expect(JSON.stringify(outcome)).not.toContain('sk-')
})

it('an address without /v1 is named with what most servers have', async () => {
  const server = await rehearse({ keyless: true })
  const baseUrl = server.baseUrl.replace(/\/v1$/, '')

  expect(await tried({ home: { kind: 'openai', baseUrl } }, 'home/x')).toMatchObject({
    ...{ ok: false, code: 'model_unconfigured' },
    remedy: expect.stringContaining('Check models.home.baseUrl, which for most servers ends in /v1'),
  })
})

it('a server that is gone is named at once, without the waits of a turn', async () => {
  const server = await startAnthropicServer()
  await server.close()
  const models: Servers = { claude: { kind: 'anthropic', baseUrl: server.baseUrl, apiKey: new Secret('k') } }
  // Those of the stream are longer; the waits before a further try never end here.
  const after: Clock['after'] = (ms, callback) => (ms < 60_000 ? () => {} : systemClock.after(ms, callback))
  const outcome = await tryModel({ models, scriptFolder: '' }, 'claude/haiku', TRIAL, { ...systemClock, after })

  expect(outcome).toMatchObject({ ok: false, code: 'model_failed', remedy: expect.stringContaining('that its server') })
})

it('a server without an answer is given up after its time', async () => {
  const server = await rehearse({
    keyless: true,
    script: () => textReply('late', { interrupt: { kind: 'stall', afterDelta: 0 } }),
  })

  expect(await tried({ home: { kind: 'openai', baseUrl: server.baseUrl } }, 'home/x', { withinMs: 200 })).toMatchObject(
    {
      ...{ ok: false, code: 'model_stalled', says: 'home/x gave no answer within 0.2 s.' },
    },
  )
})

it('an agent without a model and a server that nobody has configured are named without any call', async () => {
  expect(await tried({}, 'olama/x')).toMatchObject({ ok: false, says: 'models has no server olama, nor any other.' })
  expect(await tried({}, 'none')).toMatchObject({ ok: false, remedy: expect.stringContaining('ANTHROPIC_API_KEY') })
})
