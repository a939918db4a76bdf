import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { catalogue } from '../../adapters/index.ts'
import { createAnthropic } from '../../src/agent/models/anthropic.ts'
import { createOpenAi } from '../../src/agent/models/openai.ts'
import type { ChannelPlugin } from '../../src/channels/adapter.ts'
import { systemClock } from '../../src/core/clock.ts'
import { textContent } from '../../src/core/content.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { RecordingSink } from '../contracts/recording-sink.ts'
import { noMedia } from '../fakes/media.ts'

const all = ['telegram', 'discord', 'slack'] as const
const CANARY = '7000001:canary-token'
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

interface Strange {
  readonly status: number
  readonly type: string
  readonly body: string
}

/** A server that answers everything alike. Returns its root. */
async function serverThat({ status, type, body }: Strange): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': type }).end(body)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/some/where`
}

/** Where nobody listens. */
async function nowhere(): Promise<string> {
  const root = await serverThat({ status: 200, type: '', body: '' })
  const server = servers.pop()
  await new Promise((resolve) => server?.close(resolve))
  return root
}

const services = { clock: systemClock, logger: silentLogger, random: () => 0 }

/** What a start there ends with. */
async function startAt(platform: (typeof all)[number], apiRoot: string): Promise<string> {
  const { create, configSchema } = catalogue[platform] as ChannelPlugin<never> & { configSchema: z.ZodType }
  const tokens = platform === 'slack' ? { botToken: `xoxb-${CANARY}`, appToken: `xapp-${CANARY}` } : { token: CANARY }
  const root = platform === 'slack' ? `${apiRoot}/` : apiRoot
  const config = configSchema.parse({ ...tokens, apiRoot: root })
  const adapter = await create({ account: 'default', config: config as never, services })
  const failure = await adapter
    .start(new RecordingSink(), new AbortController().signal)
    .then(() => 'it started', String)
  await adapter.stop()
  return failure
}

const CALLS = { telegram: 'get(?:Me|WebhookInfo)', discord: 'GET /users/@me', slack: 'auth.test' } as const
const NAMES = { telegram: 'the Telegram Bot API', discord: 'the Discord API', slack: 'the Slack Web API' } as const

const strangers: readonly (Strange & { readonly kind: string })[] = [
  { status: 404, type: 'text/html', body: '<h1>Not Found</h1>', kind: 'HTML' },
  { status: 200, type: 'text/html', body: '<h1>Welcome</h1>', kind: 'HTML' },
  { status: 200, type: 'application/json', body: '{"it":"works"', kind: 'JSON of another kind' },
  { status: 404, type: 'application/json', body: '{"error":{"code":404}}', kind: 'JSON of another kind' },
]

/** What each platform's own server says to a call at a path where its API is not. */
const REFUSALS = {
  telegram: { status: 404, body: '{"ok":false,"error_code":404,"description":"Not Found"}' },
  discord: { status: 404, body: '{"message":"404: Not Found","code":0}' },
  slack: { status: 200, body: '{"ok":false,"error":"unknown_method","req_method":"some/auth.test"}' },
} as const

test.each(all)('%s at an apiRoot that is another path of its own server says to check apiRoot', async (platform) => {
  const said = await startAt(platform, await serverThat({ ...REFUSALS[platform], type: 'application/json' }))

  expect(said).toMatch(/: check apiRoot$|, check apiRoot$/)
  expect(said).not.toContain('canary')
})

describe.each(all)('%s at an apiRoot that is another server', (platform) => {
  test.each(strangers)('answering $status $type says so in the line all platforms have', async (stranger) => {
    const root = await serverThat(stranger)
    const at = root.replace('http://', '').replaceAll('.', '\\.')
    const said = await startAt(platform, root)

    expect(said).toMatch(
      new RegExp(
        `: ${CALLS[platform]} at ${at} was answered ${stranger.status} with ${stranger.kind}, which is not ${NAMES[platform]}: check apiRoot$`,
      ),
    )
    expect(said).not.toContain('canary')
  })

  test('in trouble is not said to be out of reach', async () => {
    const said = await startAt(platform, await serverThat({ status: 502, type: 'text/html', body: '<h1>Bad</h1>' }))

    expect(said).toMatch(new RegExp(`${CALLS[platform]} at 127\\.0\\.0\\.1:\\d+/some/where was answered 502`))
    expect(said).not.toMatch(/canary|reach|apiRoot/)
  })

  test('where nobody listens names the call, the address and the refusal', async () => {
    const said = await startAt(platform, await nowhere())

    expect(said).toMatch(
      new RegExp(`${CALLS[platform]} at 127\\.0\\.0\\.1:\\d+/some/where: 127\\.0\\.0\\.1:\\d+ refused the connection`),
    )
    expect(said).not.toContain('canary')
  })
})

const providers = [
  {
    provider: 'anthropic',
    create: createAnthropic,
    called: 'POST /v1/messages',
    api: "Anthropic's Messages API",
  },
  {
    provider: 'openai',
    create: createOpenAi,
    called: 'POST /chat/completions',
    api: 'the Chat Completions API of OpenAI',
  },
]

describe.each(providers)(
  'a model of $provider whose baseUrl is another server',
  ({ provider, create, called, api }) => {
    const setting = `models.${provider}.baseUrl`

    async function ask(baseUrl: string): Promise<unknown> {
      const model = await create({ apiKey: CANARY, baseUrl, model: 'any', clock: systemClock, media: noMedia })
      const request = {
        system: '',
        messages: [{ role: 'user', content: textContent('hi') }],
        tools: [],
        maxTokens: 10,
      } as const
      const events = model.stream(request, new AbortController().signal)
      try {
        for await (const event of events) void event
        return 'it answered'
      } catch (error) {
        return error
      }
    }

    test.each(strangers.filter(({ body }) => body !== '{"it":"works"'))(
      'answering $status $type says so in the same line',
      async (stranger) => {
        const root = await serverThat(stranger)

        const { host } = new URL(root)
        expect(await ask(root)).toMatchObject({
          code: 'model_unconfigured',
          message: expect.stringContaining(
            `${called} at ${host}/some/where was answered ${stranger.status} with ${stranger.kind}, which is not ${api}: check ${setting}`,
          ),
        })
      },
    )

    test('where nobody listens names the call, the address and the refusal', async () => {
      const root = await nowhere()
      const failure = String(await ask(root))

      const { host } = new URL(root)
      expect(failure).toContain(`${called} at ${host}/some/where: `)
      expect(failure).toContain('refused the connection')
      expect(failure).not.toContain('canary')
    })
  },
)
