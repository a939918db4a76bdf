import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { SupportReport } from '../../src/core/support.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const TOKEN = '7000001:AAcanary-token'
const [ADA, BOB, GROUP] = [418300271, 529411382, -1001830027144]
/** Numbers in the places of names and texts. */
const [PHONE, PIN] = [4917055555501, 2718281828]

interface Ended {
  readonly code: number | null
  readonly out: string
}

/** A folder with a word in every place of its configuration that no report may have. */
async function household() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-canaryfolder-'))
  const telegram = await startTelegramServer({ bots: [{ token: TOKEN }] })
  const model = createServer((_asked, answer) => {
    answer.writeHead(401, { 'content-type': 'application/json' })
    answer.end(JSON.stringify({ error: { message: 'canary words of the model', type: 'authentication_error' } }))
  }).listen(0, '127.0.0.1')
  await once(model, 'listening')
  const { port } = model.address() as AddressInfo
  mkdirSync(join(folder, 'prompts'))
  writeFileSync(join(folder, 'prompts/canary.md'), 'canary instructions')
  const file = join(folder, 'parley.yaml')
  writeFileSync(
    file,
    `# canary comment
people: { canaryada: { role: owner, timezone: Europe/Berlin, ids: ["telegram:${ADA}"] }, canarybob: { ids: ["telegram:${BOB}"] } }
agents: [{ id: canaryagent, model: canaryserver/canary-model, prompt: prompts/canary.md, tools: [time, mcp.canarynotes] }]
models: { canaryserver: { kind: openai, baseUrl: "http://127.0.0.1:${port}/canary/v1", apiKey: sk-canary-key-0123456789 } }
channels: { telegram: { accounts: { canaryaccount: { token: "\${env:TELEGRAM_BOT_TOKEN}", apiRoot: "${telegram.apiRoot}" } } } }
routing:
  wakeWords: [canaryword]
  access: { direct: allowlist, groups: [{ match: { channel: telegram, chat: ${GROUP} }, who: allowlist, trigger: always }] }
schedules: [{ id: canaryschedule, cron: "0 8 * * 1-5", timezone: Europe/Berlin, prompt: canary prompt, deliverTo: "telegram@canaryaccount:direct:${ADA}" }]
tools: { mcp: { canarynotes: { command: canary-command, args: [canary-argument], env: { CANARY: canary-value } } } }
`,
  )
  const env = { PATH: process.env.PATH, HOME: folder, TELEGRAM_BOT_TOKEN: TOKEN, PARLEY_CONFIG: file }
  const run = (...args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [MAIN, ...args], { env, cwd: folder })
  onTestFinished(async () => {
    model.close()
    await telegram.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { folder, file, telegram, run }
}

async function ended(child: ChildProcess): Promise<Ended> {
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      out += chunk
    })
  const [code] = await once(child, 'close')
  return { code, out }
}

/** Writes a report and reads it; whatever was planted, and every id, must not be in it. */
async function report({ folder, run }: Awaited<ReturnType<typeof household>>, name: string): Promise<SupportReport> {
  const { code, out } = await ended(run('support', name))
  expect([code, out]).toEqual([0, expect.stringMatching(/^In it: [\s\S]*Not in it: [\s\S]*which you alone can read/)])
  const path = join(folder, name)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const text = readFileSync(path, 'utf8')
  for (const planted of [
    /canary/i,
    String(ADA),
    String(BOB),
    String(GROUP),
    '1830027144',
    String(PHONE),
    String(PIN),
    folder,
    TOKEN,
  ])
    expect(text).not.toMatch(planted)
  return JSON.parse(text)
}

it('a report has states, codes and settings, and nothing of what people wrote, are called or keep secret', async () => {
  const house = await household()
  const { telegram, run, file } = house
  telegram.world.addUser({ id: ADA, firstName: 'Canary Ada', username: 'canaryada' })
  telegram.world.addUser({ id: BOB, firstName: 'Canary Bob' })
  const daemon = run('start')
  onTestFinished(() => void daemon.kill('SIGKILL'))
  await telegram.ledger.listening()
  telegram.world.say({ from: ADA, text: 'canary secret of Ada' })
  await telegram.ledger.nextFromBot('sent')

  const running = await report(house, 'running.json')
  expect(running.daemon).toMatchObject({
    state: 'runs',
    channels: [{ channel: 'telegram', account: 'account 1', state: 'up' }],
  })
  expect(running.store).toMatchObject({
    state: 'read',
    rows: { inbox: expect.any(Number), events: expect.any(Number) },
    states: { turns: { failed: 1 }, outbox: { sent: expect.any(Number) } },
    failures: [{ what: 'turn', code: 'model_auth', trace: expect.stringMatching(/^tr_/) }],
  })
  expect(running.configuration.settings).toMatchObject({
    'people.person 1.role': 'owner',
    'people.person 1.timezone': 'Europe/Berlin',
    'people.person 1.ids.0': expect.stringMatching(/^telegram:id \d$/),
    'models.server 1.kind': 'openai',
    'models.server 1.apiKey': 'text of 24 characters',
    'channels.telegram.accounts.account 1.token': 'from env',
    'routing.access.direct': 'allowlist',
    'routing.access.groups.0.trigger': 'always',
    'routing.wakeWords.0': 'text of 10 characters',
    'schedules.0.cron': '0 8 * * 1-5',
    'schedules.0.prompt': 'text of 13 characters',
  })
  // The same id has the same number wherever it stands.
  const settings = running.configuration.settings as Record<string, string>
  const ada = settings['people.person 1.ids.0']?.slice('telegram:'.length)
  expect(settings['schedules.0.deliverTo']).toBe(`telegram@account 1:direct:${ada}`)
  expect(running.findings).toContainEqual({ part: 'database', check: 'integrity', state: 'ok' })
  expect(running.program).toMatchObject({ node: process.version })

  daemon.kill('SIGTERM')
  await once(daemon, 'close')
  const stopped = await report(house, 'stopped.json')
  expect(stopped.daemon).toEqual({ state: 'does not run' })
  expect(stopped.store).toMatchObject({ state: 'read', states: { turns: { failed: 1 } } })

  writeFileSync(file, readFileSync(file, 'utf8').replace('role: owner', 'role: canaryrole'))
  const mistaken = await report(house, 'mistaken.json')
  expect(mistaken.configuration).toMatchObject({
    state: 'has mistakes',
    mistakes: [{ line: 2, setting: expect.stringMatching(/^people\.person 1\.role$/) }],
  })
  expect(mistaken.store).toEqual({ state: 'unknown, since no configuration could be read' })

  const numbers = `env: { PIN: ${PIN}, port: ${PIN}, CANARY`
  const numbered = readFileSync(file, 'utf8').replace('canaryada:', `"${PHONE}":`).replace('env: { CANARY', numbers)
  writeFileSync(file, `${numbered}budgets: { warnAt: 70, timezone: ${PIN} }\n`)
  expect((await report(house, 'numbered.json')).configuration).toMatchObject({
    mistakes: expect.arrayContaining([{ line: 2, setting: 'people.person 1.role' }]),
    settings: { 'budgets.warnAt': 70, 'budgets.timezone': 'text of 10 characters' },
  })

  writeFileSync(file, 'people: { canaryada: [\nchannels: canary')
  const broken = await report(house, 'broken.json')
  expect(broken.configuration).toMatchObject({ state: 'cannot be read', settings: {} })
  expect(broken.findings).toContainEqual({ part: 'configuration', check: expect.any(String), state: 'failed' })
  const again = await ended(run('support', 'broken.json'))
  expect([again.code, again.out]).toEqual([1, expect.stringContaining('is there already')])
})
