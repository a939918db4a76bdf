import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { textReply } from '../../src/rehearsal/openai/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { Newcomer } from './init-terminal.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

const refusal = (status: number, message: string) => ({ error: { status, message, type: 'invalid_request_error' } })

async function place() {
  const telegram = await startTelegramServer()
  const model = await startOpenAiServer({ dialect: 'lm-studio', apiKey: 'lm-key-of-the-test', models: ['qwen3'] })
  onTestFinished(async () => {
    await Promise.all([telegram.close(), model.close()])
  })
  const newcomer = new Newcomer({ BOT: telegram.token, LM_KEY: 'lm-key-of-the-test' })
  const root = ['--api-root', `telegram=${telegram.apiRoot}`]
  return { telegram, model, newcomer, root }
}

test('init with all flags and --yes writes the configuration that "config check" takes without a warning, and starts nothing', async () => {
  const { newcomer, root, model } = await place()
  const flags = ['--platform', 'telegram', '--token', 'telegram=env:BOT', ...root, '--owner', 'telegram:111111112']
  const server = ['--model', 'lmstudio/qwen3', '--base-url', model.baseUrl, '--api-key', 'env:LM_KEY']
  const run = await newcomer.runs(['init', ...flags, ...server, '--yes'])
  expect([run.code, run.err]).toEqual([0, ''])
  expect(run.out).toContain('it is @parley_bot')
  expect(run.out).toContain('It says: "')
  expect(run.out).toContain('A service needs these variables too: BOT, LM_KEY')
  expect(run.out).not.toMatch(/lm-key|rehearsal/)
  expect(newcomer.yaml()).toContain(`token: \${env:BOT}`)
  expect(newcomer.yaml()).toContain(`apiKey: \${env:LM_KEY}`)
  expect(newcomer.yaml()).toMatch(/role: owner\n\s+ids:\n\s+- telegram:111111112/)
  expect(newcomer.files()).toEqual({ 'parley.yaml': '600' })
  const check = await newcomer.runs(['config', 'check'])
  expect([check.code, check.out]).toEqual([0, `✓ ${newcomer.file} is valid\n`])
  // No daemon answers.
  expect((await newcomer.runs(['status'])).code).toBe(1)
})

test('init takes a token from standard input or from a file, and never from the command line', async () => {
  const { newcomer, root, telegram } = await place()
  const typed = await newcomer.runs([
    'init',
    '--platform',
    'telegram',
    '--token',
    `telegram=${telegram.token}`,
    '--yes',
  ])
  expect(typed.code).toBe(2)
  expect(typed.err).toContain('can be read by every user of the machine')
  expect(typed.err + typed.out).not.toContain(telegram.token)
  const piped = await newcomer.runs(
    ['init', '--token', 'telegram=-', '--platform', 'telegram', ...root],
    `${telegram.token}\n`,
  )
  expect([piped.code, piped.err]).toEqual([0, ''])
  expect(readFileSync(join(newcomer.folder, 'telegram-token'), 'utf8')).toBe(`${telegram.token}\n`)
  expect(newcomer.files()['telegram-token']).toBe('600')
  const secret = join(newcomer.home, 'elsewhere')
  writeFileSync(secret, telegram.token, { mode: 0o600 })
  const named = await newcomer.runs(['init', '--token', `telegram=file:${secret}`, '--platform', 'telegram', ...root])
  expect([named.code, named.err]).toEqual([0, ''])
  expect(newcomer.yaml()).toContain(`token: \${file:${secret}}`)
})

test.each([
  [
    'no flag at all',
    [],
    2,
    /Nobody can be asked here\. .*\n {2}--platform telegram --token telegram=env:TELEGRAM_BOT_TOKEN --yes\n/,
  ],
  ['no token', ['--platform', 'telegram'], 2, /\n {2}--token telegram=env:TELEGRAM_BOT_TOKEN --yes\n/],
  [
    'none of three tokens',
    ['--platform', 'discord,slack'],
    2,
    /\n {2}--token discord=env:DISCORD_BOT_TOKEN --token slack\.appToken=env:SLACK_APP_TOKEN --token slack\.botToken=env:SLACK_BOT_TOKEN --yes\n/,
  ],
  ['one of two tokens', ['--platform', 'slack', '--token', 'slack=env:BOT'], 2, /--token slack\.appToken=env:NAME/],
  [
    'a variable that is not set',
    ['--token', 'telegram=env:NOT_SET', '--platform', 'telegram'],
    2,
    /--token telegram: that variable is not set/,
  ],
  ['an unknown platform', ['--platform', 'icq'], 2, /There is no platform icq: it is one of telegram, discord, slack/],
  [
    'a model without its server',
    ['--platform', 'telegram', '--token', 'telegram=env:BOT', '--model', 'qwen3'],
    2,
    /write <server>\/<model>/,
  ],
  [
    'a server that is not known',
    ['--platform', 'telegram', '--token', 'telegram=env:BOT', '--model', 'mine/x'],
    2,
    /add --base-url/,
  ],
  [
    'no key',
    ['--platform', 'telegram', '--token', 'telegram=env:BOT', '--model', 'openai/gpt-5.4'],
    2,
    /set OPENAI_API_KEY/,
  ],
])(
  'init without a terminal and with %s ends with its code and the flag that is missing, and writes nothing',
  async (_name, args, code, words) => {
    const { newcomer, root } = await place()
    const run = await newcomer.runs(['init', ...args, ...root])
    expect(run.err).toMatch(words)
    expect(run.code).toBe(code)
    expect(existsSync(newcomer.folder)).toBe(false)
  },
)

const TYPED = '7000001:AAE-typed-by-mistake'

test.each([
  ['a token without its platform', ['--token', TYPED]],
  ['a token that ends like a flag', ['--token', `${TYPED}=`]],
  ['a token in the place of a platform', ['--platform', TYPED]],
  ['a token as a variable', ['--platform', 'telegram', '--token', `telegram=env:${TYPED}`]],
  ['a token as a file', ['--platform', 'telegram', '--token', `telegram=file:${TYPED}`]],
  ['a key as a variable', ['--model', 'openai/gpt-5.4', '--api-key', `env:${TYPED}`]],
  ['a key as it is', ['--model', 'openai/gpt-5.4', '--api-key', TYPED]],
  ['a password in --base-url', ['--model', 'mine/x', '--base-url', `http://joe:${TYPED}@127.0.0.1:9/v1`]],
  ['a password in a broken --base-url', ['--model', 'mine/x', '--base-url', `joe:${TYPED}@127.0.0.1:9/v1`]],
  ['a password in --api-root', ['--platform', 'telegram', '--api-root', `telegram=http://joe:${TYPED}@127.0.0.1:9`]],
  ['a password in --api-root without a platform', ['--api-root', `http://joe:${TYPED}@127.0.0.1:9`]],
])('init refuses %s with 2, and quotes nothing of it', async (_name, args) => {
  const newcomer = new Newcomer()
  const run = await newcomer.runs(['init', ...args, '--yes'])
  expect(run.code).toBe(2)
  expect(run.err).toMatch(/--(?:token|api-key|base-url|api-root)|it is one of telegram/)
  expect(run.err + run.out).not.toMatch(/typed-by-mistake|7000001/)
  expect(existsSync(newcomer.folder)).toBe(false)
})

test('init says before it asks that nothing can be written to the folder, with the remedy', async () => {
  const { newcomer, root, telegram } = await place()
  writeFileSync(join(newcomer.home, 'plain'), '')
  const mark = telegram.ledger.mark()
  const flags = ['--platform', 'telegram', '--token', 'telegram=env:BOT', ...root]
  const run = await newcomer.runs(['init', ...flags, '--config', 'plain/parley.yaml'])
  expect(run.code).toBe(78)
  expect(run.err).toMatch(/Nothing can be written to \S*plain: set HOME .* --config\./)
  expect(telegram.ledger.all(() => true, mark)).toEqual([])
})

test('init says before it asks that SQLite does not load, with the remedy', async () => {
  const { newcomer, root, telegram } = await place()
  const broken = join(newcomer.home, 'broken.cjs')
  writeFileSync(
    broken,
    `const modules = require('node:module')
    const load = modules._load
    modules._load = (name, ...rest) => {
      if (name.startsWith('better-sqlite3')) throw new Error('was not compiled')
      return load(name, ...rest)
    }`,
  )
  newcomer.env.NODE_OPTIONS = `--require=${broken}`
  const mark = telegram.ledger.mark()
  const run = await newcomer.runs(['init', '--platform', 'telegram', '--token', 'telegram=env:BOT', ...root])
  expect([run.code, run.out]).toEqual([78, ''])
  expect(run.err).toMatch(/^SQLite does not load on Node .*npm /)
  expect(telegram.ledger.all(() => true, mark)).toEqual([])
})

test('init reports a wrong --model before a platform is asked', async () => {
  const { newcomer, root, telegram } = await place()
  const mark = telegram.ledger.mark()
  const run = await newcomer.runs([
    'init',
    '--platform',
    'telegram',
    '--token',
    'telegram=env:BOT',
    ...root,
    '--model',
    'x',
  ])
  expect(run.code).toBe(2)
  expect(run.out).not.toContain('Asking Telegram')
  expect(telegram.ledger.all(() => true, mark)).toEqual([])
})

test('init without a terminal refuses a token that the platform refuses, with 78 and the reason', async () => {
  const { newcomer, root } = await place()
  newcomer.env.BOT = '7000001:wrong-secret-token'
  const run = await newcomer.runs(['init', '--platform', 'telegram', '--token', 'telegram=env:BOT', ...root])
  expect(run.code).toBe(78)
  expect(run.err).toContain('refuses the token')
  expect(run.err + run.out).not.toContain('wrong-secret')
  expect(existsSync(newcomer.folder)).toBe(false)
})

test.each([
  ['the key', 'another-key', textReply('Hello!')],
  ['the kind', 'lm-key-of-the-test', refusal(400, '"nomic-embed-text" does not support chat')],
  ['the name', 'lm-key-of-the-test', refusal(404, 'The model nomic-embed-text does not exist')],
])(
  'init --yes refuses a model whose server refuses %s of it, with 78, and writes nothing',
  async (_what, key, reply) => {
    const { newcomer, root, model } = await place()
    newcomer.env.LM_KEY = key
    model.setScript(() => reply)
    const flags = ['--platform', 'telegram', '--token', 'telegram=env:BOT', ...root]
    const server = ['--model', 'gate/nomic-embed-text', '--base-url', model.baseUrl, '--api-key', 'env:LM_KEY']
    const run = await newcomer.runs(['init', ...flags, ...server, '--yes'])
    expect([run.code, run.err]).toEqual([78, expect.stringContaining('Nothing was written.')])
    expect(run.err + run.out).not.toContain('trace id')
    expect(existsSync(newcomer.folder)).toBe(false)
  },
)

test('init --dry-run prints the configuration alone, and writes nothing', async () => {
  const { newcomer, root } = await place()
  const run = await newcomer.runs([
    'init',
    '--platform',
    'telegram',
    '--token',
    'telegram=env:BOT',
    ...root,
    '--dry-run',
  ])
  expect(run.code).toBe(0)
  expect(run.out.startsWith('# Written by "parley init"')).toBe(true)
  expect(run.out).toContain(`token: \${env:BOT}`)
  expect(existsSync(newcomer.folder)).toBe(false)
})

test('init again by the same flags changes nothing, and without --token keeps the token that is there', async () => {
  const { newcomer, root } = await place()
  const flags = ['init', '--platform', 'telegram', '--token', 'telegram=env:BOT', ...root]
  await newcomer.runs(flags)
  const before = newcomer.yaml()
  const again = await newcomer.runs(flags)
  expect([again.code, again.err]).toEqual([0, ''])
  expect(again.out).toContain('Nothing has changed')
  const without = await newcomer.runs(['init', '--platform', 'telegram', '--owner', 'telegram:111111112'])
  expect([without.code, without.err]).toEqual([0, ''])
  expect(newcomer.yaml()).toContain(before.trimEnd())
  expect(Object.keys(newcomer.files()).filter((name) => name.startsWith('parley.yaml.20'))).toHaveLength(1)
})

test('init --owner names the owner who claimed the bot, with the command that takes it away; an id without a platform is refused', async () => {
  const { newcomer, root, telegram } = await place()
  const flags = ['init', '--platform', 'telegram', '--token', 'telegram=env:BOT', ...root]
  await newcomer.runs(flags)
  const daemon = spawn(process.execPath, [MAIN, 'start'], { env: newcomer.env, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void daemon.kill('SIGKILL'))
  const code = await new Promise<string>((resolve) =>
    daemon.stdout.on('data', (chunk) => /start=(\S+)/.exec(String(chunk))?.slice(1, 2).forEach(resolve)),
  )
  telegram.world.addUser({ id: 111, firstName: 'Ada' })
  telegram.world.say({ from: 111, text: `/start ${code}` })
  await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes('my owner now') })
  const run = await newcomer.runs([...flags, '--owner', 'telegram:111111112'])
  expect([run.code, run.err]).toEqual([0, ''])
  expect(run.out).toMatch(/telegram:111 is an owner too.*\n {2}parley people unlink telegram:111 /)
  const bare = await newcomer.runs([...flags, '--owner', '111111112'])
  expect([bare.code, bare.err]).toEqual([2, expect.stringContaining('<platform>:<id>')])
})

test('init names the accounts whose secret is not in this shell', async () => {
  const { newcomer, root } = await place()
  const flags = ['init', '--platform', 'telegram', '--token', 'telegram=env:BOT', ...root]
  await newcomer.runs(flags)
  delete newcomer.env.BOT
  expect((await newcomer.runs(['init', '--platform', 'telegram'])).out).toContain(
    'accounts: telegram (without its secret',
  )
})

test('init --owner keeps what is known of people: an id that somebody has makes that person the owner', async () => {
  const { newcomer, root } = await place()
  const flags = ['init', '--platform', 'telegram', '--token', 'telegram=env:BOT', ...root]
  await newcomer.runs(flags)
  const people = `people:
  ada: { role: owner, ids: [telegram:111111112] }
  bob: { ids: [telegram:111111113] }
  owner:
    role: owner
    timezone: Europe/Berlin
    ids:
      - telegram:111111114 # the first
`
  writeFileSync(newcomer.file, `${newcomer.yaml()}${people}`)
  const same = await newcomer.runs([...flags, '--owner', 'telegram:111111112'])
  expect([same.code, same.err]).toEqual([0, ''])
  expect(same.out).toContain('Nothing has changed')
  const more = await newcomer.runs([...flags, '--owner', 'telegram:111111113,telegram:111111115'])
  expect([more.code, more.err]).toEqual([0, ''])
  const known = parse(newcomer.yaml()).people
  expect(known).toEqual({
    ada: { role: 'owner', ids: ['telegram:111111112'] },
    bob: { role: 'owner', ids: ['telegram:111111113'] },
    owner: { role: 'owner', timezone: 'Europe/Berlin', ids: ['telegram:111111114', 'telegram:111111115'] },
  })
  expect(newcomer.yaml()).toContain('- telegram:111111114 # the first')
})

test('init writes nothing where the configuration would be none, not even for what shows only as its rules are put together', async () => {
  const { newcomer, root } = await place()
  const flags = ['init', '--platform', 'telegram', '--token', 'telegram=env:BOT', ...root]
  await newcomer.runs(flags)
  const before = newcomer.yaml()
  const run = await newcomer.runs([...flags, '--owner', 'telegram:Ada'])
  expect(run.code).toBe(78)
  expect(run.err).toContain('Nothing was written.')
  expect(newcomer.yaml()).toBe(before)
  expect(Object.keys(newcomer.files())).toEqual(['parley.yaml'])
})

test('init takes variables that are set by reference, without a question', async () => {
  const { newcomer, root, telegram } = await place()
  newcomer.env.TELEGRAM_BOT_TOKEN = telegram.token
  const run = await newcomer.runs(['init', ...root, '--yes'])
  expect([run.code, run.err]).toEqual([0, ''])
  expect(newcomer.yaml()).toContain(`token: \${env:TELEGRAM_BOT_TOKEN}`)
})

test('init leaves a configuration with a mistake as it is; with --force it begins anew and keeps a copy', async () => {
  const { newcomer, root } = await place()
  mkdirSync(newcomer.folder, { recursive: true })
  writeFileSync(newcomer.file, 'chanels: {}\n')
  const flags = ['init', '--platform', 'telegram', '--token', 'telegram=env:BOT', ...root]
  const refused = await newcomer.runs(flags)
  expect(refused.code).toBe(78)
  expect(refused.err).toMatch(/did you mean `channels`\?[\s\S]*--force/)
  expect(newcomer.yaml()).toBe('chanels: {}\n')
  const forced = await newcomer.runs([...flags, '--force'])
  expect([forced.code, forced.err]).toEqual([0, ''])
  const copy = readdirSync(newcomer.folder).find((name) => name.startsWith('parley.yaml.20')) ?? ''
  expect(readFileSync(join(newcomer.folder, copy), 'utf8')).toBe('chanels: {}\n')
  expect(newcomer.yaml()).toContain(`token: \${env:BOT}`)
})

test('init writes the file that --config or PARLEY_CONFIG names, and follows a link to it', async () => {
  const { newcomer, root } = await place()
  const dotfiles = join(newcomer.home, 'dotfiles.yaml')
  const named = join(newcomer.home, 'bots', 'one.yaml')
  const flags = ['init', '--platform', 'telegram', '--token', 'telegram=env:BOT', ...root]
  const first = await newcomer.runs([...flags, '--config', 'bots/one.yaml'])
  expect([first.code, first.err]).toEqual([0, ''])
  writeFileSync(dotfiles, readFileSync(named, 'utf8').replace('[time]', '[time, schedule]'))
  const link = join(newcomer.home, 'link.yaml')
  symlinkSync(dotfiles, link)
  newcomer.env.PARLEY_CONFIG = link
  const second = await newcomer.runs([...flags, '--owner', 'telegram:111111112'])
  expect([second.code, second.err]).toEqual([0, ''])
  expect(readFileSync(dotfiles, 'utf8')).toContain('telegram:111111112')
  expect(readFileSync(dotfiles, 'utf8')).toContain('[time, schedule]')
  expect(readFileSync(link, 'utf8')).toBe(readFileSync(dotfiles, 'utf8'))
})

test('init leaves a running daemon alone: one of another configuration ends it with 75, its own continues', async () => {
  const { newcomer, root, telegram } = await place()
  const flags = ['init', '--platform', 'telegram', '--token', 'telegram=env:BOT', ...root]
  await newcomer.runs(flags)
  const daemon = spawn(process.execPath, [MAIN, 'start'], { env: newcomer.env, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void daemon.kill('SIGKILL'))
  await new Promise<void>((resolve) =>
    daemon.stdout.on('data', (chunk) => String(chunk).includes('Ctrl-C') && resolve()),
  )
  const mark = telegram.ledger.mark()
  const own = await newcomer.runs([...flags, '--owner', 'telegram:111111112', '--start'])
  expect([own.code, own.err]).toEqual([0, ''])
  expect(own.out).toMatch(
    /The bot continues as it was started.*\n {2}parley config reload .*\n {2}parley start .*once it is stopped/,
  )
  expect(own.out).not.toContain('runs it here')
  const second = await newcomer.runs(['start'])
  expect([second.code, second.err]).toEqual([75, expect.stringContaining(`or: kill ${daemon.pid}`)])
  const other = await newcomer.runs([...flags, '--config', 'other.yaml'])
  expect([daemon.exitCode, daemon.signalCode, other.code]).toEqual([null, null, 75])
  expect(other.err).toContain('Stop it first')
  expect(telegram.ledger.all((entry) => entry.kind === 'poll' && 'conflict' in entry, mark)).toEqual([])
})
