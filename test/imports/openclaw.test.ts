import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPeer } from '../../src/imports/read-peer.ts'
import { checked, database, IDS, peerFolder, read, shown, TOKENS, temporary } from './peer-rig.ts'

const { ada, bob, eve, group } = IDS

/** As the program writes it in 2026, with comments, trailing commas and names without quotes. */
const TODAY = `// written by onboarding
{
  env: { vars: { OPENROUTER_API_KEY: "${TOKENS.openrouter}" } },
  agents: {
    defaults: { model: { primary: "openrouter/anthropic/claude-sonnet-4-5", fallbacks: ['anthropic/claude-opus-4-6'] },
      workspace: "workspace", userTimezone: "Europe/Berlin", },
    list: [{ id: "main", default: true, identity: { name: "Samantha" } }],
  },
  channels: {
    telegram: {
      enabled: true, botToken: "${TOKENS.telegram}", dmPolicy: "allowlist",
      allowFrom: ["${ada}", ${bob}], // the family
      groups: {
        "${group}": { requireMention: false, topics: { "42": { requireMention: true } } },
        "*": { requireMention: true },
      },
    },
    whatsapp: { allowFrom: ["+15555550123"] },
    slack: { botToken: "\${SLACK_BOT_TOKEN}", appToken: "\${SLACK_APP_TOKEN}" },
  },
  commands: { ownerAllowFrom: ["telegram:${ada}"] },
  models: { providers: { anthropic: { apiKey: "${TOKENS.anthropic}" } } },
}`

const JOBS = JSON.stringify({
  version: 1,
  jobs: [
    {
      ...{ id: 'a1', name: 'Morning brief', enabled: true, sessionTarget: 'isolated', wakeMode: 'now' },
      schedule: { kind: 'cron', expr: '0 7 * * 1-5', tz: 'America/Los_Angeles' },
      payload: { kind: 'agentTurn', message: `What is new? \${env:HOME}` },
      delivery: { mode: 'announce', channel: 'telegram', to: `${group}:topic:42` },
    },
    {
      ...{ id: 'a2', name: 'Every two hours', enabled: true },
      schedule: { kind: 'every', everyMs: 7_200_000 },
      payload: { kind: 'agentTurn', message: 'Look around.', deliver: true, channel: 'telegram', to: ada },
    },
    { id: 'a3', name: 'Once', enabled: true, schedule: { kind: 'at', at: '2026-12-01' }, payload: { text: 'x' } },
    { id: 'a4', name: 'Off', enabled: false, schedule: { kind: 'cron', expr: '* * * * *' }, payload: { text: 'x' } },
    { id: 'a5', name: 'To the last', schedule: { kind: 'cron', expr: '* * * * *' }, payload: { message: 'x' } },
    {
      ...{ id: 'a6', name: 'Broken times', delivery: { channel: 'telegram', to: ada } },
      ...{ schedule: { kind: 'cron', expr: '99 * * * *' }, payload: { message: 'x' } },
    },
  ],
})

describe('reading the folder of OpenClaw', () => {
  it('one of today becomes accounts, people, groups, models and schedules, and passes the check', async () => {
    const folder = peerFolder({
      'openclaw.json': TODAY,
      'cron/jobs.json': JOBS,
      'workspace/SOUL.md': 'You are calm.',
      'workspace/IDENTITY.md': 'name: Samantha',
      'workspace/USER.md': 'Likes tea.',
      'workspace/MEMORY.md': 'Met Bob.',
      'workspace/AGENTS.md': 'Use exec.',
    })
    const setup = await read('openclaw', folder)
    expect(setup.taken.join('\n')).toContain(`Telegram ${group}/42: `)
    expect(setup.config).toEqual({
      people: {
        [`telegram-${ada}`]: { role: 'owner', ids: [`telegram:${ada}`] },
        [`telegram-${bob}`]: { ids: [`telegram:${bob}`] },
      },
      agents: [
        {
          id: 'main',
          model: 'openrouter/anthropic/claude-sonnet-4-5',
          fallback: ['anthropic/claude-opus-4-6'],
          prompt: 'prompts/main.md',
        },
      ],
      models: {
        openrouter: {
          kind: 'openai',
          baseUrl: 'https://openrouter.ai/api/v1',
          apiKey: `\${file:secrets/openrouter-api-key}`,
        },
        anthropic: { apiKey: `\${file:secrets/anthropic-api-key}` },
      },
      channels: {
        telegram: { accounts: { default: { token: `\${file:secrets/telegram-default-token}` } } },
        slack: { accounts: { default: { botToken: `\${env:SLACK_BOT_TOKEN}`, appToken: `\${env:SLACK_APP_TOKEN}` } } },
      },
      routing: {
        access: {
          direct: 'allowlist',
          groups: [
            { match: { channel: 'telegram', chat: group, topic: '42' }, who: 'allowlist' },
            { match: { channel: 'telegram', chat: group }, who: 'allowlist', trigger: 'always' },
          ],
        },
        wakeWords: ['Samantha'],
      },
      schedules: [
        {
          ...{ id: 'morning-brief', cron: '0 7 * * 1-5', timezone: 'America/Los_Angeles' },
          ...{ prompt: 'What is new? $ {env:HOME}', deliverTo: `telegram:group:${group}/42` },
        },
        {
          ...{ id: 'every-two-hours', cron: '0 */2 * * *', timezone: 'Europe/Berlin' },
          ...{ prompt: 'Look around.', deliverTo: `telegram:direct:${ada}` },
        },
      ],
    })
    const config = await checked(setup, { SLACK_BOT_TOKEN: TOKENS.slackBot, SLACK_APP_TOKEN: TOKENS.slackApp })
    expect(config.warnings).toEqual([])
    expect(setup.files[0]?.text).toMatch(/^You are a helpful assistant[\s\S]*You are calm\.[\s\S]*name: Samantha\n$/)
    expect(setup.files[0]?.text).not.toMatch(/tea|Met Bob|exec/)
  })

  it('each thing that is left has a line with the reason and what to do instead', async () => {
    const folder = peerFolder({
      'openclaw.json': TODAY,
      'cron/jobs.json': JOBS,
      'workspace/MEMORY.md': 'Met Bob.',
      'workspace/AGENTS.md': 'Use exec.',
    })
    const { notTaken } = await read('openclaw', folder)
    expect(notTaken).toEqual([
      expect.stringMatching(/^Telegram \*: every group is answered .*routing\.access\.groups/),
      'whatsapp: Parley has no such platform; it has telegram, discord, slack.',
      expect.stringMatching(/^MEMORY\.md: .*\/remember/),
      expect.stringMatching(/^AGENTS\.md: .*agents\[\]\.prompt/),
      expect.stringMatching(/^Schedule "Once": it runs once; .*parley schedule add/),
      expect.stringMatching(/^Schedule "Off": it is switched off/),
      expect.stringMatching(/^Schedule "To the last": it names no chat/),
      expect.stringMatching(/^Schedule "Broken times": "99 \* \* \* \*" is no cron expression/),
      `Conversations: stop OpenClaw, set Parley up, and run parley import ${folder}.`,
    ])
  })

  it('what several agents have is said once, each file by its name, with workflows and what programs log in with', async () => {
    const folder = peerFolder({
      'openclaw.json': JSON.stringify({
        gateway: { auth: { mode: 'token', token: 'canary-gateway' } },
        channels: { telegram: { botToken: TOKENS.telegram } },
        agents: { list: [{ id: 'main' }, { id: 'twin' }, { id: 'work', workspace: 'workspace-work' }] },
      }),
      'workspace/MEMORY.md': 'Met Bob.',
      'workspace/workflows/post.lobster': 'steps: []',
      'workspace-work/MEMORY.md': 'Met Eve.',
    })
    const setup = await read('openclaw', folder)
    expect(setup.notTaken.filter((line) => line.includes('MEMORY.md'))).toEqual([
      expect.stringMatching(/^workspace\/MEMORY\.md, workspace-work\/MEMORY\.md: .*\/remember/),
    ])
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/^workspace\/workflows\/: .*tools\.own/))
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/^gateway\.auth: .*parley token create/))
    expect(shown(setup)).not.toContain('canary-gateway')
  })

  it('a variable that is set where Parley runs stays one, with the value that it has there', async () => {
    const folder = peerFolder({
      'openclaw.json': `{ channels: { telegram: {}, slack: { botToken: '\${SLACK_BOT_TOKEN}', appToken: '\${SLACK_APP_TOKEN}' } } }`,
      '.env': `TELEGRAM_BOT_TOKEN=${TOKENS.telegram}`,
    })
    const env = { TELEGRAM_BOT_TOKEN: '7:set-here', SLACK_BOT_TOKEN: TOKENS.slackBot, SLACK_APP_TOKEN: TOKENS.slackApp }
    const { config, secrets, taken } = await read('openclaw', folder, env)
    expect(config.channels).toMatchObject({
      telegram: { accounts: { default: { token: `\${env:TELEGRAM_BOT_TOKEN}` } } },
    })
    expect(secrets.map((one) => [one.reference, one.file, one.read()])).toEqual([
      [`\${env:TELEGRAM_BOT_TOKEN}`, undefined, '7:set-here'],
      [`\${env:SLACK_BOT_TOKEN}`, undefined, TOKENS.slackBot],
      [`\${env:SLACK_APP_TOKEN}`, undefined, TOKENS.slackApp],
    ])
    expect(taken.join()).not.toContain('goes to a file')
  })

  it('one of January 2026, under its old name and with platforms at the top, is read too', async () => {
    const folder = peerFolder({
      'clawdbot.json': JSON.stringify({
        agent: { model: 'anthropic/claude-opus-4-5', workspace: join('elsewhere', 'clawd') },
        identity: { name: 'Clawd' },
        telegram: { botToken: TOKENS.telegram, dmPolicy: 'pairing', groups: { [group]: {} } },
        discord: { token: TOKENS.discord, dm: { enabled: true, allowFrom: [IDS.guild] } },
      }),
      'credentials/telegram-allowFrom.json': JSON.stringify({ version: 1, allowFrom: [bob, '*'] }),
      'agents/main/agent/auth-profiles.json': JSON.stringify({
        version: 1,
        profiles: { 'anthropic:default': { type: 'api_key', provider: 'anthropic', key: TOKENS.anthropic } },
      }),
      'elsewhere/clawd/SOUL.md': 'Be kind.',
    })
    const setup = await read('openclaw', folder)
    const config = await checked(setup)
    expect(config.warnings).toEqual([])
    expect(setup.config).toMatchObject({
      people: { [`telegram-${bob}`]: { ids: [`telegram:${bob}`] } },
      agents: [{ id: 'main', model: 'anthropic/claude-opus-4-5', prompt: 'prompts/main.md' }],
      channels: { telegram: {}, discord: {} },
      // Approved in direct chats alone.
      routing: { access: { direct: 'allowlist', groups: [{ match: { channel: 'telegram', chat: group } }] } },
    })
    expect(setup.files[0]?.text).toContain('Be kind.')
  })

  it('one since June 2026 has its approvals and jobs in a database, which is not changed', async () => {
    const folder = peerFolder({ 'openclaw.json': `{ channels: { telegram: { botToken: '${TOKENS.telegram}' } } }` })
    const job = {
      ...{ id: 'j', name: 'Weekly', enabled: true, schedule: { kind: 'cron', expr: '0 0 9 * * 1' } },
      ...{ payload: { kind: 'agentTurn', message: 'Sum up.' }, delivery: { channel: 'telegram', to: ada } },
    }
    database(
      folder,
      'state/openclaw.sqlite',
      `PRAGMA journal_mode = WAL;
      CREATE TABLE channel_pairing_allow_entries (channel_key TEXT, account_id TEXT, entry TEXT, sort_order INTEGER);
      INSERT INTO channel_pairing_allow_entries VALUES ('telegram', 'default', '${bob}', 0), ('telegram', 'work', '${eve}', 0);
      CREATE TABLE cron_jobs (store_key TEXT, job_id TEXT, name TEXT, enabled INTEGER, job_json TEXT);
      INSERT INTO cron_jobs VALUES ('s', 'j', 'Weekly', 1, '${JSON.stringify(job)}'), ('s', 'k', 'Off', 0, '{}');`,
    )
    const setup = await read('openclaw', folder)
    await checked(setup)
    expect(setup.config).toMatchObject({
      people: { [`telegram-${bob}`]: {} },
      schedules: [{ id: 'weekly', cron: '0 9 * * 1', deliverTo: `telegram:direct:${ada}` }],
    })
    expect(shown(setup)).not.toContain(eve)
  })

  it('people of one of several accounts are in no list for all, and no account gets the token of another', async () => {
    const folder = peerFolder({
      'openclaw.json': JSON.stringify({
        channels: {
          telegram: {
            accounts: {
              default: { botToken: TOKENS.telegram, allowFrom: [ada, bob] },
              Work: { tokenFile: '/run/secrets/work-bot', allowFrom: [bob], groups: { [group]: { allowFrom: [bob] } } },
              none: { allowFrom: [eve] },
            },
          },
        },
      }),
    })
    const setup = await read('openclaw', folder)
    expect(setup.config).toEqual({
      people: { [`telegram-${bob}`]: { ids: [`telegram:${bob}`] } },
      agents: [{ id: 'main' }],
      channels: {
        telegram: {
          accounts: {
            default: { token: `\${file:secrets/telegram-default-token}` },
            work: { token: `\${file:/run/secrets/work-bot}` },
          },
        },
      },
      routing: {
        access: {
          direct: 'allowlist',
          groups: [{ match: { channel: 'telegram', account: 'work', chat: group }, who: 'allowlist' }],
        },
      },
    })
    expect(setup.notTaken).toContainEqual(expect.stringMatching(new RegExp(`^${ada} .*some accounts.*/admit`)))
  })

  it('what was open to everybody is closed, and said with the setting that opens it', async () => {
    const folder = peerFolder({
      'openclaw.json': JSON.stringify({
        channels: {
          telegram: {
            ...{ botToken: TOKENS.telegram, dmPolicy: 'open', allowFrom: ['*', '@eve', ada], groupPolicy: 'open' },
            groups: { [group]: { requireMention: false } },
          },
          discord: {
            token: TOKENS.discord,
            guilds: { '418300271993550021': { channels: { general: { allow: true } } } },
          },
        },
      }),
    })
    const setup = await read('openclaw', folder)
    const config = await checked(setup)
    expect(config.routing.access).toMatchObject({ direct: 'allowlist', groups: [] })
    expect(Object.values(setup.config.people ?? {})).toEqual([{ ids: [`telegram:${ada}`] }])
    expect(setup.notTaken).toContainEqual(expect.stringContaining('routing.access.direct: public'))
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/everybody there is answered.*who: public/))
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/@eve \(Telegram\) is not taken.*\/admit/))
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/general: a name, no id/))
  })

  it('a group in which fewer people were answered than are listed is for the owner', async () => {
    const telegram = {
      botToken: TOKENS.telegram,
      dmPolicy: 'allowlist',
      allowFrom: [ada, bob],
      groups: { [group]: {} },
    }
    const settings = { channels: { telegram: { ...telegram, groupAllowFrom: [ada, eve] } } }
    const setup = await read('openclaw', peerFolder({ 'openclaw.json': JSON.stringify(settings) }))
    expect(setup.config.routing).toMatchObject({
      access: { groups: [{ match: { channel: 'telegram', chat: group } }] },
    })
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/only some of the people listed/))
    expect(setup.notTaken).toContainEqual(
      expect.stringMatching(new RegExp(`${eve} may talk there and in no direct chat`)),
    )
    expect(Object.keys(setup.config.people ?? {})).toHaveLength(2)
  })

  it('no secret is in the tree or in a line, and nothing of a terminal in a name', async () => {
    const settings = {
      channels: {
        telegram: { accounts: { 'a\u001b[31m\u202ex': { botToken: TOKENS.telegram } } },
        discord: { token: { source: 'env', provider: 'default', id: 'DISCORD_BOT_TOKEN' } },
      },
      agents: { defaults: { model: `openrouter/x\${file:/etc/passwd}` } },
      models: { providers: { openrouter: { apiKey: TOKENS.openrouter, baseUrl: 'http://user:word@127.0.0.1/v1' } } },
    }
    const folder = peerFolder({
      'openclaw.json': JSON.stringify(settings),
      '.env': `DISCORD_BOT_TOKEN=${TOKENS.discord}`,
    })
    const setup = await read('openclaw', folder)
    expect(shown(setup)).not.toMatch(/canary|user:word|u001b|\u202e|passwd\}"/)
    expect(setup.secrets.map((one) => one.read())).toEqual([TOKENS.telegram, TOKENS.discord])
    expect(setup.secrets[1]).toMatchObject({ file: 'secrets/discord-default-token' })
    await checked(setup)
  })
})

describe('a folder of OpenClaw in a bad state', () => {
  it.each([
    ['broken JSON5', { 'openclaw.json': '{ channels: { telegram: { botToken: "8:x" ' }, /openclaw\.json is no JSON/],
    ['a text', { 'openclaw.json': 'hello' }, /openclaw\.json is no JSON/],
    ['no settings', { 'notes.txt': '' }, /has no openclaw\.json; name the folder/],
    ['a huge file', { 'openclaw.json': `{"a": "${'x'.repeat(5_000_000)}"}` }, /has no openclaw\.json/],
    ['no account', { 'openclaw.json': '{}' }, /Conversations/],
  ])('%s is a sentence with the file', async (_what, files, message) => {
    const folder = peerFolder(files)
    await expect(read('openclaw', folder)).rejects.toThrow(message)
    await expect(read('openclaw', folder)).rejects.not.toThrow(/8:x/)
  })

  it('door peer: the worst text of it is refused before it is parsed', async () => {
    const folder = peerFolder({ 'openclaw.json': `{"a":${'['.repeat(100_000)}` })
    await expect(read('openclaw', folder)).rejects.toThrow(/levels within each other/)
    const wide = peerFolder({ 'openclaw.json': `[${'1,'.repeat(200_000)}1]` })
    await expect(read('openclaw', wide)).rejects.toThrow(/values/)
  })

  it('a link out of it and a broken file beside the settings are said and not read; a link within it is followed', async () => {
    const outside = temporary()
    writeFileSync(join(outside, 'SOUL.md'), 'stolen words')
    const folder = peerFolder({
      'real.json': `{ channels: { telegram: { botToken: '${TOKENS.telegram}' } } }`,
      'cron/jobs.json': '{ broken',
    })
    mkdirSync(join(folder, 'workspace'))
    symlinkSync(join(folder, 'real.json'), join(folder, 'openclaw.json'))
    symlinkSync(join(outside, 'SOUL.md'), join(folder, 'workspace/SOUL.md'))
    chmodSync(join(folder, 'cron'), 0o700)
    const setup = await read('openclaw', folder)
    expect(setup.config.channels).toBeDefined()
    expect(shown(setup)).not.toContain('stolen')
    expect(setup.notTaken).toContainEqual(
      expect.stringMatching(/SOUL\.md is a link out of the folder, and is not followed\.$/),
    )
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/jobs\.json is no JSON .*mend the file/))
  })

  it.each([
    [
      'openclaw',
      'state/openclaw.sqlite',
      'openclaw.json',
      `{ channels: { telegram: { botToken: '${TOKENS.telegram}' } } }`,
    ],
    ['nanoclaw', 'data/v2.db', '.env', `TELEGRAM_BOT_TOKEN=${TOKENS.telegram}\n`],
  ] as const)(
    'a database of %s that is a pipe, or has a link beside it, is said and not read',
    async (kind, name, settings, text) => {
      const piped = peerFolder({ [settings]: text })
      mkdirSync(dirname(join(piped, name)), { recursive: true })
      execFileSync('mkfifo', [join(piped, name)])
      expect((await read(kind, piped)).notTaken).toContainEqual(expect.stringMatching(/ is no plain file\.$/))
      const linked = peerFolder({ [settings]: text })
      database(linked, name, 'CREATE TABLE cron_jobs (id TEXT)')
      symlinkSync('/etc/passwd', join(linked, `${name}-wal`))
      expect((await read(kind, linked)).notTaken).toContainEqual(
        expect.stringMatching(/ is a link, and is not followed\.$/),
      )
      expect(readdirSync(tmpdir()).filter((one) => one.startsWith(`parley-peer-${process.pid}-`))).toEqual([])
    },
  )

  it('a folder that is not there is named with the remedy, and the usual ones are found', async () => {
    await expect(read('openclaw', '/nowhere/.openclaw')).rejects.toThrow(
      'The folder /nowhere/.openclaw is not there; name the folder of the program.',
    )
    const home = peerFolder({ '.clawdbot/clawdbot.json': '{}' })
    expect(await findPeer('openclaw', home)).toBe(join(home, '.clawdbot'))
    expect(await findPeer('hermes', home)).toBeUndefined()
  })
})
