import { expect, it } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { SCOPES } from '../../src/core/token.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startApiHouse } from '../e2e/api-house.ts'
import { filled, GUARDED } from './known-routes.ts'

const canary = (of: string): string => `sk-canary-${of}-0123456789`
const BOT = `7000001:${canary('bot')}`
const [HOOK, MCP, AUDIO, SEARCH] = ['hook', 'mcp', 'audio', 'search'].map(canary)
const NOBODY_LISTENS = 'http://127.0.0.1:9'

/** Repeats what it is told, and fails with the key of the model in its words. */
const leaky =
  (key: () => string): Script =>
  (request) => {
    const text = lastUserText(request)
    if (!text.startsWith('fail')) return textReply(`heard ${text}`)
    return { error: { status: 400, type: 'invalid_request_error', message: `the key ${key()} is wrong` } }
  }

it('F-J04: the value of a configured secret is in no answer of any route, in no error and in no line of the log', async () => {
  let modelKey = ''
  const secrets = [BOT, HOOK, MCP, AUDIO, SEARCH].map((value = '') => new Secret(value))
  const hook = { kind: 'address', url: NOBODY_LISTENS, secret: new Secret(HOOK ?? '') } as const
  const tools = { kind: 'address', url: NOBODY_LISTENS, headers: { authorization: new Secret(MCP ?? '') } } as const
  const house = await startApiHouse({
    script: leaky(() => modelKey),
    telegram: { bots: [{ token: BOT, canReadAllGroupMessages: true }] },
    config: {
      secrets,
      hooks: [{ name: 'notify', on: ['after_turn', 'session_create'], at: hook, timeoutMs: 500 }],
      mcp: [{ name: 'tools', at: tools, inside: [], timeoutMs: 500 }],
      audio: { baseUrl: NOBODY_LISTENS, apiKey: new Secret(AUDIO ?? ''), limits: DEFAULT_AUDIO_LIMITS },
      web: { allowedHosts: [], search: { provider: 'searxng', url: NOBODY_LISTENS, apiKey: new Secret(SEARCH ?? '') } },
    },
  })
  modelKey = house.anthropic?.apiKey ?? ''
  expect(modelKey.length).toBeGreaterThan(5)
  const { headers } = await house.bearer({ owner: true, scopes: SCOPES })
  const canaries = [BOT, canary('bot'), HOOK, MCP, AUDIO, SEARCH, modelKey, headers.authorization.slice(-20)]
  const answers: string[] = []
  const ask = async (path: string, method: string, body?: unknown): Promise<number> => {
    const given = body === undefined ? {} : { body }
    const answer = await house.ask(path, { method, headers, ...given })
    answers.push(`${method} ${path} ${JSON.stringify(answer.headers)} ${answer.text}`)
    return answer.status
  }
  // Whoever knows a secret may say it: it is not repeated.
  for (const value of [BOT, HOOK, MCP])
    await ask('/v1/sessions/api%3Adesk/messages', 'POST', { text: `my key is ${value}` })
  expect(await ask('/v1/sessions/api%3Adesk/messages', 'POST', { text: 'fail' })).toBe(200)
  const routes = GUARDED.filter(({ path }) => !path.includes('events'))
  for (const { method, path } of routes.toSorted(
    (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
  )) {
    await ask(filled(path, 'api:desk'), method, method === 'GET' ? undefined : {})
    await ask(filled(path, 'telegram:direct:111'), method, method === 'GET' ? undefined : {})
  }
  expect(answers.join('\n')).toContain('heard my key is [secret]')
  const lines = house.log.lines.map((line) =>
    JSON.stringify(line, (_, value: unknown) =>
      value instanceof Error ? `${value.stack} ${String(value.cause)}` : value,
    ),
  )
  const found = [...answers, ...lines].flatMap((text) =>
    canaries.filter((one) => one !== undefined && text.includes(one)).map((one) => [one, text.slice(0, 200)]),
  )
  expect(found).toEqual([])
})
