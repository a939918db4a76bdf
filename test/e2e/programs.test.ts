import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { echoScript } from '../../src/rehearsal/anthropic/script.ts'
import { household, member } from '../fakes/routing-policy.ts'
import { recorded } from './household.ts'
import { serveHousehold } from './served-household.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const EXAMPLE = join(ROOT, 'config/examples/ask.mjs')

/** A folder of somebody's program, in which the package is installed as the README says. */
function programFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-program-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  execFileSync('npm', ['install', '--offline', '--no-audit', ROOT], { cwd: folder })
  return folder
}

async function run(file: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(process.execPath, [file, ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
  })
  const texts = { out: '', err: '' }
  child.stdout?.on('data', (chunk) => {
    texts.out += chunk
  })
  child.stderr?.on('data', (chunk) => {
    texts.err += chunk
  })
  const [code] = await once(child, 'close')
  return { code, ...texts }
}

describe('a program', () => {
  it('of ten lines in the README asks a daemon and prints the answer', async () => {
    const { home, baseUrl } = await serveHousehold({ script: echoScript })
    const { token } = await home.daemon.operator.tokens.create({ owner: true, scopes: ['sessions:write'] })
    const lines = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8'))?.[1] ?? ''
    expect(lines.trimEnd().split('\n').length).toBeLessThanOrEqual(10)
    const program = lines.replace('http://127.0.0.1:7275', baseUrl)
    const file = join(programFolder(), 'ask.mjs')
    writeFileSync(file, program)
    const answered = { code: 0, out: 'echo What is new?\n', err: '' }
    expect(await run(file, [], { PARLEY_TOKEN: token })).toEqual(answered)
    // In the folder of the README it needs no installation.
    expect(await run('--input-type=module', ['--eval', program], { PARLEY_TOKEN: token })).toEqual(answered)
    await recorded(home)
    expect((await home.daemon.operator.sessions.show('api:notes')).turns).toBe(2)
  })

  it('S44: of the examples posts to a conversation for somebody, and waits for the answer', async () => {
    const people = [...household().people, member('shop', 'api:shop')]
    const { home, baseUrl, token: owner } = await serveHousehold({ script: echoScript, routing: { people } })
    const { token } = await home.daemon.operator.tokens.create({ namespace: 'api' })
    const ask = (args: readonly string[], bearer = token) =>
      run(EXAMPLE, args, { PARLEY_URL: baseUrl, PARLEY_TOKEN: bearer })
    expect(await ask(['api:tea', 'Tea?', 'api:shop'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Tea\?\n$/),
    })
    expect(await ask(['api:tea', 'Coffee?'], owner)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Coffee\?\n$/),
    })
    await recorded(home)
    const { turns, participants } = await home.daemon.operator.sessions.show('api:tea')
    expect([turns, participants]).toEqual([2, ['api:shop']])
    expect(await ask(['api:tea', 'hello', 'api:nobody'])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^error: /),
    })
    expect(await ask(['cli:tea', 'hello', 'api:shop'])).toMatchObject({ code: 1, out: '' })
    expect(await ask(['api:tea', 'hello'], 'x')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^unauthorized: /),
    })
    expect(await ask([])).toMatchObject({ code: 2, out: '' })
  })
})
