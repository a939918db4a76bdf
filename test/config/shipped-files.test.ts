import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { DEFAULT_PROMPT } from '../../src/config/build-agents.ts'
import { explainConfig } from '../../src/config/explain.ts'
import { configJsonSchema } from '../../src/config/json-schema.ts'
import { configReference } from '../../src/config/reference.ts'
import { SESSION_SETTINGS, SETTING_NAMES } from '../../src/core/session-settings.ts'
import { compileRouting } from '../../src/routing/compile-routing.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { decide } from '../fakes/decide.ts'
import { command, direct, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { load, refusal, TELEGRAM, TOKEN } from './loading.ts'

const folder = fileURLToPath(new URL('../../config/', import.meta.url))
const read = (file: string): string => readFileSync(`${folder}${file}`, 'utf8')
const env = { HOME: '/home/ada', TELEGRAM_BOT_TOKEN: TOKEN, ANTHROPIC_API_KEY: 'sk-ant-canary' }
const OTHERS = {
  TELEGRAM_WEBHOOK_SECRET: '3f9d1c0a7be2',
  DISCORD_BOT_TOKEN: [24, 6, 27].map((length) => 'a'.repeat(length)).join('.'),
  SLACK_BOT_TOKEN: 'xoxb-1',
  SLACK_APP_TOKEN: 'xapp-1',
  SLACK_SIGNING_SECRET: 'secret',
  PARLEY_STORE_KEY: createHash('sha256').update('the key of a store').digest('hex'),
}

const EXAMPLE = 'parley.example.yaml'
/** `#people:`, `#    ids: …`: prose has exactly one space behind its mark. */
const OFF = /^( *)#(?! \S|\n|$)/gm

/** The example with every setting that is off switched on. */
function switchedOn(): string {
  let text = read(EXAMPLE)
  while (OFF.test(text)) text = text.replace(OFF, '$1')
  return text
}

describe('the example', () => {
  test('is valid as it is copied, with a key and without, and nothing in it is without effect', async () => {
    const copied = await load(read(EXAMPLE), env)
    expect(copied.config.warnings).toEqual([])
    expect(compileRouting(copied.config.routing).warnings).toEqual([])
    expect(copied.config.agents[0]?.model).toBe('anthropic/claude-sonnet-5-5')

    const { config } = await load(read(EXAMPLE), { TELEGRAM_BOT_TOKEN: TOKEN })
    expect(config.agents[0]?.model).toBe('none')
    expect((await load(read(EXAMPLE))).config.down).toEqual([expect.objectContaining({ channel: 'telegram' })])
  })

  test('makes nobody owner and opens nothing: its policy is the one that holds without any file', async () => {
    const { config } = await load(read(EXAMPLE), env)
    const bare = await load('channels: { telegram: { accounts: { default: { token: x } } } }\n')
    expect(config.routing).toEqual(bare.config.routing)
    expect(config.routing.people).toEqual([])
    expect(compileRouting(config.routing).routing.ownerNamed).toBe(false)
  })

  test.each(CHANNELS.ids)('lets nobody on %s talk, whichever id of an example they have', async (channel) => {
    const { routing } = (await load(read(EXAMPLE), env)).config
    const ids = ['111111111', '222222222', '777777777', 'U012ABCDE', '42']
    const places = [
      ...ids.map((id) => direct(id, { channel })),
      group('-1001234567890', { channel }),
      group('-1001234567890', { channel, topic: '42' }),
      slackChannel('C012ABCDE', { channel }),
    ]
    const events = places.flatMap((address) =>
      ids.flatMap((id) =>
        ([user(id, { team: 'T012ABCDE' }), { id, kind: 'bot' }] as const).flatMap((sender) => [
          message({ address, sender, mentioned: true, text: 'parley, what do they say there?' }),
          command('status', { address, sender }),
        ]),
      ),
    )
    const kinds = new Set(events.map((event) => decide(routing, event).kind))
    expect([...kinds].sort()).toEqual(['ignore', 'refuse'])
  })

  test('has ids in settings only that are off, and each of them is refused', async () => {
    const whole = switchedOn()
    expect(whole).not.toMatch(OFF)
    const refused = await refusal(whole, { ...env, ...OTHERS }, { 'prompts/agent.md': 'x' })
    expect(refused.split('\n').map((line) => line.split(': ', 2)[1])).toEqual([
      'routing.access.groups[0].match.chat',
      'people.ada.ids[0]',
      'people.bob.ids[0]',
      'people.bob.ids[1]',
      'people.bob.ids[2]',
      'schedules[0].digestOf',
      'schedules[0].deliverTo',
    ])
    expect(refused).toContain(
      'people.ada.ids[0]: telegram:111111111 is an id from an example, and not yours; write the id that /whoami says',
    )
  })

  test('is valid with every setting switched on, too, once the ids are real', async () => {
    const whole = switchedOn()
      .replaceAll(/(111111111|222222222|777777777|1234567890)/g, (id) => `${Number(id) * 7 + 13}`)
      .replaceAll('012ABCDE', '7QK4TZ2M')
      .replace('tools: [time]', 'tools: [time, web, mcp.notes]')
    const { config } = await load(whole, { ...env, ...OTHERS }, { 'prompts/agent.md': 'x' })
    expect(config.warnings).toEqual([])
    expect(Object.keys(config.channels)).toEqual(['telegram', 'discord', 'slack'])
  })
})

test('the example is short, and its part that is on has ten lines', () => {
  const lines = read(EXAMPLE).split('\n')
  expect(lines.length).toBeLessThan(51)
  expect(lines.filter((line) => !/^\s*(#|$)/.test(line)).length).toBeLessThanOrEqual(12)
})

test('the configuration that the page of the platforms shows is valid', async () => {
  const yaml = /```yaml\n([\s\S]*?)```/.exec(read('setup.md'))?.[1] ?? ''
  const { config } = await load(yaml, { ...env, ...OTHERS })
  expect(Object.keys(config.channels)).toEqual(['telegram', 'slack'])
})

test('the reference page is fresh (npm run reference writes it), and each setting of it has a line', () => {
  const page = configReference(configJsonSchema(catalogue))
  expect(read('reference.md')).toBe(page)
  for (const setting of [
    'people.<name>.ids',
    'routing.access.groups[].match.chat',
    'channels.slack.accounts.<name>.mode',
  ])
    expect(page).toContain(`| \`${setting}\` |`)
  for (const name of SETTING_NAMES)
    expect(page).toContain(`| \`${name}\` | ${SESSION_SETTINGS[name].value.takes.replaceAll('<', '\\<')} |`)
})

test('the JSON schema is fresh (npm run schema writes it)', () => {
  expect(JSON.parse(read('parley.schema.json'))).toEqual(JSON.parse(JSON.stringify(configJsonSchema(catalogue))))
})

test('the prompt operators start from is the one agents have without any', () => {
  expect(read('prompts/agent.md')).toBe(DEFAULT_PROMPT)
})

test('the effective policy has whoever the store knows: the owner by the claim code, linked ids, and who was let in', async () => {
  const { config } = await load(read(EXAMPLE), env)
  const by = { at: Date.UTC(2026, 10, 21), by: 'owner' }
  const known = {
    people: [
      {
        ...{ name: 'owner', role: 'owner' },
        ids: [
          { id: 'telegram:5', from: 'claim' },
          { id: 'discord:6', from: 'link' },
        ],
      },
    ],
    letIn: [
      { kind: 'person', key: 'telegram:7', name: 'Mal', ...by },
      { kind: 'place', key: 'telegram:group:-1', name: '', ...by },
    ],
  } as const
  const lines = explainConfig(config, known)
  expect(lines).toEqual(
    expect.arrayContaining([
      'people: telegram:5 is the owner, by the claim code',
      'people: discord:6 is the owner, by a link',
      'routing.access.direct: telegram:7 (Mal) too, let in by owner on 2026-11-21',
      'routing.access.groups: telegram:group:-1 too, let in by owner on 2026-11-21',
    ]),
  )
  expect(lines.join('\n')).not.toContain('no owner')
  expect(explainConfig(config).join('\n')).toContain('people: no owner yet; whoever sends the bot the code')
})

test('F-H14: the effective policy is shown with every default filled in, and no secret', async () => {
  const { config } = await load(
    `${TELEGRAM}
people: { ada: { role: owner, ids: [telegram:1] }, bob: { ids: [telegram:2] } }
agents: [{ id: main, tools: [time, sessions] }]
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
    'agents.main: model anthropic/claude-sonnet-5-5, tools time, sessions',
    'models.anthropic: the Messages API at api.anthropic.com, with a key',
    'channels.telegram: accounts default (polling)',
    'people.ada: owner, telegram:1',
    'people.bob: member, telegram:2',
    'routing.access.direct: the owner only',
    'routing.access.groups[0]: channel telegram, chat -100: anyone, trigger always; bots: what apps and other bots say is known and never answered',
    'routing.access.groups: every other group: the owner only',
    'routing.ownerAlwaysTriggers: the owner is answered without a mention: whatever they say in a group costs a call, and false ends that',
    'routing.wakeWords: none',
    'routing.edits: a waiting message is read as edited, a later edit is told with the next prompt',
    'routing.deletions: a deleted message is in no later prompt, and not answered if it still waits',
    'routing.botBudget: in one chat 20 answers and 200,000 tokens for other bots, until a person is answered or 30 quiet minutes',
    'routing.dispatch[0] "vip": sender bob: agent main, dimensions chat, sender',
    'routing.dispatch: everything else: agent main',
    'session.sendPolicy.rules[0]: chatType channel: deny',
    'session.sendPolicy.default: allow',
    'session.scope: routed',
    'session.dimensions: chat; discord chat, topic; slack chat, topic',
    'session.direct: one session a chat',
    'session.queue: at most 100 waiting, a busy session: queue',
    'session.publicTurns: people nobody let in by name have 8 turns at once, each of them 1, and 16 wait; the others are asked to write again',
    'session.answerParts: an answer becomes 20 messages at most, and the last of them says where the rest is',
    'session.turnCap: the turns of a session at most: api 50, cli 50, web 50, chat unlimited, schedule unlimited',
    'session.maxCost: a session may cost as much as the budgets allow',
    'session.maxMessages: the model is shown 98 messages of earlier turns at most, older ones are left out without a word',
    'session.staleDays: a session counts as inactive after 3 days without a word',
    'tools.sessions: in a direct chat the agent reads, for ada: every session of the agent; for bob: those they take part in; for anybody else: their own chat only',
    'tools.sessions.inGroups: here: where others see the answer, it reads that conversation alone, whoever asks',
    'tools.policy: what acts outside of its conversation is asked about, and the rest is allowed',
    'audio: none; voice notes are named in words, and no answer is spoken',
    'session.checkpoint: no agent has the tools memory, so there is no checkpoint',
    'budgets.strangers.each: 200,000 tokens a day',
    'budgets.strangers.client: 1,000,000 tokens a day',
    'budgets.strangers.together: 2,000,000 tokens a day',
    'media: one answer reads 10 files, each up to 20.0 MB, and 200.0 MB of one person a day; the others are named',
    'http: none; the API listens on a socket that only this user opens',
    'store.key: none; the database and the files are readable by the user of the daemon alone, and not encrypted',
    'store.keepRefusedDays: what was refused or ignored, commands and their answers go after 30 days',
    'retention.days: in all conversations what was said is kept',
    'backup: none by itself (backup: { every: day }); parley backup makes one',
  ])
  expect(lines.join('\n')).not.toContain('canary')
})

test('how an account receives is shown where its platform leaves a choice', async () => {
  const hook = 'mode: webhook, webhookUrl: https://bot.test/in, webhookSecret: 3f9d1c0a7be2canary'
  const accounts = `one: { token: "5:a", ${hook} }, two: { token: "6:a" }`
  const { config } = await load(
    `channels: { telegram: { accounts: { ${accounts} } }, discord: { accounts: { default: { token: x } } } }`,
    env,
  )
  const lines = explainConfig(config)

  expect(lines.filter((line) => line.startsWith('channels.') && line.includes('accounts '))).toEqual([
    'channels.telegram: accounts one (webhook), two (polling)',
    'channels.discord: accounts default',
  ])
  expect(lines.join('\n')).not.toContain('canary')
})
