import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { explainConfig } from '../../src/config/explain.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { compileRouting } from '../../src/routing/compile-routing.ts'
import { TRAITS } from '../fakes/channels.ts'
import { load, TELEGRAM, TOKEN, temporaryFolder } from './loading.ts'

type Env = Readonly<Record<string, string | undefined>>

describe('which file is read', () => {
  const write = (file: string, agent: string): string => {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${TELEGRAM}agents: [{ id: ${agent} }]\n`)
    return file
  }

  test('--config, else PARLEY_CONFIG, else the XDG folder, else ~/.config', async () => {
    const folder = temporaryFolder()
    const path = write(join(folder, 'asked.yaml'), 'asked')
    const named = write(join(folder, 'named.yaml'), 'named')
    const xdg = write(join(folder, 'xdg/parley/parley.yaml'), 'xdg')
    const usual = write(join(folder, '.config/parley/parley.yaml'), 'usual')
    const env = { HOME: folder, TOKEN, PARLEY_CONFIG: 'named.yaml', XDG_CONFIG_HOME: join(folder, 'xdg') }
    const read = async (options: { path?: string; env: Env }) =>
      (await loadConfig({ cwd: folder, catalogue, ...options })).config.file

    expect(await read({ path: 'asked.yaml', env })).toBe(path)
    expect(await read({ env })).toBe(named)
    expect(await read({ env: { ...env, PARLEY_CONFIG: '' } })).toBe(xdg)
    expect(await read({ env: { HOME: folder, TOKEN } })).toBe(usual)
    // A relative XDG folder is to be ignored.
    expect(await read({ env: { HOME: folder, TOKEN, XDG_CONFIG_HOME: 'xdg' } })).toBe(usual)
  })

  test('what a file leaves out comes from the environment', async () => {
    const { config } = await load('people: { ada: { role: owner, ids: [1] } }', {
      TELEGRAM_BOT_TOKEN: TOKEN,
      ANTHROPIC_API_KEY: 'sk-ant-canary',
    })

    expect(config.channels.telegram?.accounts.default).toMatchObject({ token: TOKEN })
    expect(config.agents[0]?.model).toBe('anthropic/claude-sonnet-5-5')
  })

  test('a block in which everything is commented out is a block left out', async () => {
    const { config } = await load(`${TELEGRAM}people:\n  # ada:\nsession:\nmodels:\n`)

    expect(config.routing.people).toEqual([])
    expect(config.session.queue).toEqual({ max: 100, busy: 'queue' })
  })
})

describe('where the data lies', () => {
  const path = async (url: string | undefined, env: Env) => {
    const { config, folder } = await load(url === undefined ? TELEGRAM : `${TELEGRAM}store: { url: "${url}" }`, env)
    return [config.store.path, config.dataDir].map((each) => each.replace(folder, '~'))
  }

  test.each([
    ['the state folder', undefined, {}, '~/.local/state/parley/parley.db'],
    ['the XDG state folder', undefined, { XDG_STATE_HOME: '/xdg' }, '/xdg/parley/parley.db'],
    [
      "the unit's folder",
      undefined,
      { STATE_DIRECTORY: '/var/lib/parley:/var/lib/b', XDG_STATE_HOME: '/xdg' },
      '/var/lib/parley/parley.db',
    ],
    ['a name of its own', 'sqlite:two/b.db', { XDG_STATE_HOME: '/xdg' }, '/xdg/parley/two/b.db'],
    ['an absolute path', 'sqlite:/srv/a.db', { STATE_DIRECTORY: '/var/lib/parley' }, '/srv/a.db'],
  ])('%s', async (_, url, env, expected) => {
    expect(await path(url, env)).toEqual([expected, dirname(expected)])
  })

  test('root without a configuration of its own has that of the service, with its data and its credentials', async () => {
    const folder = temporaryFolder()
    const service = { config: join(folder, 'etc/parley.yaml'), data: join(folder, 'var') }
    const asRoot = async (env: Env = {}) => {
      const around = { env: { HOME: folder, ...env }, cwd: folder, service }
      const { config, secrets } = await loadConfig({ ...around, catalogue, use: 'ask' })
      return [config.file, config.store.path, secrets, ...(config.ofService ? ['of the service'] : [])]
    }
    mkdirSync(join(folder, 'etc'))
    writeFileSync(service.config, TELEGRAM.replace('env:TOKEN', 'credential:token'))
    writeFileSync(join(folder, 'etc/token'), TOKEN)
    expect(await asRoot()).toEqual([service.config, join(folder, '.local/state/parley/parley.db'), []])
    mkdirSync(service.data)
    expect(await asRoot()).toEqual([service.config, join(service.data, 'parley.db'), [TOKEN], 'of the service'])
    expect((await asRoot({ PARLEY_CONFIG: service.config }))[1]).toBe(join(service.data, 'parley.db'))
    expect((await asRoot({ STATE_DIRECTORY: '/srv/parley' }))[1]).toBe('/srv/parley/parley.db')
    const own = join(folder, '.config/parley/parley.yaml')
    mkdirSync(dirname(own), { recursive: true })
    writeFileSync(own, TELEGRAM)
    expect(await asRoot({ TOKEN })).toEqual([own, join(folder, '.local/state/parley/parley.db'), [TOKEN]])
  })

  test('a user without a home is told what to set', async () => {
    await expect(load(TELEGRAM, { HOME: '' })).rejects.toThrow(/^store.url: there is no folder for the data; set/)
  })
})

describe('references', () => {
  test('variables, files and credentials; what surrounds a value is not part of it', async () => {
    const { config, secrets } = await load(
      `channels:
  telegram:
    accounts:
      one: { token: "\${env:ONE}" }
      two: { token: "\${file:two.txt}" }
      three: { token: "\${credential:three}" }
      four: { token: "bot:\${env:ONE}" }
`,
      { ONE: ' 1:one-canary\n', CREDENTIALS_DIRECTORY: credentials({ three: '3:three-canary\n' }) },
      { 'two.txt': '2:two-canary\r\n' },
    )

    const accounts = Object.values(config.channels.telegram?.accounts ?? {}) as readonly { readonly token: string }[]
    const tokens = ['1:one-canary', '2:two-canary', '3:three-canary', 'bot:1:one-canary']
    expect(accounts.map(({ token }) => token)).toEqual(tokens)
    expect([...secrets].sort()).toEqual([...tokens].sort())
    expect(config.secrets?.map((secret) => secret.reveal()).sort()).toEqual([...tokens].sort())
    // Who may open a credential is the service manager's affair.
    expect(config.warnings.join('\n')).not.toContain('/three')
  })

  test('a file with a secret that every user may open works and is warned of; a closed one is not', async () => {
    const yaml = `channels: { telegram: { accounts: { default: { token: "\${file:token}" } } } }`
    for (const [mode, warned] of [
      [0o644, true],
      [0o602, true],
      [0o640, false],
      [0o600, false],
    ] as const) {
      const folder = temporaryFolder()
      writeFileSync(join(folder, 'token'), TOKEN)
      chmodSync(join(folder, 'token'), mode)
      const { config } = await load(yaml.replace('token}', `${folder}/token}`))
      const warning = `channels.telegram.accounts.default.token: every user of this machine may open ${folder}/token; run: chmod 600 ${folder}/token`
      expect([mode, config.warnings.includes(warning)]).toEqual([mode, warned])
    }
  })

  test('a secret in the file itself works, is warned of, and is redacted like the others', async () => {
    const { config, secrets } = await load(`channels: { telegram: { accounts: { default: { token: "${TOKEN}" } } } }`)

    expect(config.warnings[0]).toMatch(
      /^channels.telegram.accounts.default.token: the secret stands in the file itself/,
    )
    expect(secrets).toEqual([TOKEN])
  })

  test('F-J01: the configuration never shows a key: not as text, JSON, or inspected', async () => {
    const { config } = await load(`${TELEGRAM}models: { anthropic: { apiKey: "\${env:KEY}" } }`, { KEY: 'sk-canary-1' })
    const { apiKey } = config.models.anthropic ?? {}

    expect(`${apiKey} ${JSON.stringify(config.models)} ${inspect(config.models)}`).not.toContain('canary')
    expect(apiKey?.reveal()).toBe('sk-canary-1')
    expect(explainConfig(config).join('\n')).not.toContain('canary')
  })
})

describe('F-H06: empty lists and blocks give nobody anything', () => {
  test.each([
    ['absent', ''],
    [
      'empty',
      'people: {}\nrouting: { access: { groups: [] }, dispatch: [] }\nsession: { sendPolicy: { rules: [] } }\n',
    ],
    ['without ids', 'people: { ada: { role: owner, ids: [] } }\n'],
  ])('%s', async (_, yaml) => {
    const { config } = await load(`${TELEGRAM}${yaml}`)

    expect(config.routing.access).toEqual({ direct: 'owner', groups: [] })
    expect(config.routing.people.flatMap(({ ids }) => ids)).toEqual([])
  })

  test('a group rule that says nothing admits the owner only', async () => {
    const { config } = await load(`${TELEGRAM}routing: { access: { groups: [{}] } }`)

    expect(config.routing.access.groups).toEqual([
      { match: {}, who: 'owner', trigger: 'mention', followThreads: false },
    ])
  })
})

test('the routing policy: ids as text, surface read as channel, thread channels kept apart by topic', async () => {
  const { config } = await load(`${TELEGRAM}
people: { Ada: { role: owner, ids: [telegram:161, 262] }, bob: { ids: [363] } }
routing:
  access: { direct: public, groups: [{ match: { chat: -1004723, topic: 7 }, who: public }] }
  dispatch: [{ name: vip, match: { sender: 464, mentioned: true }, agent: main, dimensions: [chat, sender] }]
session:
  sendPolicy: { rules: [{ match: { surface: discord, chatType: group }, action: deny }], default: allow }
  scope: global
  dimensions: [space, chat]
  direct: person
`)

  expect(config.routing).toEqual({
    people: [
      { id: 'ada', role: 'owner', ids: ['telegram:161', '262'] },
      { id: 'bob', role: 'member', ids: ['363'] },
    ],
    agents: ['main'],
    access: {
      direct: 'public',
      groups: [{ match: { chat: '-1004723', topic: '7' }, who: 'public', trigger: 'mention', followThreads: false }],
    },
    ownerAlwaysTriggers: true,
    wakeWords: [],
    edits: 'update',
    deletions: 'redact',
    botBudget: { turns: 20, tokens: 200_000, quietMinutes: 30 },
    dispatch: [
      { name: 'vip', match: { sender: '464', mentioned: true }, agent: 'main', dimensions: ['chat', 'sender'] },
    ],
    sendPolicy: { rules: [{ match: { channel: 'discord', chatType: 'group' }, action: 'deny' }], default: 'allow' },
    scope: 'global',
    dimensions: ['space', 'chat'],
    channelDimensions: { slack: ['chat', 'topic'], discord: ['chat', 'topic'] },
    direct: 'person',
    traits: TRAITS,
  })
})

test("a channel's own dimensions replace the global ones there", async () => {
  const { config } = await load(`channels:
  telegram: { accounts: { default: { token: "\${env:TOKEN}" } }, dimensions: [chat, sender] }
`)

  expect(config.routing.channelDimensions.telegram).toEqual(['chat', 'sender'])
})

test('settings that do nothing are read, and each is warned of once', async () => {
  const { config } = await load(`${TELEGRAM}
agents: [{ id: main, model: scripted/echo, tools: [time] }]
routing: { access: { groups: [{ match: { channel: telegram }, who: public, followThreads: true }] } }
session: { checkpoint: { turns: 5 } }
schedules: [{ id: a, cron: "0 8 * * *", prompt: hello, deliverTo: "telegram:group:-1/2", missed: all(3) }]
`)

  expect(config.warnings).toEqual([
    'routing.access.groups[0].followThreads: Telegram has no threads to follow; take it out',
    'session.checkpoint: no agent has the tools memory, so there is no checkpoint; add them, or take it out',
  ])
  expect(config.agents[0]?.tools).toEqual(['time'])
})

test.each<[string, string | undefined, string]>([
  ['who: public', undefined, 'known and never answered'],
  ['who: allowlist', undefined, 'ignored'],
  ['bots: ignore, who: public', undefined, 'ignored'],
  ['bots: context', undefined, 'known and never answered'],
  [
    'bots: allow',
    'routing.access.groups[0].bots: no bot is listed under botIds, so none is answered',
    'known and never answered',
  ],
  [
    'bots: allow, botIds: [telegram:5, telegram:6]',
    undefined,
    'known, and answered as people are: telegram:5, telegram:6',
  ],
  ['bots: mentioned, botIds: [telegram:5]', undefined, 'known, and answered where they mention the agent: telegram:5'],
])('a rule with %s is explained with the policy for apps and bots in force', async (rule, warning, words) => {
  const { config } = await load(`${TELEGRAM}routing: { access: { groups: [{ match: {}, ${rule} }] } }\n`)
  expect(config.warnings.filter((line) => line.includes('bots'))).toEqual(warning === undefined ? [] : [warning])
  const line = explainConfig(config).find((one) => one.startsWith('routing.access.groups[0]'))
  expect(line).toMatch(new RegExp(`; bots: what apps and other bots say is ${words}$`))
})

test('T32: agents that reach each other are named as they are called; none is the default', async () => {
  const two = 'agents: [{ id: main, model: scripted/echo, tools: [sessions] }, { id: Second, model: scripted/echo }]'

  const { config } = await load(`${TELEGRAM}${two}\ntools: { sessions: { agents: [main, SECOND] } }\n`)
  const { config: unset } = await load(`${TELEGRAM}${two}\n`)

  expect(config.sessionTools).toEqual({ agents: ['main', 'second'], inGroups: 'here' })
  expect(config.agents.map(({ tools }) => tools)).toEqual([['sessions'], ['time']])
  expect(explainConfig(config)).toContain("tools.sessions.agents: main, second reach each other's sessions")
  expect(unset.sessionTools).toEqual({ agents: [], inGroups: 'here' })
})

test('T32: config explain names what the agent reads for whom, in private and where others see the answer', async () => {
  const people = 'people: { ada: { role: owner, ids: [telegram:1] }, bob: { role: member, ids: [telegram:2] } }'
  const explain = async (inGroups: string, tools = 'time, sessions'): Promise<readonly string[]> => {
    const agents = `agents: [{ id: main, tools: [${tools}] }]`
    const { config } = await load(`${TELEGRAM}${people}\n${agents}\ntools: { sessions: { inGroups: ${inGroups} } }\n`)
    return explainConfig(config).filter((line) => line.startsWith('tools.sessions'))
  }
  const who =
    'for ada: every session of the agent; for bob: those they take part in; for anybody else: their own chat only'

  expect(await explain('here')).toEqual([
    `tools.sessions: in a direct chat the agent reads, ${who}`,
    'tools.sessions.inGroups: here: where others see the answer, it reads that conversation alone, whoever asks',
  ])
  expect((await explain('asker'))[1]).toContain(`shows to all of them, ${who}`)
  expect(await explain('asker', 'time')).toEqual([
    'tools.sessions: no agent has the tool sessions, so none reads or writes to another conversation',
  ])
})

test('an agent whose model has no key is warned of, not refused', async () => {
  const { config } = await load(`${TELEGRAM}agents: [{ id: main, model: anthropic/claude-x }]`)

  expect(config.warnings).toEqual([
    'agents[0].model: anthropic/claude-x has no key and cannot answer; set models.anthropic.apiKey or ANTHROPIC_API_KEY, or models.anthropic.baseUrl for a server that needs none',
  ])
})

test('a prompt is read relative to the file', async () => {
  const files = { 'agent.md': 'You are Parley.\n' }

  const { config } = await load(`${TELEGRAM}agents: [{ id: main, prompt: ./agent.md }]`, {}, files)

  expect(config.agents[0]?.prompt).toBe('You are Parley.\n')
})

test('the configuration is frozen, all the way down', async () => {
  const { config } = await load(TELEGRAM)

  expect(Object.isFrozen(config)).toBe(true)
  expect(Object.isFrozen(config.routing.access.groups)).toBe(true)
  expect(() => Object.assign(config.channels.telegram?.accounts.default ?? {}, { token: 'x' })).toThrow(TypeError)
})

function credentials(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

describe('asked from another shell, which has none of the variables of the daemon', () => {
  const asking = async (yaml: string, use: 'run' | 'ask') => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'parley.yaml'), yaml)
    return loadConfig({ path: 'parley.yaml', env: { HOME: folder }, cwd: folder, catalogue, use })
  }
  const keyed = `${TELEGRAM}models: { anthropic: { apiKey: "\${env:MODEL_KEY}" } }\n`

  test('no secret needs to be there, and none is warned of; to run, the key is', async () => {
    const { config } = await asking(keyed, 'ask')
    expect([config.store.path, config.warnings]).toEqual([expect.stringMatching(/parley\.db$/), []])
    expect((await asking(keyed, 'run')).config.warnings).toEqual([
      expect.stringMatching(/models\.anthropic\.apiKey: the variable MODEL_KEY is not set/),
    ])
  })

  test('no channel needs to be there; to run, one does, unless the API is a way in', async () => {
    expect((await asking('people: {}', 'ask')).config.channels).toEqual({})
    await expect(asking('people: {}', 'run')).rejects.toThrow('no channel is configured')
    expect((await asking('http: {}', 'run')).config.channels).toEqual({})
  })

  test('any other mistake is told all the same', async () => {
    await expect(asking(`${TELEGRAM}session: { staleDays: three }`, 'ask')).rejects.toThrow('session.staleDays')
    const baseUrl = `${TELEGRAM}models: { anthropic: { apiKey: k, baseUrl: "\${env:NOWHERE}" } }`
    await expect(asking(baseUrl, 'ask')).rejects.toThrow('the variable NOWHERE is not set')
  })
})

describe('rules that only show to be wrong when they are put together', () => {
  const checkRules = async (policy: RoutingPolicy) => compileRouting(policy)
  const loading = async (yaml: string) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'parley.yaml'), yaml)
    return loadConfig({ path: 'parley.yaml', env: { HOME: folder, TOKEN }, cwd: folder, catalogue, checkRules })
  }

  test('K16: one id under two names is refused with file, line, path and remedy', async () => {
    const people = 'people:\n  ada: { ids: [telegram:1] }\n  bob:\n    ids:\n      - telegram:2\n      - telegram:1\n'
    await expect(loading(`${TELEGRAM}${people}`)).rejects.toThrow(
      /parley\.yaml:7: people\.bob\.ids\[1\] claims an id that people\.ada\.ids\[0\] claims too; give it to one person only$/,
    )
  })

  test('an error that is none of the configuration leaves as it is', async () => {
    const folder = temporaryFolder()
    const broken = async () => Promise.reject(new TypeError('broken'))
    const env = { HOME: folder, TELEGRAM_BOT_TOKEN: TOKEN }
    await expect(loadConfig({ env, cwd: folder, catalogue, checkRules: broken })).rejects.toThrow(TypeError)
  })
})
