import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { EXIT } from '../../src/core/errors.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { PRODUCT } from './daemon-child.ts'
import { CASE } from './rounds.ts'

const INSTALLED = fileURLToPath(new URL('../../node_modules', import.meta.url))
const CIPHER = 'better-sqlite3-multiple-ciphers'
const KEY = randomBytes(32).toString('hex')

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The built program with all that is installed but the driver that encrypts, or with another file in its place. */
function install(driver?: { readonly version: string; readonly code: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-encryption-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(dirname(PRODUCT), join(folder, 'dist'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(INSTALLED).filter((one) => one !== CIPHER && !one.startsWith('.')))
    symlinkSync(join(INSTALLED, name), join(folder, 'node_modules', name))
  if (driver !== undefined) {
    const home = join(folder, 'node_modules', CIPHER)
    mkdirSync(home)
    writeFileSync(join(home, 'package.json'), JSON.stringify({ version: driver.version, main: 'index.js' }))
    writeFileSync(join(home, 'index.js'), driver.code)
  }
  const state = join(folder, 'state')
  const config = join(folder, 'parley.yaml')
  const telegram = { accounts: { default: { token: '7000001:canary-of-the-token' } } }
  const settings = { agents: [{ id: 'main', model: 'scripted/echo' }], channels: { telegram } }
  writeFileSync(config, JSON.stringify({ ...settings, store: { key: `\${env:STORE_KEY}` } }))
  const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: state, STORE_KEY: KEY }
  return {
    path: join(state, 'parley', 'parley.db'),
    state,
    run(...command: readonly string[]): Promise<Ended> {
      const main = join(folder, 'dist', basename(PRODUCT))
      const ended = promisify(execFile)(process.execPath, [main, ...command, '--config', config], { env })
      return ended.then(
        (out) => ({ code: 0, ...out }),
        (error) => error,
      )
    },
  }
}

describe('the built program with a store key', CASE, () => {
  it('C48: without the driver that encrypts ends with 78 and the command that installs it, and touches nothing', async () => {
    const { run, path, state } = install()
    const [none, made] = [await run('start'), () => readdirSync(state, { recursive: true })]
    expect(none).toMatchObject({ code: EXIT.config, stdout: '' })
    expect(none.stderr).toMatch(/^store\.key is set, [^\n]*Node v[^\n]*not installed[^\n]*\n$/)
    expect(none.stderr).toMatch(/"npm install --no-save --save-prod better-sqlite3-multiple-ciphers@1[23]\.\d+\.\d+"/)
    expect(made).toThrow('ENOENT')
    const checked = await run('config', 'check')
    expect(checked).toMatchObject({ code: EXIT.ok })
    expect(checked.stdout).toContain('warning: a start is refused here: store.key is set, and better-sqlite3')

    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    await (await openSqliteStore({ path, clock: systemClock })).close()
    const [before, names] = [readFileSync(path), made()]
    for (const command of [['start'], ['sessions', 'list'], ['store', 'encrypt'], ['store', 'decrypt']]) {
      const ended = await run(...command)
      expect(ended).toMatchObject({ code: EXIT.config })
      expect(ended.stderr).toContain('npm install')
      expect(ended.stderr + ended.stdout).not.toContain(KEY)
    }
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(made()).toEqual(names)
  })

  it('C48: with a version of the driver that this Node would crash on, it is not even loaded', async () => {
    const { run } = install({ version: '11.0.0', code: "process.kill(process.pid, 'SIGKILL')" })
    const ended = await run('start')
    expect(ended).toMatchObject({ code: EXIT.config })
    expect(ended.stderr).toContain('there is version 11.0.0')
  })

  it('a driver that was not compiled is said in one line', async () => {
    const version = Number(process.versions.napi) < 10 ? '12.11.1' : '13.0.3'
    const code = "module.exports = class { constructor() { throw new Error('no bindings file.\\n one\\n two') } }"
    const ended = await install({ version, code }).run('start')
    expect(ended).toMatchObject({ code: EXIT.config })
    expect(ended.stderr).toMatch(/^store\.key is set, [^\n]*\(no bindings file\.\)[^\n]*\n$/)
  })
})
