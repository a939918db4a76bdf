import { expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import * as anthropic from '../../src/rehearsal/anthropic/script.ts'
import { startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { type Script, textReply } from '../../src/rehearsal/openai/script.ts'
import { rehearse } from '../rehearsal/openai/rehearsal.ts'
import { parley } from './house-command.ts'
import { startHousehold } from './household.ts'

const LLAMA = 'meta-llama/llama-4'
const GONE = { error: { status: 401, message: 'Incorrect API key provided.', type: 'invalid_request_error' } }

/** A daemon with three servers side by side: one at home without a key, a router and Anthropic's, each with its own. */
async function house(atHome: Script) {
  const home = await rehearse({ keyless: true, script: atHome })
  const router = await rehearse({ apiKey: 'router-key', script: () => textReply('by the router'), models: [LLAMA] })
  const claude = await startAnthropicServer({
    ...{ apiKey: 'claude-key', models: ['haiku'] },
    script: () => anthropic.textReply('by claude'),
  })
  onTestFinished(() => claude.close())
  const chain = { fallback: [`router/${LLAMA}`, 'claude/haiku'] }
  const started = await startHousehold({
    streaming: false,
    config: {
      agents: [
        { id: toAgentId('main'), model: 'home/qwen3:8b', ...chain, prompt: 'You are Parley.', tools: [] },
        { id: toAgentId('coder'), model: 'claude/haiku', prompt: 'You write code.', tools: [] },
      ],
      models: {
        home: { kind: 'openai', baseUrl: home.baseUrl },
        router: { kind: 'openai', baseUrl: router.baseUrl, apiKey: new Secret(router.apiKey) },
        claude: { kind: 'anthropic', baseUrl: claude.baseUrl, apiKey: new Secret('claude-key') },
        spare: { kind: 'openai', keyAbsent: 'models.spare.apiKey: the variable SPARE is not set' },
      },
    },
  })
  const { world, ledger } = started.telegram
  return {
    ...{ ...started, home, router, claude },
    async say(text: string): Promise<string> {
      const mark = ledger.mark()
      world.say({ from: 111, text })
      const answered = (entry: { readonly text: string }) => !entry.text.startsWith('The model ')
      return (await ledger.nextFromBot('sent', { after: mark, where: answered })).text
    },
  }
}

it('each model is asked of its server, by its own name there and with the key of that server', async () => {
  const { say, home, router, claude } = await house(() => textReply('at home'))

  expect(await say('hello')).toBe('at home')
  await say(`/model router/${LLAMA}`)
  expect(await say('and now?')).toBe('by the router')
  await say('/model claude/haiku')
  expect(await say('and at last?')).toBe('by claude')

  expect(home.ledger.requests().map(({ model }) => model)).toEqual(['qwen3:8b'])
  expect(router.ledger.requests().map(({ model }) => model)).toEqual([LLAMA])
  expect(claude.ledger.requests().map(({ model }) => model)).toEqual(['haiku'])
})

it('a server that is not there, or has no key, is refused with those that can be asked', async () => {
  const { say } = await house(() => textReply('at home'))

  for (const model of ['openai/gpt-5.4', 'spare/x'])
    expect(await say(`/model ${model}`)).toMatch(/^models\.\w+ has no key: .* Or write one of home\/<model>, router/)
  expect(await say('/model hom/qwen3')).toContain(
    `There is no server hom that I may ask; write one of home/<model>, router/<model>, claude/<model>, scripted/echo.`,
  )
})

it('C45: another server answers in the place of one that fails, and the status has a line for each', async () => {
  const { say, daemon, config, router, home } = await house(() => GONE)

  expect(await say('hello')).toBe('by the router')

  const { host } = new URL(home.baseUrl)
  const { modelServers } = await daemon.operator.status()
  expect(modelServers).toMatchObject([
    {
      ...{ name: 'home', kind: 'openai', host, agents: ['main'], learnt: [] },
      troubles: [{ models: ['qwen3:8b'], code: 'model_auth', remedy: expect.stringContaining('models.home.apiKey') }],
    },
    { name: 'router', kind: 'openai', host: new URL(router.baseUrl).host, agents: ['main'], troubles: [] },
    { name: 'claude', kind: 'anthropic', agents: ['main', 'coder'], troubles: [] },
    { name: 'spare', kind: 'openai', host: 'api.openai.com', agents: [], troubles: [] },
  ])
  const printed = await parley(config, ['status'])
  expect(printed.out.split('\n')).toEqual(
    expect.arrayContaining([
      `servers   home (openai at ${host}), used by main`,
      expect.stringMatching(/^ {12}qwen3:8b failed at /),
      expect.stringMatching(/^ {14}.* answered 401/),
      `          router (openai at ${new URL(router.baseUrl).host}), used by main`,
      expect.stringMatching(/^ {10}claude \(anthropic at .*\), used by main, coder$/),
      '          spare (openai at api.openai.com), used by no agent',
    ]),
  )
  expect(printed.out.match(/answered 401/g)).toHaveLength(1)
  const told = await say('/status')
  expect(told).toContain(`home (openai at ${host}), used by main`)
  expect(told).toMatch(/home\/qwen3:8b fails: .* answered 401/)
  expect(told.match(/answered 401/g)).toHaveLength(1)
  const json = (await parley(config, ['status', '--json'])).out
  expect(JSON.parse(json).modelServers).toHaveLength(4)
  for (const shown of [printed.out, told, json]) expect(shown).not.toMatch(/router-key|claude-key/)
})

it('without a daemon the status has the servers of the configuration', async () => {
  const { daemon, config, home } = await house(() => textReply('at home'))
  await daemon.stop()

  const { out } = await parley(config, ['status'])

  expect(out).toContain(`servers   home (openai at ${new URL(home.baseUrl).host}), used by main`)
  expect(out).toContain('spare (openai at api.openai.com), used by no agent')
})
