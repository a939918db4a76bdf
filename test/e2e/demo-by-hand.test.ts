import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sample } from '../sample.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
/** Said when the first scene has begun. */
const FIRST_WORDS = 'Dinner at seven?'

it.concurrent('the demo by hand: what is typed is said, a command is no message, and the last decision is asked for by :why', {
  timeout: 240_000,
}, async ({ onTestFinished }) => {
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'))
  const env = { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: tmpdir() }
  const demo = spawn(process.execPath, [MAIN, 'demo'], { env, cwd: home })
  onTestFinished(() => {
    demo.kill('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })
  let printed = ''
  demo.stdout.on('data', (chunk) => {
    printed += chunk
  })
  demo.stdin.end(
    ':why\nhello\n:why\n:frobnicate\n:in moon\n:as constructor\n/as bo\n/quit\n:in workshop\n/budget\n:in office\n/remember\n:help\n:quit\n',
  )
  const [code] = await once(demo, 'close')

  const [, byHand = ''] = printed.split('Your turn')
  expect(code).toBe(0)
  expect(byHand).toContain('which one? :why <message>')
  expect(byHand).toMatch(/Ada +hello/)
  expect(byHand).toMatch(/answers \(a direct chat\); outcome: \w+/)
  expect(byHand).toContain('there is no :frobnicate; see :help')
  expect(byHand).toContain('there is no place moon; there are family, general')
  expect(byHand).toContain('nobody is called constructor; there are ada')
  expect(byHand).toContain('not said: write :as; see :help')
  expect(byHand).toContain('not said: write :quit; see :help')
  expect(byHand.split(':as <person>')).toHaveLength(3)
  expect(byHand).not.toMatch(/Ada +(:|\/(as|quit))/)
  // What a command answers to its person alone, on Discord and Slack.
  expect(byHand).toMatch(/workshop +Parley +\(only Ada sees this\) No budget applies to you here\./)
  expect(byHand).toMatch(/office +Parley +\(only Ada sees this\) Say `!remember <text>`\./)
  // The answer comes after the input has ended, with its place, and a pipe gets no prompt to write it on. Where it is
  // seen while it grows, the rest of it has a line of its own.
  expect(byHand).toMatch(/^ {2}Ada's dm {5}Parley {3}(I heard you: “hello”|… .*“hello”)$/m)
  expect(byHand).not.toContain(' > ')
  expect(byHand).toMatch(/\nGoodbye\. .*\n$/)
})

it.concurrent('the demo: it sees, hears and keeps a secret; its model is called a script, and two screens of 80 columns hold it', {
  timeout: 240_000,
}, async ({ onTestFinished }) => {
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'))
  const demo = spawn(process.execPath, [MAIN, 'demo', '--once'], {
    env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: tmpdir() },
    cwd: home,
  })
  onTestFinished(() => {
    demo.kill('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })
  let printed = ''
  for await (const chunk of demo.stdout) printed += chunk
  if (demo.exitCode === null) await once(demo, 'close')
  const lines = printed.split('\n')

  expect(demo.exitCode).toBe(0)
  expect(printed.replaceAll(/\s+/g, ' ')).toContain('The model is a script')
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  expect(lines.length).toBeLessThan(112)
  expect(printed).not.toContain('✗')

  // The model has read the picture and the transcript, and the memory of each conversation decides what it knows there.
  expect(printed).toContain('I see something red and round, 64 pixels wide.')
  const memories = printed.split('what do you remember of me?').slice(1)
  const [inGroup = '', inPrivate = ''] = memories.map((text) => /I remember [^.]*\./.exec(text)?.[0])
  expect(inGroup).toBe('I remember “Ada: I bake the cake”.')
  expect(inPrivate.replaceAll(/\s+/g, ' ')).toBe('I remember “Bo gets a kite” and “Ada: I bake the cake”.')
})

it.concurrent('the demo ended by Ctrl-C says goodbye, exits with 0, and leaves nothing behind', {
  timeout: 240_000,
}, async ({ onTestFinished }) => {
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'))
  const temporary = join(home, 'tmp')
  mkdirSync(temporary)
  const env = { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: temporary }
  const demo = spawn(process.execPath, [MAIN, 'demo'], { env, cwd: home, detached: true })
  const { pid } = demo
  if (pid === undefined) throw new Error('The demo did not start.')
  onTestFinished(() => {
    demo.kill('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })
  let printed = ''
  let errors = ''
  demo.stderr.on('data', (chunk) => {
    errors += chunk
  })
  let ended = false
  for await (const chunk of demo.stdout) {
    printed += chunk
    if (ended || !printed.includes(FIRST_WORDS)) continue
    ended = true
    // A terminal sends it to the whole process group.
    process.kill(-pid, 'SIGINT')
  }
  if (demo.exitCode === null && demo.signalCode === null) await once(demo, 'close')

  expect([demo.exitCode, errors]).toEqual([0, ''])
  expect(printed).toMatch(/\nGoodbye\. .*\n$/)
  expect(printed).not.toContain('✗')
  expect(readdirSync(temporary)).toEqual([])
})

it.concurrent.for(sample(['SIGTERM', 'SIGHUP', 'SIGINT'] as const, 3))(
  'a tour played once and ended by %s fails, and takes its daemon and its folder with it',
  {
    timeout: 240_000,
  },
  async (signal, { onTestFinished }) => {
    const home = mkdtempSync(join(tmpdir(), 'parley-home-'))
    const temporary = join(home, 'tmp')
    mkdirSync(temporary)
    const env = { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: temporary }
    const demo = spawn(process.execPath, [MAIN, 'demo', '--once'], { env, cwd: home })
    onTestFinished(() => {
      demo.kill('SIGKILL')
      rmSync(home, { recursive: true, force: true })
    })
    let printed = ''
    let ended = false
    for await (const chunk of demo.stdout) {
      printed += chunk
      if (ended || !printed.includes(FIRST_WORDS)) continue
      ended = demo.kill(signal)
    }
    if (demo.exitCode === null && demo.signalCode === null) await once(demo, 'close')

    expect(demo.exitCode).toBe(1)
    // It is taken away once the daemon has exited.
    expect(readdirSync(temporary)).toEqual([])
  },
)
