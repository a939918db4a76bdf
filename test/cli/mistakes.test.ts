import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const TELEGRAM = `channels: { telegram: { accounts: { default: { token: "\${env:TELEGRAM_BOT_TOKEN}" } } } }\n`

let home: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'parley-mistakes-'))
  mkdirSync(join(home, '.config/parley'), { recursive: true })
  const folder = home
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built program as somebody does in a shell of their own. */
function parley(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  node: readonly string[] = [],
): Ended {
  const run = spawnSync(process.execPath, [...node, MAIN, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, ...env },
    encoding: 'utf8',
  })
  return { code: run.status, stdout: run.stdout, stderr: run.stderr }
}

function write(name: string, text: string): string {
  const path = join(home, name)
  writeFileSync(path, text)
  return path
}

describe('an older Node', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const as = (version: string): readonly string[] => {
    const code = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`
    return ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
  }

  test.each(['14.21.3', '18.20.8', '20.18.1', '21.7.3'])('%s ends with one sentence and 78', (version) => {
    expect(engines.node).toBe('^20.19 || >=22')
    expect(parley(['status'], {}, as(version))).toEqual({
      code: 78,
      stdout: '',
      stderr: `Parley needs Node 20.19 or a later 20, or 22 and later; this is Node ${version}.\n`,
    })
  })

  test.each(['20.19.0', '22.0.0', '26.1.0'])('%s is none', (version) => {
    expect(parley(['--version'], {}, as(version))).toMatchObject({ code: 0, stderr: '' })
  })

  test('can read the file that says so: it imports nothing of the program, and has no newer syntax', () => {
    const source = readFileSync(MAIN, 'utf8')
    expect(source.match(/^import .* from .*$/gm)).toHaveLength(1)
    expect(source).not.toMatch(/\?\?|\?\.|^await /m)
  })
})

describe('a file by nearly the right name', () => {
  test.each(['parley.yml', 'parley.json', 'config.yaml', 'parley.yaml.txt'])(
    '%s is named, and not passed over',
    (name) => {
      const beside = write(`.config/parley/${name}`, TELEGRAM)
      const expected = join(home, '.config/parley/parley.yaml')
      for (const command of [['start'], ['config', 'check'], ['status']]) {
        expect(parley(command, { TELEGRAM_BOT_TOKEN: '5:a' })).toEqual({
          code: 78,
          stdout: '',
          stderr: `${expected}: there is no such file, but ${name} beside it; rename it, or start with --config ${beside}\n`,
        })
      }
    },
  )

  test('another one beside it is none', () => {
    write('.config/parley/parley.example.yaml', TELEGRAM)
    write('.config/parley/notes.txt', '')
    expect(parley(['config', 'check'], { TELEGRAM_BOT_TOKEN: '5:a' })).toMatchObject({ code: 0, stderr: '' })
  })

  test('is named where --config asks for the other', () => {
    const beside = write('family.yml', TELEGRAM)
    const { code, stderr } = parley(['--config', 'family.yaml', 'config', 'check'])
    expect([code, stderr]).toEqual([
      78,
      expect.stringContaining(`but family.yml beside it; rename it, or start with --config ${beside}`),
    ])
  })

  test('in the working folder is warned of', () => {
    write('parley.yaml', TELEGRAM)
    const said = './parley.yaml is not read: start with --config parley.yaml, or move it to '
    expect(parley(['config', 'check'], { TELEGRAM_BOT_TOKEN: '5:a' }).stdout).toContain(said)
    expect(parley(['start']).stderr).toContain(said)
  })
})

describe('a variable that is not set', () => {
  const rules = `people: { ada: { role: owner, ids: ["telegram:711111113"] } }
routing: { access: { groups: [{ match: { channel: telegram }, who: allowlist }] } }\n`

  test('is all that config check says, and 78', () => {
    write('.config/parley/parley.yaml', `${TELEGRAM}models: { anthropic: { apiKey: "\${env:NO_KEY}" } }\n${rules}`)
    const file = join(home, '.config/parley/parley.yaml')
    const not = (name: string): string => `the variable ${name} is not set; set it or change the reference`
    expect(parley(['config', 'check'])).toEqual({
      code: 78,
      stdout: '',
      stderr: `${file}:1: channels.telegram.accounts.default.token: ${not('TELEGRAM_BOT_TOKEN')}
${file}:2: models.anthropic.apiKey: ${not('NO_KEY')}\n`,
    })
  })
})
