import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { KEYS, Newcomer } from './init-terminal.ts'

async function place() {
  const telegram = await startTelegramServer()
  onTestFinished(() => telegram.close())
  const newcomer = new Newcomer()
  return { telegram, newcomer, root: ['--api-root', `telegram=${telegram.apiRoot}`] }
}

/** Writes the folder of another program, at its usual place, with a workspace. */
function writePeer(home: string, kind: keyof typeof PEERS, token: string): void {
  for (const [name, text] of Object.entries(PEERS[kind](token))) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
}

const PEERS = {
  openclaw: (token: string) => ({
    '.openclaw/openclaw.json': `{ // mine
      agents: { defaults: { model: { primary: 'ollama/qwen3' }, workspace: '~/.openclaw/workspace' } },
      channels: { telegram: { botToken: '${token}', dmPolicy: 'allowlist', allowFrom: ['111111112'] } } }`,
    '.openclaw/workspace/SOUL.md': 'You are calm.',
  }),
  hermes: (token: string) => ({
    '.hermes/config.yaml': 'model: { default: qwen3, provider: ollama }\n',
    '.hermes/.env': `TELEGRAM_BOT_TOKEN=${token}\n`,
    '.hermes/SOUL.md': 'You are calm.',
  }),
  nanoclaw: (token: string) => ({
    'nanoclaw/.env': `TELEGRAM_BOT_TOKEN=${token}\nASSISTANT_NAME=Andy\n`,
    'nanoclaw/groups/main/CLAUDE.md': 'You are calm.',
  }),
} as const
const KINDS = ['openclaw', 'hermes', 'nanoclaw'] as const
/** What of the other program is an instruction here. */
const INSTRUCTED = { openclaw: true, hermes: true, nanoclaw: false } as const
const SECRET = join('secrets', 'telegram-default-token')
const PROMPT = join('prompts', 'main.md')

test.each(KINDS.flatMap((kind) => [[kind, 'flags'] as const, [kind, 'a terminal'] as const]))(
  'init --from %s from nothing, by %s: what the other program has is written whole, its workspace too, and is valid',
  async (kind, by) => {
    const { newcomer, root, telegram } = await place()
    writePeer(newcomer.home, kind, telegram.token)
    const flags = ['--from', kind, '--folder', join(newcomer.home, kind === 'nanoclaw' ? kind : `.${kind}`), ...root]
    if (by === 'flags') {
      const run = await newcomer.runs(['init', ...flags, '--yes'])
      expect([run.code, run.err]).toEqual([0, ''])
      expect(run.out).toMatch(/Taken from \w+:[\s\S]*it is @parley_bot/)
      expect(run.out).not.toContain(telegram.token)
    } else {
      const terminal = newcomer.types(...flags, '--no-start')
      await terminal.answers('Which model shall answer?', ...(kind === 'nanoclaw' ? [KEYS.up] : []), KEYS.enter)
      expect(await terminal.ended()).toBe(0)
    }
    expect(newcomer.yaml()).not.toContain(telegram.token)
    expect(readFileSync(join(newcomer.folder, SECRET), 'utf8')).toBe(`${telegram.token}\n`)
    expect(existsSync(join(newcomer.folder, PROMPT))).toBe(INSTRUCTED[kind])
    if (INSTRUCTED[kind]) expect(newcomer.yaml()).toContain('model: ollama/qwen3')
    if (INSTRUCTED[kind]) expect(readFileSync(join(newcomer.folder, PROMPT), 'utf8')).toContain('You are calm.')
    const check = await newcomer.runs(['config', 'check'])
    expect(check.code).toBe(0)
  },
)

test.each(KINDS)('init --from %s: a token that is in a variable here too stays a variable', async (kind) => {
  const { newcomer, root, telegram } = await place()
  writePeer(newcomer.home, kind, kind === 'openclaw' ? `\${TELEGRAM_BOT_TOKEN}` : telegram.token)
  newcomer.env.TELEGRAM_BOT_TOKEN = telegram.token
  const run = await newcomer.runs(['init', '--from', kind, ...root, '--yes'])
  expect([run.code, run.err]).toEqual([0, ''])
  expect(run.out).toMatch(/the variable TELEGRAM_BOT_TOKEN[\s\S]*it is @parley_bot/)
  expect(newcomer.yaml()).toContain(`token: \${env:TELEGRAM_BOT_TOKEN}`)
  expect(existsSync(join(newcomer.folder, SECRET))).toBe(false)
})

test('init --from writes an account whose variable is not set here, and says so, in a dry run too', async () => {
  const { newcomer, root, telegram } = await place()
  writePeer(newcomer.home, 'openclaw', telegram.token)
  const luna = "luna: { botToken: { source: 'env', id: 'LUNA_BOT_TOKEN' }, allowFrom: ['111111112'] }"
  const accounts = `accounts: { default: { botToken: '${telegram.token}', allowFrom: ['111111112'] }, ${luna} }`
  const text = `{ channels: { telegram: { dmPolicy: 'allowlist', ${accounts} } }, tools: { allow: ['exec'] } }`
  writeFileSync(join(newcomer.home, '.openclaw/openclaw.json'), text)
  const said = 'Not set here; set before the daemon starts: LUNA_BOT_TOKEN\n'
  expect((await newcomer.runs(['init', '--from', 'openclaw', ...root, '--dry-run'])).err).toContain(said)
  const run = await newcomer.runs(['init', '--from', 'openclaw', ...root, '--yes'])
  expect([run.code, run.err]).toEqual([0, ''])
  expect(run.out).toContain(said)
  expect(run.out).toContain('  - tools: not read;')
  expect(newcomer.yaml()).toContain('${env:LUNA_BOT_TOKEN}')
})

test('init --from leaves nothing behind, not even a folder, where the configuration would be none', async () => {
  const { newcomer, root, telegram } = await place()
  writePeer(newcomer.home, 'openclaw', telegram.token)
  const run = await newcomer.runs(['init', '--from', 'openclaw', ...root, '--owner', 'telegram:nobody', '--yes'])
  expect(run.code).toBe(78)
  expect(run.err).toContain('Nothing was written.')
  expect(existsSync(newcomer.folder)).toBe(false)
})

test('init --from keeps a copy of each file of a person that it replaces, and says where', async () => {
  const { newcomer, root, telegram } = await place()
  writePeer(newcomer.home, 'openclaw', telegram.token)
  const own = { [PROMPT]: 'My own words.\n', [SECRET]: '7000009:my-own-token\n' }
  for (const [name, text] of Object.entries(own)) {
    mkdirSync(dirname(join(newcomer.folder, name)), { recursive: true })
    writeFileSync(join(newcomer.folder, name), text)
  }
  const run = await newcomer.runs(['init', '--from', 'openclaw', ...root, '--yes'])
  expect([run.code, run.err]).toEqual([0, ''])
  for (const [name, text] of Object.entries(own)) {
    const path = join(newcomer.folder, name)
    const [, copy = ''] = new RegExp(`The old one is (${path}\\.20\\S+)\\.\n`).exec(run.out) ?? []
    expect(readFileSync(copy, 'utf8')).toBe(text)
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).not.toBe(text)
  }
  const again = await newcomer.runs(['init', '--from', 'openclaw', ...root, '--yes'])
  expect([again.code, again.err]).toEqual([0, ''])
  expect(again.out).not.toContain('The old one is')
  expect(readdirSync(join(newcomer.folder, 'secrets'))).toHaveLength(2)
})

test('init beside a configuration that its group reads: new files are for their owner alone, and it says so', async () => {
  const { newcomer, root, telegram } = await place()
  writePeer(newcomer.home, 'openclaw', telegram.token)
  mkdirSync(newcomer.folder, { recursive: true })
  writeFileSync(newcomer.file, 'agents: [{ id: main, model: scripted/echo }]\n')
  chmodSync(newcomer.file, 0o644)
  const run = await newcomer.runs(['init', '--from', 'openclaw', ...root, '--yes'])
  expect([run.code, run.err]).toEqual([0, ''])
  const mode = (name: string) => (statSync(join(newcomer.folder, name)).mode & 0o777).toString(8)
  expect([SECRET, 'secrets', 'parley.yaml'].map(mode)).toEqual(['600', '700', '644'])
  const copy = readdirSync(newcomer.folder).find((name) => name.startsWith('parley.yaml.20')) ?? ''
  expect(mode(copy)).toBe('600')
  expect(run.out).toMatch(/If the daemon reads by that group:\n +chmod g\+rX \S*\/secrets \S*/)
})
