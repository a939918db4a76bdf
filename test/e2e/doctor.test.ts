import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { textReply } from '../../src/rehearsal/openai/script.ts'
import { startSlackServer } from '../../src/rehearsal/slack/server.ts'
import { startTelegramServer, type TelegramServerOptions } from '../../src/rehearsal/telegram/server.ts'
import { startHttpToolServer } from '../fakes/http-tool-server.ts'
import { rehearse } from '../rehearsal/openai/rehearsal.ts'
import { expectFailure, found, patient, troubles } from './doctor-house.ts'

const TOKEN = '7000001:AAErehearsal-rehearsal-rehearsal-re'
/** In the form that the platform's tokens have. */
const DISCORD_TOKEN = ['MTIzNDU2Nzg5MDEyMzQ1Njc4', 'Greh', 'rehearsal-rehearsal-rehearsal'].join('.')
const READS_ALL = { token: TOKEN, canReadAllGroupMessages: true }
const AGENT = { id: 'main', model: 'home/small', tools: ['time'] }

async function telegramAt(options: TelegramServerOptions = {}) {
  const telegram = await startTelegramServer({ bots: [READS_ALL], ...options })
  onTestFinished(() => telegram.close())
  telegram.world.addUser({ id: 111, firstName: 'Ada' })
  return telegram
}

const account = (apiRoot: string, more: object = {}) => ({
  channels: { telegram: { accounts: { default: { token: TOKEN, apiRoot, ...more } } } },
  routing: { access: { groups: [{ match: { channel: 'telegram' }, who: 'public' }] } },
  people: { ada: { role: 'owner', ids: ['telegram:111'] } },
})

/** Telegram and a model at home, in order. */
async function well(more: object = {}) {
  const [telegram, model] = await Promise.all([
    telegramAt(),
    rehearse({ apiKey: 'sk-home', script: () => textReply('Yes.') }),
  ])
  const models = { home: { kind: 'openai', baseUrl: model.baseUrl, apiKey: 'sk-home' } }
  return { telegram, model, config: { ...account(telegram.apiRoot), models, agents: [AGENT], ...more } }
}

async function discordAt(options: Parameters<typeof startDiscordServer>[0] = {}) {
  const discord = await startDiscordServer({ token: DISCORD_TOKEN, ...options })
  onTestFinished(() => discord.close())
  return {
    discord,
    channels: { discord: { accounts: { default: { token: discord.token, apiRoot: discord.apiRoot } } } },
  }
}

async function slackAt(app: object = {}) {
  const slack = await startSlackServer({ app })
  onTestFinished(() => slack.close())
  const { botToken, appToken } = slack.app
  return { slack, channels: { slack: { accounts: { default: { botToken, appToken, apiRoot: slack.apiRoot } } } } }
}

it('a set-up in order, with three platforms and a daemon that runs, has nothing to say within ten seconds', async () => {
  const [{ config, model }, discord, slack, tools] = await Promise.all([
    well(),
    discordAt(),
    slackAt(),
    startHttpToolServer(() => undefined),
  ])
  const one = patient({
    ...config,
    channels: { ...config.channels, ...discord.channels, ...slack.channels },
    agents: [{ ...AGENT, tools: ['time', 'mcp.sums'] }],
    tools: { mcp: { sums: { url: tools.url } } },
    audio: {
      baseUrl: model.baseUrl,
      apiKey: 'sk-home',
      transcribe: { model: 'whisper-1' },
      speak: { model: 'tts-1', voice: 'alloy' },
    },
  })
  await one.start()
  const timed = async <Done>(work: () => Promise<Done>) => {
    const from = performance.now()
    return { done: await work(), seconds: (performance.now() - from) / 1_000 }
  }
  const status = await timed(() => one.run('status'))
  const { done: report, seconds } = await timed(() => one.report())

  expect(troubles(report)).toEqual([])
  expect(report.code).toBe(0)
  for (const [part, check] of [
    ['telegram', 'token'],
    ['telegram', 'daemon'],
    ['discord', 'token'],
    ['slack', 'scopes'],
    ['model home/small', 'answer'],
    ['tool server sums', 'tools'],
    ['audio', 'speak'],
    ['audio', 'transcribe'],
    ['database', 'integrity'],
    ['clock', 'time'],
    ['daemon', 'running'],
  ] as const)
    expect(found(report, part, check)).toMatchObject({ state: 'ok' })
  // On a busy machine any command takes its time.
  expect(seconds).toBeLessThan(Math.max(10, 8 * status.seconds))
})

it('the report for people fits 80 columns, groups by part, and has each remedy below its line', async () => {
  const { config } = await well()
  const { code, out, err } = await patient({ ...config, agents: [{ ...AGENT, model: 'home2/x' }] }).doctor('model')

  expect(code).toBe(78)
  expect(out).toContain('configuration')
  expect(err).toBe('')
  const plain = await patient({
    ...config,
    models: { home: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' } },
  }).doctor('model')
  expect(plain.code).toBe(1)
  expect(plain.out).toMatch(
    /^model home\/small\n {2}✗ .*\n( {4}.*\n)* {6}Check models\.home\.baseUrl and that its server runs\.\n\n1 failed, 0 warnings, 0 ok\.\n$/,
  )
  for (const line of plain.out.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
})

it('parts limit what is examined, --offline asks nobody, and a part that there is not is wrong usage', async () => {
  const { config, telegram, model } = await well()
  const one = patient(config)
  const offline = await one.report('--offline')
  expect(offline.findings.map(({ part }) => part)).not.toContain('telegram')
  expect([telegram.ledger.all(({ kind }) => kind === 'call'), model.ledger.requests()]).toEqual([[], []])
  const disk = await one.report('disk')
  expect(new Set(disk.findings.map(({ part }) => part))).toEqual(new Set(['disk']))
  expect(await one.doctor('moon')).toMatchObject({ code: 2, err: expect.stringContaining('nothing called moon') })
})

describe('platforms', () => {
  it('a wrong token', async () => {
    const telegram = await telegramAt({
      bots: [{ ...READS_ALL, token: '7000002:other-other-other-other-other-other' }],
    })
    const report = await patient(account(telegram.apiRoot)).report('telegram')
    await expectFailure(report, ['telegram', 'token'], { says: /refuses the token/, remedy: /\/token to @BotFather/ })
    expect(JSON.stringify(report)).not.toContain(TOKEN)
  })

  it('privacy mode', async () => {
    const telegram = await telegramAt({ bots: [{ token: TOKEN }] })
    const report = await patient(account(telegram.apiRoot)).report('telegram')
    expect(report.code).toBe(0)
    await expectFailure(report, ['telegram', 'privacy-mode'], {
      ...{ state: 'warning', says: /only commands, mentions and replies/, remedy: /\/setprivacy to @BotFather/ },
    })
  })

  it('intents that are off', async () => {
    const { channels } = await discordAt({ messageContent: false })
    const report = await patient({ channels }).report('discord')
    await expectFailure(report, ['discord', 'intents'], { says: /Message Content/, remedy: /switch on/ })
  })

  it('scopes that are missing', async () => {
    const { channels } = await slackAt({ scopes: ['app_mentions:read', 'chat:write', 'users:read'] })
    const report = await patient({ channels }).report('slack')
    const scopes = report.findings.filter(({ check }) => check === 'scopes')
    expect(scopes.some(({ says }) => says.includes('channels:history'))).toBe(true)
    for (const { remedy } of scopes) expect(remedy).toMatch(/reinstall/i)
  })

  it('two pollers', async () => {
    const { config, telegram } = await well()
    const other = patient(config)
    await other.start()
    await telegram.ledger.listening()
    const report = await patient(config).report('telegram')
    await expectFailure(report, ['telegram', 'second-poller'], { says: /another program polls/, remedy: /stop it/ })
  })

  it('a webhook that was left', async () => {
    const telegram = await telegramAt()
    const set = await fetch(
      `${telegram.apiRoot}/bot${TOKEN}/setWebhook?url=${encodeURIComponent('https://bot.example.org/x')}`,
    )
    expect(set.status).toBe(200)
    const report = await patient(account(telegram.apiRoot)).report('telegram')
    await expectFailure(report, ['telegram', 'webhook'], { says: /a webhook is set/, remedy: /parley start/ })
  })

  it('a group in which it may not write', async () => {
    const { config, telegram } = await well()
    const { world, ledger } = telegram
    const { id: group } = world.addChat({ type: 'supergroup', title: 'Family', members: [111] })
    const one = patient(config)
    const child = await one.start()
    world.say({ from: 111, chat: group, text: '@parley_bot hello' })
    await ledger.nextFromBot('sent')
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    await ended
    world.setMember({ chat: group, user: 7_000_001, status: 'left' })
    const report = await one.report('telegram')
    const about = report.findings.filter(({ says }) => says.includes('Family'))
    expect(about).toEqual([expect.objectContaining({ state: 'failed', remedy: expect.stringMatching(/add/i) })])
    expect(report.code).toBe(1)
  })
})

describe('models, tools and audio', () => {
  it('a dead model', async () => {
    const { config, model } = await well()
    await model.close()
    const report = await patient(config).report('model')
    await expectFailure(report, ['model home/small', 'model_failed'], {
      ...{ says: /refused the connection/, remedy: /Check models\.home\.baseUrl and that its server runs/ },
    })
  })

  it('a missing key', async () => {
    const { config, model } = await well()
    const models = { home: { kind: 'openai', baseUrl: model.baseUrl } }
    await expectFailure(await patient({ ...config, models }).report('model'), ['model home/small', 'model_auth'], {
      ...{ says: /401/, remedy: /Set a valid key in models\.home\.apiKey/ },
    })
    const { OPENAI_API_KEY: _, ...rest } = {
      OPENAI_API_KEY: '',
      ...config,
      agents: [{ ...AGENT, model: 'openai/gpt-5' }],
    }
    const unset = await patient({
      ...rest,
      models: { openai: { kind: 'openai', apiKey: '\u0024{env:NOT_SET}' } },
    }).report()
    expect(unset.findings).toContainEqual(
      expect.objectContaining({ part: 'configuration', state: 'failed', says: expect.stringContaining('NOT_SET') }),
    )
    expect(unset.code).toBe(1)
  })

  it('variables that a daemon has and this shell has not are no fault', async () => {
    const { config } = await well()
    const one = patient(config)
    await one.start()
    for (const name of Object.keys(one.env)) if (name.startsWith('SECRET_')) delete one.env[name]
    const report = await one.report()
    expect(troubles(report)).toEqual([])
    expect(report.code).toBe(0)
    expect(found(report, 'telegram', 'daemon')).toMatchObject({ state: 'ok' })
    expect(found(report, 'telegram', 'secret')).toMatchObject({
      state: 'skipped',
      says: expect.stringContaining('in this shell'),
    })
    expect(found(report, 'model home/small', 'answer')).toMatchObject({ state: 'skipped' })
  })

  it('a variable that the daemon has not either is a fault, in its words and in those of this shell', async () => {
    const { config } = await well()
    const one = patient(config)
    const [name = ''] = Object.keys(one.env).filter((each) => each.startsWith('SECRET_'))
    const value = one.env[name]
    delete one.env[name]
    await one.start()
    const file = expect.stringContaining('/parley.env, then start the daemon again')
    for (const env of [{}, { [name]: value }]) {
      Object.assign(one.env, env)
      const report = await one.report('telegram')
      expect(found(report, 'telegram', 'daemon')).toMatchObject({ state: 'failed', remedy: file })
      expect(report.code).toBe(1)
    }
  })

  it('a wrong base address', async () => {
    const { config, model } = await well()
    const models = { home: { kind: 'openai', baseUrl: model.baseUrl.replace(/\/v1$/, ''), apiKey: 'sk-home' } }
    await expectFailure(
      await patient({ ...config, models }).report('model'),
      ['model home/small', 'model_unconfigured'],
      {
        ...{ says: /which is not the Chat Completions API/, remedy: /ends in \/v1/ },
      },
    )
  })

  it('a tool server that is dead, as an address and as a program', async () => {
    const { config } = await well()
    const mcp = { gone: { url: 'http://127.0.0.1:1/mcp' }, broken: { command: 'false' } }
    const agents = [{ ...AGENT, tools: ['mcp.gone', 'mcp.broken'] }]
    const report = await patient({ ...config, agents, tools: { mcp } }).report('tool')
    for (const name of ['gone', 'broken'])
      await expectFailure(report, [`tool server ${name}`, 'answer'], {
        says: /\w/,
        remedy: new RegExp(`parley mcp test ${name}`),
      })
  })

  it('an audio endpoint that is dead', async () => {
    const { config } = await well()
    const audio = {
      baseUrl: 'http://127.0.0.1:1/v1',
      transcribe: { model: 'whisper-1' },
      speak: { model: 'tts-1', voice: 'alloy' },
    }
    const report = await patient({ ...config, audio }).report('audio')
    for (const check of ['transcribe', 'speak'])
      await expectFailure(report, ['audio', check], { says: /127\.0\.0\.1:1|reached/, remedy: /Check audio\.baseUrl/ })
  })

  it('a wrong clock', async () => {
    const { config } = await well()
    const late = createServer((_request, response) => {
      response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString())
      response.writeHead(404).end()
    }).listen(0, '127.0.0.1')
    await once(late, 'listening')
    onTestFinished(() => void late.close())
    const { port } = late.address() as AddressInfo
    const models = { home: { kind: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` } }
    const report = await patient({ ...config, models }).report('model', 'clock')
    await expectFailure(report, ['clock', 'time'], {
      says: /the clock is 3\d{3} s ahead/,
      remedy: /timedatectl set-ntp true/,
    })
  })
})
