import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { DEFAULT_PROMPT } from '../../src/config/default-prompt.ts'
import { explainConfig } from '../../src/config/explain.ts'
import { configJsonSchema } from '../../src/config/json-schema.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { compileRouting } from '../../src/routing/compile-routing.ts'
import { channelSchemas, load, TELEGRAM, TOKEN } from './loading.ts'

const folder = fileURLToPath(new URL('../../config/', import.meta.url))
const read = (file: string): string => readFileSync(`${folder}${file}`, 'utf8')
const env = { HOME: '/home/ada', TELEGRAM_BOT_TOKEN: TOKEN, ANTHROPIC_API_KEY: 'sk-ant-canary' }

test('the example is valid, names no secret, and nothing in it is without effect', async () => {
  const { config } = await loadConfig({ path: 'parley.example.yaml', env, cwd: folder, channelSchemas })

  expect(config.warnings).toEqual([])
  expect(compileRouting(config.routing).warnings).toEqual([])
})

test('what the example comments out is valid too', async () => {
  const settings =
    /^(\s*)# ((?:prompt|baseUrl|apiRoot|dimensions|turnCap|checkpoint|schedules|http):.*| {2}- \{ id: morning.*| {6}digestOf.*)$/gm
  const whole = read('parley.example.yaml').replace(settings, '$1$2')
  expect(whole.match(settings)).toBeNull()

  const { config } = await load(whole.replace('./prompts/', './'), env, { 'agent.md': 'x' })

  expect(config.warnings.map((warning) => warning.split(':')[0])).toEqual([
    'session.turnCap',
    'session.checkpoint',
    'http',
  ])
})

test('the JSON schema is fresh (npm run schema writes it)', () => {
  expect(JSON.parse(read('parley.schema.json'))).toEqual(JSON.parse(JSON.stringify(configJsonSchema(channelSchemas))))
})

test('the prompt operators start from is the one agents have without any', () => {
  expect(read('prompts/agent.md')).toBe(DEFAULT_PROMPT)
})

test('H14: the effective policy is shown with every default filled in, and no secret', async () => {
  const { config } = await load(
    `${TELEGRAM}
people: { ada: { role: owner, ids: [telegram:1] }, bob: { ids: [telegram:2] } }
models: { anthropic: { apiKey: "\${env:ANTHROPIC_API_KEY}" } }
routing:
  access: { groups: [{ match: { channel: telegram, chat: -100 }, who: public, trigger: always }] }
  dispatch: [{ name: vip, match: { sender: bob }, dimensions: [chat, sender] }]
session: { sendPolicy: { rules: [{ match: { chatType: channel }, action: deny }] } }
`,
    env,
  )
  const lines = explainConfig(config)

  expect(lines.slice(2)).toEqual([
    'agents.main: model anthropic/claude-sonnet-5-5, tools time',
    'channels.telegram: accounts default',
    'people.ada: owner, telegram:1',
    'people.bob: member, telegram:2',
    'routing.access.direct: the owner only',
    'routing.access.groups[0]: channel telegram, chat -100: anyone, trigger always',
    'routing.access.groups: every other group: the owner only',
    'routing.ownerAlwaysTriggers: the owner is answered without a mention',
    'routing.wakeWords: none',
    'routing.edits: a waiting message is read as edited, a later edit is told with the next prompt',
    'routing.deletions: a deleted message is in no later prompt, and not answered if it still waits',
    'routing.botBudget: in one chat 20 answers and 200000 tokens for other bots, until a person is answered or 30 quiet minutes',
    'routing.dispatch[0] "vip": sender bob: agent main, dimensions chat, sender',
    'routing.dispatch: everything else: agent main',
    'session.sendPolicy.rules[0]: chatType channel: deny',
    'session.sendPolicy.default: allow',
    'session.scope: routed',
    'session.dimensions: chat; discord chat, topic; slack chat, topic',
    'session.direct: one session a chat',
    'session.queue: at most 100 waiting, a busy session: queue',
    'session.staleDays: a session counts as inactive after 3 days without a word',
  ])
  expect(lines.join('\n')).not.toContain('canary')
})
