import { describe, expect, it } from 'vitest'
import { checked, IDS, peerFolder, read, shown, TOKENS } from './peer-rig.ts'

const { ada, bob, eve, group } = IDS

const CONFIG = `_config_version: 50
model:
  default: "anthropic/claude-opus-4.6"
  provider: "auto"
  base_url: "https://openrouter.ai/api/v1"
timezone: Europe/Berlin
platforms:
  telegram:
    extra: { status_indicator: true }
telegram:
  require_mention: true
  allowed_chats: ["${group}"]
  free_response_chats: ${group}
discord:
  require_mention: false
mcp_servers:
  notes: { command: npx, args: [notes] }
`
const ENV = `# Hermes
OPENROUTER_API_KEY=${TOKENS.openrouter}
TELEGRAM_BOT_TOKEN="${TOKENS.telegram}"
TELEGRAM_ALLOWED_USERS=${ada}, ${bob}    # the family
TELEGRAM_HOME_CHANNEL=${ada}
export DISCORD_BOT_TOKEN='${TOKENS.discord}'
DISCORD_ALLOWED_USERS=
SLACK_BOT_TOKEN=${TOKENS.slackBot}
`

const job = (fields: object): object => ({ enabled: true, state: 'scheduled', prompt: 'Sum up.', ...fields })

const JOBS = JSON.stringify({
  jobs: [
    job({
      id: '1',
      name: 'Daily briefing',
      schedule: { kind: 'cron', expr: '0 9 * * *' },
      deliver: `telegram:${group}:7`,
    }),
    job({ id: '2', name: 'Home', schedule: { kind: 'interval', minutes: 30 }, deliver: 'telegram' }),
    job({
      ...{ id: '3', name: 'Origin', schedule: { kind: 'cron', expr: '@daily' }, deliver: 'origin' },
      origin: { platform: 'telegram', chat_id: group, thread_id: null },
    }),
    job({ id: '4', name: 'Local', schedule: { kind: 'cron', expr: '0 9 * * *' }, deliver: 'local' }),
    job({
      id: '5',
      name: 'Script',
      schedule: { kind: 'cron', expr: '0 9 * * *' },
      deliver: 'telegram',
      script: 'a.py',
    }),
    job({
      id: '6',
      name: 'Thrice',
      schedule: { kind: 'cron', expr: '0 9 * * *' },
      repeat: { times: 3 },
      deliver: 'telegram',
    }),
    job({ id: '7', name: 'Odd', schedule: { kind: 'interval', minutes: 7 }, deliver: 'telegram' }),
    job({
      id: '8',
      name: 'Paused',
      state: 'paused',
      schedule: { kind: 'cron', expr: '0 9 * * *' },
      deliver: 'telegram',
    }),
  ],
})

describe('reading the folder of Hermes Agent', () => {
  it('one of today becomes accounts, people, groups, a model and schedules, and passes the check', async () => {
    const folder = peerFolder({
      ...{ 'config.yaml': CONFIG, '.env': ENV, 'cron/jobs.json': JOBS, 'SOUL.md': 'Be brief.' },
      'memories/MEMORY.md': 'Bob has a dog.',
      'platforms/pairing/telegram-approved.json': JSON.stringify({ [eve]: { user_name: 'eve', approved_at: 1 } }),
      'profiles/coder/config.yaml': '',
    })
    const setup = await read('hermes', folder)
    expect(setup.config).toEqual({
      people: Object.fromEntries([ada, bob, eve].map((id) => [`telegram-${id}`, { ids: [`telegram:${id}`] }])),
      agents: [{ id: 'main', model: 'openrouter/anthropic/claude-opus-4.6', prompt: 'prompts/main.md' }],
      models: {
        openrouter: {
          ...{ kind: 'openai', baseUrl: 'https://openrouter.ai/api/v1', apiKey: `\${file:secrets/openrouter-api-key}` },
        },
      },
      channels: {
        telegram: { accounts: { default: { token: `\${file:secrets/telegram-default-token}` } } },
        discord: { accounts: { default: { token: `\${file:secrets/discord-default-token}` } } },
      },
      routing: {
        access: {
          direct: 'allowlist',
          groups: [{ match: { channel: 'telegram', chat: group }, who: 'allowlist', trigger: 'always' }],
        },
      },
      schedules: [
        ...[
          { id: 'daily-briefing', cron: '0 9 * * *', deliverTo: `telegram:group:${group}/7` },
          { id: 'home', cron: '*/30 * * * *', deliverTo: `telegram:direct:${ada}` },
          { id: 'origin', cron: '@daily', deliverTo: `telegram:group:${group}` },
        ].map((one) => ({ ...one, timezone: 'Europe/Berlin', prompt: 'Sum up.' })),
      ],
    })
    expect((await checked(setup)).warnings).toEqual([])
    expect(shown(setup)).not.toMatch(/canary|has a dog/)
    expect(setup.notTaken).toEqual([
      expect.stringMatching(/^Slack account default: its appToken is missing .* --token slack\.appToken=/),
      ...['Local', 'Script', 'Thrice', 'Odd', 'Paused'].map((name) => expect.stringContaining(`Schedule "${name}": `)),
      expect.stringMatching(/^memories\/MEMORY\.md: .*\/remember/),
      'profiles/coder: a set-up of its own; name its folder behind --from hermes.',
      expect.stringMatching(/^Conversations: /),
      'mcp_servers: not taken, since they run programs; look at tools.mcp in reference.md.',
    ])
  })

  it('one of an older version, with gateway.json and the model among the variables, is read too', async () => {
    const folder = peerFolder({
      '.env': `LLM_MODEL=anthropic/claude-sonnet-4-5\nANTHROPIC_API_KEY=${TOKENS.anthropic}\nTELEGRAM_ALLOWED_USERS=${ada}`,
      'gateway.json': JSON.stringify({ platforms: { telegram: { enabled: true, token: TOKENS.telegram } } }),
      'pairing/telegram-approved.json': JSON.stringify({ [bob]: {} }),
      'cron/jobs.json': '[]',
    })
    const setup = await read('hermes', folder)
    expect((await checked(setup)).warnings).toEqual([])
    expect(setup.config).toMatchObject({
      people: { [`telegram-${ada}`]: {}, [`telegram-${bob}`]: {} },
      agents: [{ id: 'main', model: 'anthropic/claude-sonnet-4-5' }],
      channels: { telegram: { accounts: { default: {} } } },
    })
    // On Telegram it answers the people listed in every group.
    expect(setup.notTaken).toContainEqual(
      expect.stringMatching(/^Telegram groups: the people listed are answered in each/),
    )
  })

  it('who was let in wholesale is not, and chats open to all their members are closed', async () => {
    const folder = peerFolder({
      'config.yaml': 'model: { default: qwen3, provider: custom, base_url: "http://127.0.0.1:11434/v1" }\n',
      '.env': `TELEGRAM_BOT_TOKEN=${TOKENS.telegram}\nGATEWAY_ALLOW_ALL_USERS=true\nTELEGRAM_GROUP_ALLOWED_CHATS=${group}\n`,
    })
    const setup = await read('hermes', folder)
    expect((await checked(setup)).routing.access).toMatchObject({ direct: 'owner', groups: [] })
    expect(setup.config).toMatchObject({
      agents: [{ model: 'custom/qwen3' }],
      models: { custom: { kind: 'openai', baseUrl: 'http://127.0.0.1:11434/v1' } },
    })
    expect(setup.notTaken).toContainEqual(expect.stringContaining('routing.access.direct: public'))
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/everybody there is answered/))
  })

  it('a variable that is set elsewhere stays one, and a key in auth.json is found', async () => {
    const folder = peerFolder({
      'config.yaml': `model: { default: claude-x, provider: anthropic }\ntelegram: { token: "\${MY_BOT}" }\n`,
      'auth.json': JSON.stringify({
        credential_pool: {
          anthropic: [{ auth_type: 'oauth' }, { auth_type: 'api_key', access_token: TOKENS.anthropic }],
        },
      }),
    })
    const setup = await read('hermes', folder)
    expect(setup.config).toMatchObject({
      agents: [{ model: 'anthropic/claude-x' }],
      channels: { telegram: { accounts: { default: { token: `\${env:MY_BOT}` } } } },
    })
    await checked(setup, { MY_BOT: TOKENS.telegram })
    expect(shown(setup)).not.toContain('canary')
  })

  it.each([
    [
      'broken YAML',
      { 'config.yaml': 'a: [1\nb: 2', '.env': 'A=1' },
      /config\.yaml is no YAML \(line 1: .*mend the file/,
    ],
    ['a huge file', { 'config.yaml': `a: ${'x'.repeat(2_000_000)}` }, /has no config\.yaml and no \.env/],
    ['nothing', { 'x.txt': '' }, /has no config\.yaml and no \.env/],
  ])('%s is a sentence with the file', async (_what, files, message) => {
    await expect(read('hermes', peerFolder(files))).rejects.toThrow(message)
  })
})
