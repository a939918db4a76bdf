import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { startSlackServer } from '../../src/rehearsal/slack/server.ts'
import { startTelegramServer, type TelegramServer } from '../../src/rehearsal/telegram/server.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const TOKEN = '7000001:rehearsal'

/** `parley` as a user runs it: the built program, a folder of its own, nothing else of our environment. */
class Home {
  readonly folder = mkdtempSync(join(tmpdir(), 'parley-home-'))
  readonly env = { PATH: process.env.PATH ?? '', HOME: this.folder, TELEGRAM_BOT_TOKEN: TOKEN }

  run(...args: readonly string[]): Run {
    return new Run(spawn(process.execPath, [MAIN, ...args], { env: this.env, cwd: this.folder }))
  }
}

class Run {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''

  constructor(child: ChildProcess) {
    this.child = child
    child.stdout?.on('data', (chunk) => {
      this.stdout += chunk
    })
    child.stderr?.on('data', (chunk) => {
      this.stderr += chunk
    })
  }

  async ended(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close')
    return this.child.exitCode
  }

  /** Resolves once it has printed this. */
  async printed(text: string): Promise<void> {
    while (!this.stdout.includes(text)) await once(this.child.stdout ?? this.child, 'data')
  }
}

/** Writes a configuration of nothing but one account. */
function writeAccount(home: Home, channel: string, account: Readonly<Record<string, string>>): void {
  const file = join(home.folder, 'parley.yaml')
  writeFileSync(file, `${JSON.stringify({ channels: { [channel]: { accounts: { default: account } } } })}\n`)
  Object.assign(home.env, { PARLEY_CONFIG: file, TELEGRAM_BOT_TOKEN: undefined })
}

async function rehearse(): Promise<{ home: Home; telegram: TelegramServer }> {
  const home = new Home()
  const telegram = await startTelegramServer({ bots: [{ token: TOKEN }] })
  const account = `{ token: "\${env:TELEGRAM_BOT_TOKEN}", apiRoot: "${telegram.apiRoot}" }`
  writeFileSync(join(home.folder, 'parley.yaml'), `channels: { telegram: { accounts: { default: ${account} } } }\n`)
  Object.assign(home.env, { PARLEY_CONFIG: join(home.folder, 'parley.yaml') })
  onTestFinished(async () => {
    await telegram.close()
    rmSync(home.folder, { recursive: true, force: true })
  })
  return { home, telegram }
}

function start(home: Home): Run {
  const run = home.run('start')
  onTestFinished(() => void run.child.kill('SIGKILL'))
  return run
}

describe('the first run', () => {
  it('prints the bot, what privacy mode hides, and the link that makes its user the owner; another shell asks it, with neither token nor file', async () => {
    const { home, telegram } = await rehearse()
    telegram.world.addUser({ id: 111, firstName: 'Ada' })
    const daemon = start(home)
    await daemon.printed('Stop with Ctrl-C')
    expect(daemon.stdout).toContain('telegram: up as @parley_bot')
    expect(daemon.stdout).toMatch(/privacy mode/i)
    const code = /https:\/\/t\.me\/parley_bot\?start=(\S+)/.exec(daemon.stdout)?.[1]
    telegram.world.say({ from: 111, text: `/start ${code}` })
    expect((await telegram.ledger.nextFromBot('sent')).text).toContain('my owner now')
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 111, text: 'hello' })
    expect((await telegram.ledger.nextFromBot('sent', { after: mark })).text).toContain('I have no language model yet')
    expect(daemon.stdout).toContain('model: none, so nobody is answered yet')
    expect(daemon.stdout).toMatch(/warning: .*no model key is set.*; set ANTHROPIC_API_KEY or OPENAI_API_KEY/)

    Object.assign(home.env, { PARLEY_CONFIG: undefined, TELEGRAM_BOT_TOKEN: undefined })
    const status = home.run('status')
    expect([await status.ended(), status.stderr]).toEqual([0, ''])
    expect(status.stdout).toContain('@parley_bot')
    const after = telegram.ledger.mark()
    telegram.world.say({ from: 111, text: '/status' })
    // The command that asks is none of those that wait.
    expect((await telegram.ledger.nextFromBot('sent', { after })).text).toContain('messages waiting: 0')
    daemon.child.kill('SIGTERM')
    expect(await daemon.ended()).toBe(0)
  })

  it('names the rule that answers everything in groups, at the start and in status, while privacy mode hides it', async () => {
    const { home } = await rehearse()
    const file = join(home.folder, 'parley.yaml')
    const rules =
      'routing: { access: { groups: [{ match: { channel: telegram }, who: allowlist, trigger: always }] } }\n'
    writeFileSync(file, `${readFileSync(file, 'utf8')}${rules}`)
    const daemon = start(home)
    await daemon.printed('Stop with Ctrl-C')
    expect(daemon.stdout).toMatch(/privacy mode is on.*\n.*routing\.access\.groups\[0\] says trigger: always/)
    const status = home.run('status')
    await status.ended()
    expect(status.stdout).toContain('routing.access.groups[0] says trigger: always')
  })

  it('F-A23: a second daemon on the same store ends with its own code; status, why and sessions answer from the first, and from its store when none runs', async () => {
    const { home, telegram } = await rehearse()
    telegram.world.addUser({ id: 111, firstName: 'Ada' })
    const from = performance.now()
    const daemon = start(home)
    await daemon.printed('Stop with Ctrl-C')
    await telegram.ledger.listening()
    const mark = telegram.ledger.mark()
    const began = performance.now()
    const second = home.run('start')
    expect(await second.ended()).toBe(75)
    // On a busy machine the first one took its time too.
    expect(performance.now() - began).toBeLessThan(Math.max(2_000, 4 * (began - from)))
    expect(telegram.ledger.all(({ kind }) => kind === 'poll', mark)).toEqual([])
    const said = telegram.world.say({ from: 111, text: 'hello?' })
    await telegram.ledger.nextFromBot('sent')

    const status = home.run('status')
    expect(await status.ended()).toBe(0)
    expect(status.stdout).toContain('@parley_bot')
    const why = home.run('why', String(said.message_id), '--json')
    expect(await why.ended()).toBe(0)
    expect(JSON.parse(why.stdout)).toMatchObject([{ decision: 'refuse', reason: 'no_owner_yet' }])

    daemon.child.kill('SIGTERM')
    await daemon.ended()
    const sessions = home.run('sessions', 'list')
    expect(await sessions.ended()).toBe(0)
    expect(sessions.stderr).toContain('No daemon is running')

    const file = join(home.folder, 'parley.yaml')
    writeFileSync(file, `${readFileSync(file, 'utf8')}people: { ada: { role: owner, ids: [telegram:111] } }\n`)
    const stored = home.run('status')
    expect(await stored.ended()).toBe(1)
    expect(stored.stdout).toMatch(/not running[\s\S]*none up while no daemon runs[\s\S]*owner +known/)
  })

  it('nothing configured: prints the choices, no stack, code 78', async () => {
    const { home } = await rehearse()
    Object.assign(home.env, { PARLEY_CONFIG: undefined, TELEGRAM_BOT_TOKEN: undefined })
    const run = home.run('start')
    expect(await run.ended()).toBe(78)
    expect(run.stderr).toContain('@BotFather')
    expect(run.stderr).toContain('npm run demo')
    expect(run.stderr).toContain('parley init')
    expect(run.stderr).not.toMatch(/^\s+at /m)
  })

  it('a mistake in the configuration: the file, the line, the path and the remedy, code 78', async () => {
    const { home } = await rehearse()
    writeFileSync(join(home.folder, 'parley.yaml'), 'chanels: {}\n')
    const run = home.run('start')
    expect(await run.ended()).toBe(78)
    expect(run.stderr).toMatch(/parley\.yaml:1: unknown key `chanels`.*did you mean `channels`\?/)
  })

  it('a wrong token: the daemon runs, the channel is down with a clear line, and no token is printed', async () => {
    const { home } = await rehearse()
    Object.assign(home.env, { TELEGRAM_BOT_TOKEN: '7000001:wrong-secret-token' })
    const daemon = start(home)
    await daemon.printed('Stop with Ctrl-C')
    expect(daemon.stdout).toMatch(/telegram: down: .*token/)
    const status = home.run('status')
    expect(await status.ended()).toBe(3)
    expect(status.stdout).toMatch(/down/)
    expect(daemon.stdout + daemon.stderr + status.stdout).not.toContain('wrong-secret-token')
  })
})

/** The servers of the platforms whose addresses open no chat with a bot, each the only one of a daemon. */
const TYPED = {
  async discord() {
    const server = await startDiscordServer()
    server.world.addUser({ id: '222', username: 'ada', displayName: 'Ada' })
    return {
      server,
      account: { token: server.token, apiRoot: server.apiRoot },
      async answer(text: string) {
        const after = server.ledger.mark()
        server.world.say({ from: '222', text })
        return server.ledger.next((one) => one.kind === 'message' && one.byBot, { after })
      },
      id: /^discord:222$/,
    }
  },
  async slack() {
    const server = await startSlackServer()
    server.world.addUser({ id: 'U333', name: 'ada', displayName: 'Ada' })
    const { botToken, appToken } = server.app
    return {
      server,
      account: { botToken, appToken, apiRoot: server.apiRoot },
      async answer(text: string) {
        const after = server.ledger.mark()
        server.world.say({ from: 'U333', text })
        return server.ledger.next((one) => one.kind === 'message' && one.byBot, { after })
      },
      id: /^slack:[^/]+\/u333$/,
    }
  },
}

describe.each(['discord', 'slack'] as const)('the first run with %s alone', (channel) => {
  it('prints the code that makes its user the owner, as the bot says; status, people list and config explain follow', async () => {
    const platform = await TYPED[channel]()
    const { server, account, id } = platform
    const home = new Home()
    onTestFinished(async () => {
      await server.close()
      rmSync(home.folder, { recursive: true, force: true })
    })
    writeAccount(home, channel, account)
    const read = async (...args: readonly string[]): Promise<string> => {
      const run = home.run(...args)
      await run.ended()
      return run.stdout
    }
    const answer = async (text: string): Promise<string> => {
      const entry = await platform.answer(text)
      return 'text' in entry ? entry.text : ''
    }
    expect(await read('config', 'explain')).toContain('people: no owner yet')
    const daemon = start(home)
    await daemon.printed('Stop with Ctrl-C')
    const [, username = '', code = ''] =
      new RegExp(`owner: nobody yet; send @(\\S+) \\(${channel}\\) in a direct chat: !claim (\\S+)\n`).exec(
        daemon.stdout,
      ) ?? []
    const way = `send @${username} (${channel}) in a direct chat: !claim ${code}\n`
    expect(code).toMatch(/^[a-z0-9]{5}-[a-z0-9]{5}$/)
    expect(await read('status')).toContain(way)
    expect(await read('people', 'list')).toBe(`Nobody is known yet.\nowner: nobody yet; ${way}`)

    const told = await answer('hello')
    expect(told).toMatch(/send me `+!claim (<|&lt;)code(>|&gt;)`+ here/)
    expect(told).not.toContain(code)
    expect(await answer('!whoami')).toContain('your role is guest')
    expect(await answer(`!claim ${code}`)).toContain('You are my owner now')
    expect(daemon.stderr).not.toContain(code)
    expect(await read('status')).toMatch(/owner +known/)
    const claimed = JSON.parse(await read('people', 'list', '--json')).people
    expect(claimed).toEqual([{ name: 'owner', role: 'owner', ids: [{ id: expect.stringMatching(id), from: 'claim' }] }])
    daemon.child.kill('SIGTERM')
    await daemon.ended()
    expect(await read('people', 'list')).toMatch(/^owner +owner +\S+ +claim$/m)
    expect(await read('config', 'explain')).toMatch(/^people: \S+ is the owner, by the claim code$/m)
  })
})
