import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { type OpenAiServer, type OpenAiServerOptions, startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { startSlackServer } from '../../src/rehearsal/slack/server.ts'
import {
  startTelegramServer,
  type TelegramServer,
  type TelegramServerOptions,
} from '../../src/rehearsal/telegram/server.ts'
import { KEYS, Newcomer, type Typescript } from './init-terminal.ts'

const { enter, space, down } = KEYS
const DISCORD_TOKEN = 'MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.abcdefghijklmnopqrstuvwxyz0123'

async function ollama(options: OpenAiServerOptions = {}): Promise<OpenAiServer & { host: string }> {
  const models = ['qwen3', 'llama3.2', 'nomic-embed-text']
  const server = await startOpenAiServer({ dialect: 'ollama', keyless: true, models, ...options })
  onTestFinished(() => server.close())
  return { ...server, host: new URL(server.baseUrl).host }
}

async function telegramServer(options: TelegramServerOptions = {}): Promise<TelegramServer> {
  const telegram = await startTelegramServer(options)
  onTestFinished(() => telegram.close())
  telegram.world.addUser({ id: 111, firstName: 'Ada' })
  return telegram
}

/** A platform alone: its server, the keys that choose it, its secrets in the order of the questions, and a person. */
const PLATFORMS = {
  async telegram() {
    const server = await telegramServer()
    return {
      server,
      apiRoot: server.apiRoot,
      chosenBy: [space, enter],
      secrets: { 'telegram-token': server.token },
      warns: 'privacy mode is on',
      claim: (code: string) => `/start ${code}`,
      say: (text: string) => server.world.say({ from: 111, text }),
      owner: 'telegram:111',
      invite: 't.me/parley_bot?startgroup',
    }
  },
  async discord() {
    const server = await startDiscordServer({ token: DISCORD_TOKEN })
    onTestFinished(() => server.close())
    server.world.addUser({ id: '222', username: 'ada', displayName: 'Ada' })
    return {
      server,
      apiRoot: server.apiRoot,
      chosenBy: [down, space, enter],
      secrets: { 'discord-token': DISCORD_TOKEN },
      warns: 'Message Content Intent',
      claim: (code: string) => `!claim ${code}`,
      say: (text: string) => server.world.say({ from: '222', text }),
      owner: 'discord:222',
      invite: 'oauth2/authorize?client_id=',
    }
  },
  async slack() {
    const server = await startSlackServer()
    onTestFinished(() => server.close())
    server.world.addUser({ id: 'U333', name: 'ada', displayName: 'Ada' })
    return {
      server,
      apiRoot: server.apiRoot,
      chosenBy: [down, down, space, enter],
      secrets: { 'slack-app-token': server.app.appToken, 'slack-bot-token': server.app.botToken },
      warns: 'slack-manifest',
      claim: (code: string) => `!claim ${code}`,
      say: (text: string) => server.world.say({ from: 'U333', text }),
      owner: 'slack:t01/u333',
      invite: '/invite @parley',
    }
  },
}

function expectKept(newcomer: Newcomer, secrets: Readonly<Record<string, string>>, terminal?: Typescript): void {
  expect(newcomer.yaml().split('\n').length).toBeLessThanOrEqual(40)
  for (const [name, secret] of Object.entries(secrets)) {
    expect(readFileSync(join(newcomer.folder, name), 'utf8')).toBe(`${secret}\n`)
    expect(newcomer.files()[name]).toBe('600')
    expect(newcomer.yaml()).not.toContain(secret)
    expect(terminal?.raw ?? '').not.toContain(secret)
  }
  expect(newcomer.files()['parley.yaml']).toBe('600')
  const main = new URL('../../dist/main.js', import.meta.url).pathname
  const check = spawnSync(process.execPath, [main, 'config', 'check'], { env: newcomer.env, encoding: 'utf8' })
  expect([check.status, check.stderr, check.stdout.includes('warning')]).toEqual([0, '', false])
}

test.each([
  ['telegram', { questions: 4, keystrokes: 7 }],
  ['discord', { questions: 4, keystrokes: 8 }],
  ['slack', { questions: 5, keystrokes: 11 }],
] as const)(
  'init: a newcomer with %s alone comes from nothing to the answer of a model by %j',
  async (name, effort) => {
    const [platform, model] = await Promise.all([PLATFORMS[name](), ollama()])
    const newcomer = new Newcomer({ OLLAMA_HOST: model.host })
    const terminal = newcomer.types('--api-root', `${name}=${platform.apiRoot}`)
    await terminal.answers('Which platforms?', ...platform.chosenBy)
    await terminal.shows('Good to know before:')
    for (const secret of Object.values(platform.secrets)) await terminal.answers('it is not shown', secret, enter)
    await terminal.answers('Which model shall answer?', enter)
    expect(terminal.text).toContain(platform.warns)
    expect(terminal.text).toContain(platform.invite)
    await terminal.shows('It says: "')
    // One cannot write to a bot that one shares no server with.
    if (name === 'discord') await terminal.shows(platform.invite)
    await terminal.shows('Waiting for you there')
    const [, code = ''] = /(?:start=|!claim )(\S+)/.exec(terminal.text) ?? []
    platform.say(platform.claim(code))
    await terminal.shows(`${platform.owner} is the owner now`)
    await terminal.shows('Write something to it')
    platform.say('hello')
    await terminal.shows('was answered')
    await terminal.shows('In a group:')
    if (name !== 'discord') await terminal.shows(platform.invite)
    await terminal.answers('The bot runs now', down, enter)
    expect(await terminal.ended()).toBe(0)
    const isRoot = process.geteuid?.() === 0
    expect(terminal.text).toContain(`parley service install${isRoot ? ' --user' : ''}  runs`)
    expect(newcomer.yaml()).toContain('model: ollama/qwen3')
    expectKept(newcomer, platform.secrets, terminal)
    expect({ questions: terminal.questions, keystrokes: terminal.keystrokes }).toEqual(effort)
  },
)

test('init with two platforms: whoever owns it on one is shown the way to be its owner on the other, where a refusal is no answer', async () => {
  const [telegram, slack, model] = await Promise.all([PLATFORMS.telegram(), PLATFORMS.slack(), ollama()])
  const newcomer = new Newcomer({ OLLAMA_HOST: model.host })
  const roots = ['--api-root', `telegram=${telegram.apiRoot}`, '--api-root', `slack=${slack.apiRoot}`]
  const terminal = newcomer.types(...roots)
  await terminal.answers('Which platforms?', space, down, down, space, enter)
  await terminal.answers('◆  Telegram:', telegram.server.token, enter)
  await terminal.answers('◆  Slack: app-level', slack.server.app.appToken, enter)
  await terminal.answers('◆  Slack: bot', slack.server.app.botToken, enter)
  await terminal.answers('Which model shall answer?', enter)
  await terminal.shows('Waiting for you there')
  const [, code = ''] = /start=(\S+)/.exec(terminal.text) ?? []
  telegram.say(telegram.claim(code))
  await terminal.shows('telegram:111 is the owner now')
  await terminal.shows('Write /link to it on Telegram')
  telegram.say('/link')
  const { text } = await telegram.server.ledger.nextFromBot('sent', {
    where: (one) => one.text.includes('ten minutes'),
  })
  slack.say(/\b(\w{5}-\w{5})\b/.exec(text)?.[1] ?? '')
  await terminal.shows('slack:t01/u333 is the owner too now')
  await terminal.shows('Write something to it')
  slack.server.world.addUser({ id: 'U444', name: 'eve', displayName: 'Eve' })
  slack.server.world.say({ from: 'U444', text: 'let me in' })
  await telegram.server.ledger.nextFromBot('sent', { where: (one) => one.text.includes('/admit') })
  slack.say('hello')
  await terminal.shows('was answered')
  expect(terminal.text).not.toContain('Eve was answered')
  await terminal.answers('The bot runs now', down, enter)
  expect(await terminal.ended()).toBe(0)
})
