import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

it('the demo by hand: what is typed is said, a command is no message, and the last decision is asked for by :why', {
  timeout: 240_000,
}, async () => {
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'))
  const env = { PATH: process.env.PATH ?? '', HOME: home }
  const demo = spawn(process.execPath, [MAIN, 'demo'], { env, cwd: home })
  onTestFinished(() => {
    demo.kill('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })
  let printed = ''
  demo.stdout.on('data', (chunk) => {
    printed += chunk
  })
  demo.stdin.end(':why\nhello\n:why\n:frobnicate\n:in moon\n:help\n:quit\n')
  const [code] = await once(demo, 'close')

  const [, byHand = ''] = printed.split('Your turn')
  expect(code).toBe(0)
  expect(byHand).toContain('which one? :why <message>')
  expect(byHand).toMatch(/Ada +hello/)
  expect(byHand).toMatch(/answers \(group-rule: a direct chat\); outcome: \w+/)
  expect(byHand).toContain('there is no :frobnicate; see :help')
  expect(byHand).toContain('there is no place moon; there are family, general')
  expect(byHand.split('speak as somebody else')).toHaveLength(3)
  expect(byHand).not.toMatch(/Ada +:/)
})

it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
  'the demo ended by %s takes its daemon and its folder with it',
  {
    timeout: 240_000,
  },
  async (signal) => {
    const home = mkdtempSync(join(tmpdir(), 'parley-home-'))
    const temporary = join(home, 'tmp')
    mkdirSync(temporary)
    const env = { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: temporary }
    const demo = spawn(process.execPath, [MAIN, 'demo', '--once'], { env, cwd: home })
    onTestFinished(() => {
      demo.kill('SIGKILL')
      rmSync(home, { recursive: true, force: true })
    })
    for await (const chunk of demo.stdout) {
      if (String(chunk).includes('the daemon listens')) demo.kill(signal)
    }
    if (demo.exitCode === null && demo.signalCode === null) await once(demo, 'close')

    expect(demo.exitCode).toBe(1)
    // It is taken away once the daemon has exited.
    expect(readdirSync(temporary)).toEqual([])
  },
)
