import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { startSlackServer } from '../../src/rehearsal/slack/server.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { COMPANY, type CompanyProxy, startCompanyProxy } from '../fakes/company-proxy.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const TOKEN = '7000001:rehearsal'
const PASSWORD = 'pass%40word'

/** The platforms and a model at their own addresses, which are reached by the proxy alone. */
async function startNet() {
  const telegram = await startTelegramServer({ bots: [{ token: TOKEN }] })
  const [discord, slack, openai] = await Promise.all([startDiscordServer(), startSlackServer(), startOpenAiServer()])
  const hosts = {
    'api.telegram.org': telegram.apiRoot,
    'discord.com': discord.apiRoot,
    'slack.com': slack.apiRoot,
    'api.openai.com': openai.baseUrl,
  }
  const proxy = await startCompanyProxy({ hosts, login: 'ada:pass@word' })
  onTestFinished(async () => {
    proxy.close()
    await Promise.all([telegram.close(), discord.close(), slack.close(), openai.close()])
  })
  telegram.world.addUser({ id: 111, firstName: 'Ada' })
  discord.world.addUser({ id: '222', username: 'ada', displayName: 'Ada' })
  slack.world.addUser({ id: 'U0ADA7', name: 'ada', displayName: 'Ada' })
  const config = `
people: { ada: { role: owner, ids: ["telegram:111", "discord:222", "slack:${slack.app.teamId}/U0ADA7"] } }
agents: [{ id: main, model: openai/rehearsal, tools: [web] }]
models: { openai: { apiKey: rehearsal-key } }
channels:
  telegram: { accounts: { default: { token: "${TOKEN}" } } }
  discord: { accounts: { default: { token: "${discord.token}" } } }
  slack: { accounts: { default: { botToken: "${slack.app.botToken}", appToken: "${slack.app.appToken}" } } }
`
  return { telegram, discord, slack, openai, proxy, config }
}

interface Run {
  readonly child: ChildProcess
  /** Resolves once it has printed this. */
  printed(text: string): Promise<string>
  /** Resolves with all that it has printed, once it has ended. */
  ended(): Promise<string>
}

function run(config: string, env: Readonly<Record<string, string>>, ...args: readonly string[]): Run {
  const folder = mkdtempSync(join(tmpdir(), 'parley-proxied-'))
  writeFileSync(join(folder, 'parley.yaml'), config)
  writeFileSync(join(folder, 'ca.pem'), COMPANY.cert)
  const child = spawn(process.execPath, [MAIN, '-c', join(folder, 'parley.yaml'), ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: folder, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'), ...env },
    cwd: folder,
  })
  onTestFinished(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'close')
    rmSync(folder, { recursive: true, force: true })
  })
  let all = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (all += piece))
  return {
    child,
    async printed(text) {
      while (!all.includes(text)) {
        if (child.exitCode !== null) throw new Error(`it ended: ${all}`)
        await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), once(child, 'close')])
      }
      return all
    },
    async ended() {
      if (child.exitCode === null) await once(child, 'close')
      return all
    },
  }
}

const through = ({ port }: CompanyProxy): Readonly<Record<string, string>> => ({
  HTTPS_PROXY: `http://ada:${PASSWORD}@127.0.0.1:${port}`,
})

describe("a company's proxy with a login and a certificate of its own", () => {
  it('is asked for everything: the calls and sockets of the platforms, and the model', async () => {
    const { telegram, discord, slack, openai, proxy, config } = await startNet()
    const daemon = run(config, through(proxy), 'start')
    const started = await daemon.printed('Stop with Ctrl-C')
    for (const channel of ['telegram', 'discord', 'slack']) expect(started).toMatch(new RegExp(`${channel}: up`))
    telegram.world.say({ from: 111, text: 'one' })
    expect((await telegram.ledger.nextFromBot('sent')).text).toBe('echo one')
    discord.world.say({ from: '222', text: 'two' })
    expect((await discord.ledger.nextFromBot('sent')).text).toBe('echo two')
    slack.world.say({ from: 'U0ADA7', text: 'three' })
    expect((await slack.ledger.nextFromBot('sent')).text).toBe('echo three')
    expect(openai.ledger.entries.length).toBeGreaterThanOrEqual(3)
    const hosts = new Set(proxy.targets.map((target) => target.replace(/^p\d+/, '*')))
    expect([...hosts].sort()).toEqual([
      '*.sockets.test:443',
      'api.openai.com:443',
      'api.telegram.org:443',
      'discord.com:443',
      'slack.com:443',
    ])
    daemon.child.kill('SIGTERM')
    expect(await daemon.ended()).not.toContain(PASSWORD)
    expect(daemon.child.exitCode).toBe(0)
  })

  it('says in words why it lets nobody through, and what to do', async () => {
    const { proxy, config } = await startNet()
    const daemon = run(config, { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }, 'start')
    const started = await daemon.printed('Stop with Ctrl-C')
    const refusals = started.match(
      /the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) answered 407 when it was asked for [a-z.]+:443: it wants a name and a password/g,
    )
    expect(new Set(refusals).size).toBe(3)
  })

  it('whose certificate is not trusted is said so, with the variable that names it', async () => {
    const { proxy, config } = await startNet()
    const daemon = run(config, { ...through(proxy), NODE_EXTRA_CA_CERTS: '' }, 'start')
    expect(await daemon.printed('Stop with Ctrl-C')).toMatch(
      /the certificate there is signed by nobody who is trusted here; if it is your own, set NODE_EXTRA_CA_CERTS/,
    )
  })
})
