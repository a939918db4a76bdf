import { describe, expect, it } from 'vitest'
import { checked, database, IDS, peerFolder, read, shown, TOKENS } from './peer-rig.ts'

const { ada, bob, eve, group } = IDS
const ENV = `ASSISTANT_NAME="Andy"\nTZ=Europe/Berlin\nTELEGRAM_BOT_TOKEN=${TOKENS.telegram}\nANTHROPIC_API_KEY=${TOKENS.anthropic}\n`
const CHANNEL = '418300271993550021'

const OLD = `
CREATE TABLE registered_groups (jid TEXT PRIMARY KEY, name TEXT, folder TEXT, trigger_pattern TEXT, requires_trigger INTEGER);
INSERT INTO registered_groups VALUES
  ('tg:${group}', 'Family', 'family', '@Andy', 1), ('tg:${ada}', 'Main', 'main', '@Andy', 0),
  ('120363@g.us', 'School', 'school', '@Andy', 1), ('dc:${CHANNEL}', 'Help', 'help', '@Andy', 1);
CREATE TABLE scheduled_tasks (id TEXT, group_folder TEXT, chat_jid TEXT, prompt TEXT, script TEXT, schedule_type TEXT, schedule_value TEXT, status TEXT);
INSERT INTO scheduled_tasks VALUES
  ('brief', 'main', 'tg:${ada}', 'News?', NULL, 'cron', '0 8 * * *', 'active'),
  ('often', 'family', 'tg:${group}', 'Look.', NULL, 'interval', '3600000', 'active'),
  ('odd', 'family', 'tg:${group}', 'Look.', NULL, 'interval', '11m', 'active'),
  ('once', 'main', 'tg:${ada}', 'x', NULL, 'once', '2026-12-01T00:00:00Z', 'active'),
  ('done', 'main', 'tg:${ada}', 'x', NULL, 'cron', '0 8 * * *', 'completed'),
  ('checked', 'main', 'tg:${ada}', 'x', 'exit 1', 'cron', '0 8 * * *', 'active');
`

const NEW = `
CREATE TABLE agent_groups (id TEXT, name TEXT, folder TEXT);
INSERT INTO agent_groups VALUES ('ag1', 'Andy', 'main'), ('ag2', 'Other', 'other');
CREATE TABLE messaging_groups (id TEXT, channel_type TEXT, platform_id TEXT, name TEXT, is_group INTEGER, unknown_sender_policy TEXT);
INSERT INTO messaging_groups VALUES
  ('m1', 'telegram', 'telegram:${group}', 'Family', 1, 'strict'), ('m2', 'telegram', 'telegram:${ada}', 'Ada', 0, 'strict'),
  ('m3', 'discord', 'discord:${CHANNEL.slice(0, -1)}9:${CHANNEL}', 'Help', 1, 'public');
CREATE TABLE messaging_group_agents (messaging_group_id TEXT, agent_group_id TEXT, engage_mode TEXT, engage_pattern TEXT, sender_scope TEXT);
INSERT INTO messaging_group_agents VALUES ('m1', 'ag1', 'pattern', '.', 'known'), ('m3', 'ag1', 'mention', NULL, 'all');
CREATE TABLE user_roles (user_id TEXT, role TEXT);
INSERT INTO user_roles VALUES ('telegram:${ada}', 'owner'), ('telegram:${bob}', 'admin');
CREATE TABLE agent_group_members (user_id TEXT, agent_group_id TEXT);
INSERT INTO agent_group_members VALUES ('telegram:${eve}', 'ag1'), ('phone:+4912345', 'ag1');
`

const TASKS = `
CREATE TABLE messages_in (id TEXT, kind TEXT, status TEXT, recurrence TEXT, series_id TEXT, platform_id TEXT, content TEXT);
INSERT INTO messages_in VALUES
  ('t1', 'task', 'completed', '0 9 * * 1', 't1', 'telegram:${group}', '{"prompt":"Old."}'),
  ('t2', 'task', 'pending', '0 9 * * 1', 't1', 'telegram:${group}', '{"prompt":"Plan the week.","script":null}'),
  ('c1', 'chat', 'pending', NULL, NULL, 'telegram:${group}', 'private words'),
  ('t3', 'task', 'pending', NULL, 't3', 'telegram:${group}', '{"prompt":"Once."}'),
  ('t4', 'task', 'pending', '0 9 * * *', 't4', 'telegram:${group}', 'damaged');
`

describe('reading the checkout of NanoClaw', () => {
  it('one of version 2 becomes an account, people by their roles, groups and tasks, and passes the check', async () => {
    const folder = peerFolder({
      '.env': `${ENV}DISCORD_BOT_TOKEN=${TOKENS.discord}\n`,
      'groups/main/CLAUDE.local.md': 'Notes.',
    })
    database(folder, 'data/v2.db', NEW)
    database(folder, 'data/v2-sessions/ag1/s1/inbound.db', TASKS)
    const setup = await read('nanoclaw', folder)
    expect(setup.config).toEqual({
      people: {
        [`telegram-${ada}`]: { role: 'owner', ids: [`telegram:${ada}`] },
        [`telegram-${eve}`]: { ids: [`telegram:${eve}`] },
        [`telegram-${bob}`]: { ids: [`telegram:${bob}`] },
      },
      agents: [{ id: 'main' }],
      channels: {
        telegram: { accounts: { default: { token: `\${file:secrets/telegram-default-token}` } } },
        discord: { accounts: { default: { token: `\${file:secrets/discord-default-token}` } } },
      },
      routing: {
        access: { direct: 'allowlist', groups: [{ match: { channel: 'telegram', chat: group }, trigger: 'always' }] },
        wakeWords: ['Andy'],
      },
      schedules: [
        {
          ...{ id: 't1', cron: '0 9 * * 1', timezone: 'Europe/Berlin', prompt: 'Plan the week.' },
          deliverTo: `telegram:group:${group}`,
        },
      ],
    })
    await checked(setup)
    expect(shown(setup)).not.toMatch(/canary|private words/)
    expect(setup.notTaken).toEqual([
      expect.stringMatching(/^user_roles: .*role: owner/),
      expect.stringMatching(/^agent_groups: 2 agents, of which one is made/),
      expect.stringMatching(/^Schedule "t3": it runs once/),
      expect.stringMatching(/^Schedule "t4": its times or its text/),
      expect.stringMatching(/^groups\/main\/CLAUDE\.local\.md: .*agents\[\]\.prompt/),
      expect.stringMatching(/^Conversations: /),
      expect.stringMatching(/^Discord Help: everybody there is answered.*who: public/),
    ])
  })

  it('one of version 1 has its chats and tasks in another database; without a list everybody was answered', async () => {
    const folder = peerFolder({ '.env': `${ENV}ANTHROPIC_MODEL=claude-sonnet-4-5\n` })
    database(folder, 'store/messages.db', OLD)
    const setup = await read('nanoclaw', folder)
    expect(setup.config).toMatchObject({
      agents: [{ id: 'main', model: 'anthropic/claude-sonnet-4-5' }],
      models: { anthropic: { apiKey: `\${file:secrets/anthropic-api-key}` } },
      schedules: [
        { id: 'brief', cron: '0 8 * * *', timezone: 'Europe/Berlin', deliverTo: `telegram:direct:${ada}` },
        { id: 'often', cron: '0 * * * *', deliverTo: `telegram:group:${group}` },
      ],
    })
    expect(setup.config.people).toBeUndefined()
    expect((await checked(setup)).warnings).toEqual([])
    for (const line of [
      /^Main: a direct chat; .*\/admit/,
      /^School: Parley has no such platform/,
      /^Discord Help: its platform has no token/,
      /^Telegram Family: everybody there is answered/,
      ...['odd', 'once', 'done', 'checked'].map((id) => new RegExp(`^Schedule "${id}": `)),
    ])
      expect(setup.notTaken).toContainEqual(expect.stringMatching(line))
  })

  it('one that was moved half has both databases: the newer counts, and the older is said', async () => {
    const folder = peerFolder({ '.env': ENV })
    database(folder, 'store/messages.db', OLD)
    database(folder, 'data/v2.db', NEW)
    const setup = await read('nanoclaw', folder)
    expect(setup.config).toMatchObject({ people: { [`telegram-${ada}`]: { role: 'owner' } } })
    expect(setup.config.schedules).toBeUndefined()
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/^store\/messages\.db: of the version before/))
  })

  it('Slack without an app token is said with what to make, and a damaged database costs only what is in it', async () => {
    const folder = peerFolder({
      '.env': `${ENV}SLACK_BOT_TOKEN=${TOKENS.slackBot}`,
      'data/v2.db': 'no database at all',
    })
    const setup = await read('nanoclaw', folder)
    await checked(setup)
    expect(setup.config.channels).toEqual({
      telegram: { accounts: { default: { token: `\${file:secrets/telegram-default-token}` } } },
    })
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/^Slack account default: .*xapp-/))
    expect(setup.notTaken).toContainEqual(expect.stringMatching(/data\/v2\.db cannot be read/))
  })

  it('a folder without anything to take is refused in a sentence', async () => {
    await expect(read('nanoclaw', peerFolder({ 'README.md': '' }))).rejects.toThrow(/The model: a login of Claude Code/)
  })
})
