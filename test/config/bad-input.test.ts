import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { load, refusal, TELEGRAM, TOKEN, temporaryFolder } from './loading.ts'

const account = (fields: string): string => `channels:\n  telegram:\n    accounts:\n      default: { ${fields} }\n`

const NO_ORIGIN =
  '2: http.origins[0]: must be the origin of one page, as https://app.example.org or http://localhost:3000: lower case, without a path, a slash at the end or *'

/** What is written, beside a channel that is in order; the line begins after it. */
const TABLE: readonly (readonly [mistake: string, yaml: string, message: string])[] = [
  ['a mistyped key', 'sesion: {}', '2: unknown key `sesion` at top level; did you mean `session`?'],
  [
    'a mistyped key further down',
    'routing: { acess: {} }',
    '2: unknown key `acess` in routing; did you mean `access`?',
  ],
  ['a key in the wrong block', 'queue: { max: 1 }', '2: unknown key `queue` at top level; it belongs under session'],
  ['a key of an inner block', 'web: {}', '2: unknown key `web` at top level; it belongs under tools'],
  [
    'a key beside the block that has it',
    'budgets: { person: { day: { usd: 1 } } }',
    '2: unknown key `day` in budgets.person; it belongs under budgets.person.each',
  ],
  ['a key of a list', 'voice: always', '2: unknown key `voice` at top level; it belongs under agents[0]'],
  ['a key nobody knows', 'store: { engine: x }', '2: unknown key `engine` in store; known: url'],
  [
    'a key of a list item',
    'routing:\n  access:\n    groups:\n      - { who: public, triger: always }',
    '5: unknown key `triger` in routing.access.groups[0]; did you mean `trigger`?',
  ],
  [
    'a mistyped value',
    'routing: { access: { direct: publik } }',
    '2: routing.access.direct: must be one of owner, allowlist, public; did you mean `public`?',
  ],
  ['a role that is none', 'people: { ada: { role: admin } }', '2: people.ada.role: must be one of owner, member'],
  ['text for a number', 'session: { queue: { max: many } }', '2: session.queue.max: must be a number, not text'],
  ['a number out of range', 'session: { queue: { max: 0 } }', '2: session.queue.max: must be at least 1'],
  [
    'fewer days than a platform may repeat a message',
    'store: { keepRefusedDays: 7 }',
    '2: store.keepRefusedDays: must be at least 8: a platform may repeat a message for a week, and its record is how the repetition is known',
  ],
  ['text for a block', 'session: none', '2: session: must be a block of keys, not text'],
  [
    'an unknown dimension',
    'session: { dimensions: [chat, tpoic] }',
    '2: session.dimensions[1]: must be one of space, chat, topic, sender; did you mean `topic`?',
  ],
  [
    'an unknown channel in a rule',
    'session: { sendPolicy: { rules: [{ match: { channel: telegrm }, action: deny }] } }',
    '2: session.sendPolicy.rules[0].match.channel: must be one of telegram, discord, slack, web, cli, api; did you mean `telegram`?',
  ],
  [
    'a rule with an empty id',
    'routing: { dispatch: [{ match: { chat: "" } }] }',
    '2: routing.dispatch[0].match.chat: is empty; fill it in or leave the key out',
  ],
  [
    'a rule with nothing after a key',
    'routing: { dispatch: [{ match: { chat: } }] }',
    '2: routing.dispatch[0].match.chat: must be an id: text in quotes, or a whole number',
  ],
  [
    'surface beside channel',
    'session: { sendPolicy: { rules: [{ match: { channel: slack, surface: discord } }] } }',
    '2: session.sendPolicy.rules[0].match: names both surface and channel, which mean the same; keep channel',
  ],
  [
    'a shadow rule',
    'routing: { dispatch: [{ match: { chat: 1 }, shadow: true }] }',
    '2: routing.dispatch[0].shadow: is not available yet, and the rule would answer for real; take the rule out',
  ],
  [
    'a model without provider',
    'agents: [{ id: main, model: gpt }]',
    '2: agents[0].model: must be <server>/<model>, such as anthropic/claude-sonnet-5-5 or scripted/echo',
  ],
  [
    'a server that is not there',
    'agents: [{ id: main, model: acme/x }]',
    '2: agents[0].model: models has no server acme, nor any other; describe it there, or write anthropic/<model>, openai/<model>, scripted/echo or scripted/<file>',
  ],
  ['no agent', 'agents: []', '2: agents: is empty; fill it in or leave the key out'],
  [
    'two agents of one name',
    'agents:\n  - { id: main }\n  - { id: Main }',
    '4: agents[1].id: there is another agent main; names are compared without case',
  ],
  [
    'Postgres',
    'store: { url: "postgres://u:canary@h/d" }',
    '2: store.url: Postgres is not available yet; write sqlite:<file>',
  ],
  [
    'a store that is none',
    'store: { url: parley.db }',
    '2: store.url: must be sqlite:<file>, such as sqlite:parley.db',
  ],
  [
    'an address that is none',
    `models: { anthropic: { apiKey: "\${env:TOKEN}", baseUrl: localhost } }`,
    '2: models.anthropic.baseUrl: must be an address that begins with http:// or https://',
  ],
  [
    'an empty key',
    'models: { anthropic: { apiKey: "" } }',
    '2: models.anthropic.apiKey: is empty; fill it in or leave the key out',
  ],
  [
    'neither key nor address',
    'models: { openai: {} }',
    '2: models.openai: needs apiKey, or baseUrl for a server that needs no key',
  ],
  [
    'a log level that is none',
    'logging: { level: warning }',
    '2: logging.level: must be one of debug, info, warn, error',
  ],
  [
    'a schedule without cron',
    'schedules: [{ id: a, prompt: x, deliverTo: "telegram:direct:1" }]',
    '2: schedules[0].cron: is missing; it must be text',
  ],
  ['the same key twice', 'http: {}\nhttp: {}', '3: the same key stands here twice; keep one of them'],
  ['a tab', 'session:\n\tscope: routed', '3: the line is indented by a tab; use spaces'],
  [
    'a bracket left open',
    'session: { scope: routed',
    '2: a "{" opens in this line and is not closed; a "}" is missing',
  ],
  [
    'a bracket of a list left open',
    'agents: [{ id: main, tools: [time }]\nhttp: {}',
    '2: a "[" opens in this line and is not closed; a "]" is missing',
  ],
  [
    'a brace left open far above',
    'agents:\n  - { id: main,\n      tools: [time]\nhttp: {}',
    '3: a "{" opens in this line and is not closed; a "}" is missing',
  ],
  ['a bracket too many', 'agents: [{ id: main }]]', '2: a bracket closes here that none opens'],
  ['a quote left open', 'agents: [{ id: main, prompt: "hi }]', '2: a quote (") opens in this line and is not closed'],
  [
    'a reference without quotes within braces',
    `models: { anthropic: { apiKey: \${env:TOKEN} } }`,
    `2: within { } or [ ] a reference stands in quotes: { token: "\${env:NAME}" }`,
  ],
  [
    'a reference without quotes within brackets',
    `agents:\n  - id: main\n    tools: [\${env:TOKEN}]`,
    `4: within { } or [ ] a reference stands in quotes: { token: "\${env:NAME}" }`,
  ],
  [
    'a reference that is not closed',
    `models: { anthropic: { apiKey: "\${env:TOKEN" } }`,
    '2: models.anthropic.apiKey: a reference opens here and is not closed; a } is missing',
  ],
  ...['$env:TOKEN', '{env:TOKEN}', '%TOKEN%', '{{ env.TOKEN }}', 'process.env.TOKEN'].map(
    (typed) =>
      [
        `a reference of another program: ${typed}`,
        `models: { anthropic: { apiKey: "${typed}" } }`,
        `2: models.anthropic.apiKey: is no reference; write \${env:TOKEN}`,
      ] as const,
  ),
  [
    'entries with names where a list is',
    'agents:\n  main: { tools: [time] }',
    '2: agents: must be a list, not a block of keys; each entry begins with "- " and none has a name before it: "- id: main" in place of "main:"',
  ],
  [
    'one entry where a list is',
    'routing: { dispatch: { match: { chat: 1 }, agent: main } }',
    '2: routing.dispatch: must be a list, not a block of keys; it is one entry of it: begin it with "- ", or put brackets',
  ],
  [
    'names with values where a list of names is',
    'agents: [{ id: main, tools: { time: true, web: true } }]',
    '2: agents[0].tools: must be a list, not a block of keys; write the names in brackets: [time, web]',
  ],
  [
    'a name where a list of blocks is',
    'agents: main',
    '2: agents: must be a list, not text; put it in brackets: [{ id: … }]',
  ],
  ['a name where a block is', 'agents: [main]', '2: agents[0]: must be a block of keys, not text; write { id: … }'],
  [
    'one word where a list is',
    'routing: { wakeWords: kit }',
    '2: routing.wakeWords: must be a list, not text; put it in',
  ],
  [
    'a list where entries have names',
    'people: [{ name: ada, role: owner }]',
    '2: people: must be a block of keys, not a list; write each entry under its name, without a dash or brackets',
  ],
  [
    'a key beside the names that have it',
    'models: { apiKey: k }',
    '2: models.apiKey: must be a block of keys, not text; `apiKey` belongs under models.<name>',
  ],
  [
    'a key that the blocks around and within it have',
    'routing: { access: { wakeWords: [kit] } }',
    '2: unknown key `wakeWords` in routing.access; it belongs under routing or under routing.access.groups[0]',
  ],
  [
    'a key of the block around it',
    'routing: { access: { groups: [{ match: { channel: telegram, trigger: always } }] } }',
    '2: unknown key `trigger` in routing.access.groups[0].match; it belongs under routing.access.groups[0]',
  ],
  [
    'a key that is near another one and belongs elsewhere',
    'model: anthropic/x',
    '2: unknown key `model` at top level; did you mean `models`? `model` belongs under agents[0]',
  ],
  [
    'an alias by mistake',
    'agents: [{ id: *canary }]',
    '2: a text that begins with "*" has to be in quotes: YAML keeps this mark for itself',
  ],
]

test('a block whose first line is still a comment is told once, and not of each line below it', async () => {
  expect(await refusal(`#people:\n  ada:\n    role: owner\n${TELEGRAM}logging: {}\nhttp: {}\n`)).toMatch(
    /^[^\n]*parley.yaml:\d+: this does not belong to the lines above; is the line that begins their block a comment \(#\) or missing\?$/,
  )
})

describe('bad input is refused with line, path and remedy', () => {
  test.each(TABLE)('%s', async (_, yaml, message) => {
    expect(await refusal(`${TELEGRAM}${yaml}\n`)).toContain(`parley.yaml:${message}`)
  })

  test.each([
    [
      'a mistyped key',
      `token: "\${env:TOKEN}", apiRot: x`,
      '4: unknown key `apiRot` in channels.telegram.accounts.default; did you mean `apiRoot`?',
    ],
    ['no token', 'streaming: true', '4: channels.telegram.accounts.default.token: is missing; it must be text'],
    [
      'a credential that is a path',
      `token: "\${credential:../bot}"`,
      'a credential is named by letters, digits, dots, _ and -',
    ],
    [
      'a reference of another kind',
      `token: "\${vault:bot}"`,
      `\${vault:…} is no reference; write \${env:NAME}, \${file:PATH} or \${credential:NAME}`,
    ],
    [
      'a shell variable',
      `token: "\${TOKEN}"`,
      `4: channels.telegram.accounts.default.token: is no reference; write \${env:TOKEN}`,
    ],
    [
      'a webhook without its secret',
      `token: "\${env:TOKEN}", mode: webhook, webhookUrl: https://bot.test/in`,
      '4: channels.telegram.accounts.default.webhookSecret: is needed for mode "webhook"',
    ],
    [
      'a webhook without TLS',
      `token: "\${env:TOKEN}", mode: webhook, webhookUrl: http://bot.test/in, webhookSecret: "\${env:SECRET}"`,
      '4: channels.telegram.accounts.default.webhookUrl: must begin with https://',
    ],
    [
      'a webhook whose secret is a placeholder',
      `token: "\${env:TOKEN}", mode: webhook, webhookUrl: https://bot.test/in, webhookSecret: change-me`,
      '4: channels.telegram.accounts.default.webhookSecret: is a placeholder; `openssl rand -hex 32` makes a secret',
    ],
  ])('an account with %s', async (_, fields, message) => {
    expect(await refusal(account(fields), { EMPTY: ' ', SECRET: '3f9d1c0a7be2' }, { blank: '\n' })).toContain(message)
  })

  test.each([
    ['a secret', `logging: { level: "\${file:a.d}" }`, 'logging.level: '],
    ['a prompt', 'agents: [{ id: main, prompt: a.d }]', 'agents[0].prompt: '],
    ['the program of a hook', 'hooks: { x: { on: before_save, command: ./a.d, timeoutMs: 1000 } }', 'hooks.x: '],
  ])('a folder where %s is expected', async (_, line, path) => {
    const told = await refusal(`${TELEGRAM}${line}\n`, {}, { 'a.d/x': '' })
    expect(told).toContain(`parley.yaml:2: ${path}`)
    expect(told).toMatch(/\/a\.d is a folder and not a file; name the file in it, or take the folder away/)
    expect(told).not.toContain('EISDIR')
  })

  test.each([
    ['a folder', `"\${file:folder}"`, 'folder is a folder and not a file'],
    [
      'an unset variable',
      `"\${env:NOWHERE}"`,
      'token: the variable NOWHERE is not set; set it or change the reference',
    ],
    ['an empty variable', `"\${env:EMPTY}"`, 'token: the variable EMPTY is not set; set it or change the reference'],
    ['a file that is not there', `"\${file:token.txt}"`, 'token.txt cannot be read (ENOENT); create it'],
    ['an empty file', `"\${file:blank}"`, 'blank is empty; put the secret in it'],
    ['a credential outside systemd', `"\${credential:bot}"`, 'add LoadCredential=bot:<file> to the systemd unit'],
  ])('an account whose token is %s is down with the reason, and no reason not to start', async (_, token, reason) => {
    const { config } = await load(account(`token: ${token}`), { EMPTY: ' ' }, { blank: '\n', 'folder/x': '' })
    expect(config.channels).toEqual({})
    expect(config.down).toMatchObject([
      { channel: 'telegram', account: 'default', reason: expect.stringContaining(reason) },
    ])
  })

  test('an account that lacks two secrets is down once, with both', async () => {
    const slack = `channels: { slack: { accounts: { default: { botToken: "\${env:BOT}", appToken: "\${env:APP}" } } } }`
    const { config } = await load(slack, {})
    const reason =
      'botToken: the variable BOT is not set; set it or change the reference; ' +
      'appToken: the variable APP is not set; set it or change the reference'
    expect(config.down).toEqual([{ channel: 'slack', account: 'default', reason }])
  })

  test.each([
    [
      'a Discord bot with an empty token',
      'channels: { discord: { accounts: { default: { token: " " } } } }',
      'channels.discord.accounts.default.token: the token is empty',
    ],
    [
      'a Slack app without its app-level token',
      'channels: { slack: { accounts: { default: { botToken: xoxb-1 } } } }',
      'channels.slack.accounts.default.appToken: is needed for mode "socket"',
    ],
    [
      'a Slack app by HTTP without its signing secret',
      'channels: { slack: { accounts: { default: { botToken: xoxb-1, mode: http } } } }',
      'channels.slack.accounts.default.signingSecret: is needed for mode "http"',
    ],
    [
      'the two tokens of a Slack app mixed up',
      'channels: { slack: { accounts: { default: { botToken: xapp-1, appToken: xoxb-1 } } } }',
      'channels.slack.accounts.default.botToken: must be the bot token, which begins with xoxb-',
    ],
    ['a mistyped channel', 'channels: { telegrm: {} }', 'unknown key `telegrm` in channels; did you mean `telegram`?'],
    [
      'a channel without accounts',
      'channels: { telegram: { accounts: {} } }',
      'channels.telegram.accounts: has no account; add one or take the channel out',
    ],
    [
      'no channel',
      'agents: [{ id: main }]',
      'channels: no channel is configured; add channels.telegram (config/parley.example.yaml shows how), set TELEGRAM_BOT_TOKEN, or add http for programs alone',
    ],
    ['an empty file', '', 'channels: no channel is configured'],
    ['a file that is a list', '- 1', 'must be a block of keys, not a list'],
  ])('%s', async (_, yaml, message) => {
    expect(await refusal(yaml)).toContain(message)
  })

  test('a prompt that is not there is named with its path', async () => {
    const message = await refusal(`${TELEGRAM}agents: [{ id: main, prompt: ./agent.md }]`)

    expect(message).toMatch(
      /^parley.yaml:2: agents\[0\].prompt: \/.*\/agent.md cannot be read \(ENOENT\); write the file/,
    )
  })

  test('all mistakes are told at once, in the order of the file', async () => {
    const message = await refusal(`people: { ada: { role: x } }\nsesion: {}\n${TELEGRAM}store: { url: x, b: 1 }\n`)

    expect(message.split('\n').map((line) => line.split(':')[1])).toEqual(['1', '2', '4'])
  })

  test('a long list of mistakes is cut', async () => {
    const rules = Array.from({ length: 14 }, () => '{ who: x }').join(', ')

    const lines = (await refusal(`${TELEGRAM}routing: { access: { groups: [${rules}] } }`)).split('\n')

    expect(lines).toHaveLength(11)
    expect(lines.at(-1)).toBe('and 4 more in parley.yaml')
  })
})

describe('the file itself', () => {
  const at = (path: string, folder: string) => loadConfig({ path, env: {}, cwd: folder, catalogue })

  test('one that is not there is refused, not skipped', async () => {
    const folder = temporaryFolder()

    await expect(at('other.yaml', folder)).rejects.toMatchObject({
      code: 'config',
      message: `${join(folder, 'other.yaml')}: there is no such file; check --config or PARLEY_CONFIG, or write it`,
    })
  })

  test.each([
    ['a list', '- channels\n', 'the file: must be a block of keys, not a list'],
    ['plain text', 'telegram\n', 'the file: must be a block of keys, not text'],
  ])('%s is refused', async (_, yaml, message) => {
    expect(await refusal(yaml)).toContain(message)
  })

  test.each([
    ['UTF-16 as Windows writes it', Buffer.from(`\ufeff${TELEGRAM}`, 'utf16le')],
    ['UTF-16 without its mark', Buffer.from(TELEGRAM, 'utf16le')],
    ['the other UTF-16', Buffer.from(`\ufeff${TELEGRAM}`, 'utf16le').swap16()],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${TELEGRAM.replaceAll('\n', '\r\n')}`)],
  ])('one in %s is read', async (_, bytes) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'parley.yaml'), bytes)
    const { config } = await loadConfig({ path: 'parley.yaml', env: { HOME: folder, TOKEN }, cwd: folder, catalogue })
    expect(config.channels.telegram?.accounts.default).toMatchObject({ token: TOKEN })
  })

  test('one in another encoding is refused, not misread', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'latin.yaml'), Buffer.from('agents: [{ id: main, prompt: "gr\u00fcn" }]\n', 'latin1'))
    await expect(at('latin.yaml', folder)).rejects.toThrow('latin.yaml: is not in UTF-8; save it so')
  })

  test('a folder is refused', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'parley.d'))

    await expect(at('parley.d', folder)).rejects.toThrow(/parley.d: is a folder and not a file; name the file in it/)
  })
})

describe('F-J01: no message quotes a secret', () => {
  test.each([
    ['in the wrong place', `${TELEGRAM}logging: { level: "${TOKEN}" }`],
    ['beside a mistake of the YAML', `channels:\n  telegram:\n    token: "${TOKEN}\n  x`],
    ['as an alias', `channels: { telegram: *${TOKEN.replace(':', '')} }`],
    ['of a wrong type', `channels: { telegram: { accounts: ["${TOKEN}"] } }`],
    ['as a model', `${TELEGRAM}agents: [{ id: main, model: "${TOKEN}" }]`],
    ['as an address', account(`token: "\${env:TOKEN}", apiRoot: "${TOKEN}"`)],
    ['as a store', `${TELEGRAM}store: { url: "postgres://u:${TOKEN}@h/d" }`],
  ])('%s', async (_, yaml) => {
    expect(await refusal(yaml)).not.toContain('canary')
  })

  test('a reference in it is resolved, and still not quoted', async () => {
    expect(await refusal(`${TELEGRAM}logging: { level: "\${env:TOKEN}" }`)).not.toContain('canary')
  })
})

describe('a file that never ends, or nearly', () => {
  test('is refused as a configuration', async () => {
    expect(await refusal(`${TELEGRAM}#${'x'.repeat(2 ** 20)}`)).toContain('is larger than 1 MB')
  })

  test('is no secret and no prompt', async () => {
    expect(await refusal(`${TELEGRAM}logging: { level: "\${file:/dev/zero}" }`)).toContain(
      '/dev/zero cannot be read (too_long)',
    )
    expect(await refusal(`${TELEGRAM}agents: [{ id: main, prompt: /dev/zero }]`)).toContain(
      '/dev/zero cannot be read (too_long)',
    )
  })
})

describe('a file of the system whose next byte may never come', () => {
  // As the log of the kernel, or a terminal: one that nobody types into.
  const silent = '/dev/ptmx'

  test('is refused as a configuration, a secret, a key of the store and a prompt', async () => {
    await expect(loadConfig({ path: silent, env: {}, cwd: '/', catalogue })).rejects.toThrow(
      `${silent}: is a device, or has no end; name a file`,
    )
    for (const part of ['logging: { level: ', 'store: { key: '])
      expect(await refusal(`${TELEGRAM}${part}"\${file:${silent}}" }`)).toContain('cannot be read (invalid)')
    expect(await refusal(`${TELEGRAM}agents: [{ id: main, prompt: ${silent} }]`)).toContain('cannot be read (invalid)')
  })
})

describe('a pipe', () => {
  function pipe(): string {
    const path = join(temporaryFolder(), 'pipe')
    execFileSync('mkfifo', [path])
    return path
  }

  test('into which nobody writes is refused as a configuration, a secret and a prompt', async () => {
    const path = pipe()
    const asked = loadConfig({ path, env: {}, cwd: '/', catalogue })
    await expect(asked).rejects.toThrow(`${path}: is a pipe into which nobody writes; name a file`)
    expect(await refusal(`${TELEGRAM}agents: [{ id: main, prompt: ${path} }]`)).toContain(
      'cannot be read (unavailable)',
    )
    expect(await refusal(`${TELEGRAM}logging: { level: "\${file:${path}}" }`)).toContain('cannot be read (unavailable)')
  })

  test('is read to its end', async () => {
    const path = pipe()
    const writer = spawn('sh', ['-c', 'printf "%s" "$1" > "$2"', 'sh', TELEGRAM, path])
    const ended = once(writer, 'exit')
    const { config } = await loadConfig({ path, env: { HOME: temporaryFolder(), TOKEN }, cwd: '/', catalogue })
    expect(Object.keys(config.channels)).toEqual(['telegram'])
    await ended
  })
})

test('a reference that cannot be resolved hides no other mistake, and makes none', async () => {
  const server = `{ url: "http://127.0.0.1:1/mcp", headers: { authorization: "Bearer \${env:NOPE}" } }`
  const parts = `agents: [{ id: main, tools: [mcp.notes, tmie] }]\ntools: { mcp: { notes: ${server} } }\n`
  expect((await refusal(`${TELEGRAM}${parts}`)).split('\n')).toEqual([
    expect.stringContaining('parley.yaml:2: agents[0].tools[1]: there are no such tools'),
    expect.stringContaining('parley.yaml:3: tools.mcp.notes.headers.authorization: the variable NOPE is not set'),
  ])
  const file = await refusal(`${TELEGRAM}tools: { own: { dice: "\${env:NOPE}" } }`)
  expect(file).toBe('parley.yaml:2: tools.own.dice: the variable NOPE is not set; set it or change the reference')
})

test('a variable that is not set is all that is warned of: other warnings may only follow from that', async () => {
  const rules = 'routing: { access: { groups: [{ match: { channel: telegram }, who: allowlist }] } }\n'
  const { config } = await load(`${TELEGRAM}${rules}`, { TOKEN: undefined })
  expect(config.warnings).toEqual([])
  expect(config.down).toEqual([
    { channel: 'telegram', account: 'default', reason: expect.stringContaining('the variable TOKEN is not set') },
  ])
  const keyless = await load(`${TELEGRAM}${rules}models: { openai: { apiKey: "\${env:NO_KEY}" } }\n`, {
    TOKEN: undefined,
  })
  expect(keyless.config.warnings).toEqual([
    expect.stringContaining('models.openai.apiKey: the variable NO_KEY is not set'),
  ])
})

test('large ids, which YAML would round, are exact', async () => {
  const { config } = await load(`${TELEGRAM}people: { ada: { ids: [123456789012345678901, -1002147483648, "1007"] } }`)

  expect(config.routing.people[0]?.ids).toEqual(['123456789012345678901', '-1002147483648', '1007'])
})

test.each([
  ...[
    '*',
    'null',
    '',
    'app.example.org',
    'https://app.example.org/',
    'https://app.example.org/chat',
    'https://App.example.org',
  ],
  ...[
    'https://*.example.org',
    'https://app.example.org:443',
    'https://ada@app.example.org',
    'https://app.example.org?x',
  ],
  ...[
    'ws://app.example.org',
    'file:///home',
    'chrome-extension://abcdef',
    'https://münchen.example',
    '//app.example.org',
  ],
])('F-K02: the origin "%s" is refused by its key, and the words say what one looks like', async (origin) => {
  expect(await refusal(`${TELEGRAM}http: { origins: ["${origin}"] }\n`)).toContain(NO_ORIGIN)
})

test.each([
  'https://app.example.org',
  'http://localhost:3000',
  'http://[::1]:8080',
  'https://xn--mnchen-3ya.example:8443',
])('the origin %s is taken', async (origin) => {
  const { config } = await load(`${TELEGRAM}http: { origins: ["${origin}"] }\n`)
  expect(config.http?.origins).toEqual([origin])
})
