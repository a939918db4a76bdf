import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'

const DIST = new URL('../../dist', import.meta.url).pathname
const MODULES = new URL('../../node_modules', import.meta.url).pathname
const TOKEN = '7000001:rehearsal'

/** A part of the program as the build names it, with the hash of its content. */
const PART = /\b([\w-]+-[A-Z0-9]{8})\.js\b/g

/** Installs the program into a folder; another version has its parts under other names. */
function install(app: string, version: 'first' | 'next'): void {
  mkdirSync(app, { recursive: true })
  cpSync(DIST, join(app, 'dist'), {
    recursive: true,
    filter: (path) => !/\/dist\/(test|bench|client|soak)$/.test(path),
  })
  writeFileSync(join(app, 'package.json'), '{ "name": "parley", "version": "0.1.0", "type": "module" }')
  symlinkSync(MODULES, join(app, 'node_modules'))
  if (version === 'first') return
  for (const name of readdirSync(join(app, 'dist'))) {
    if (!name.endsWith('.js')) continue
    const [from, to] = [join(app, 'dist', name), join(app, 'dist', name.replace(PART, '$1N.js'))]
    renameSync(from, to)
    writeFileSync(to, readFileSync(to, 'utf8').replace(PART, '$1N.js'))
  }
}

function start(app: string, folder: string): { readonly child: ChildProcess; printed(text: string): Promise<string> } {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, PARLEY_CONFIG: join(folder, 'parley.yaml') }
  const child = spawn(process.execPath, [join(app, 'dist/main.js'), 'start'], { env, cwd: folder })
  onTestFinished(() => void child.kill('SIGKILL'))
  let all = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (all += piece))
  return {
    child,
    async printed(text) {
      while (!all.includes(text)) {
        if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${all}`)
        await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), once(child, 'close')])
      }
      return all
    },
  }
}

it.each([
  ['a message', 'while it was replaced', 'echo while it was replaced'],
  ['a command', '/remind in 2 hours put the kettle on', 'I remind you here'],
])(
  'a daemon whose program is replaced says so at %s and ends for a restart, which answers it',
  async (_kind, text, answer) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-replaced-'))
    const telegram = await startTelegramServer({ bots: [{ token: TOKEN }] })
    const openai = await startOpenAiServer()
    onTestFinished(async () => {
      await Promise.all([telegram.close(), openai.close()])
      rmSync(folder, { recursive: true, force: true })
    })
    telegram.world.addUser({ id: 111, firstName: 'Ada' })
    writeFileSync(
      join(folder, 'parley.yaml'),
      `people: { ada: { role: owner, ids: ["telegram:111"] } }
agents: [{ id: main, model: openai/rehearsal }]
models: { openai: { apiKey: rehearsal-key, baseUrl: "${openai.baseUrl}" } }
channels: { telegram: { accounts: { default: { token: "${TOKEN}", apiRoot: "${telegram.apiRoot}" } } } }
`,
    )
    const app = join(folder, 'lib/parley')
    install(app, 'first')
    const first = start(app, folder)
    await first.printed('Stop with Ctrl-C')

    // As npm does: the folder is moved away, the other version comes in its place, and the old one is deleted.
    renameSync(app, join(folder, 'lib/.parley-old'))
    install(app, 'next')
    rmSync(join(folder, 'lib/.parley-old'), { recursive: true })
    telegram.world.say({ from: 111, text })
    await first.printed('Another version of Parley was installed while this one runs')
    if (first.child.exitCode === null) await once(first.child, 'close')
    expect(first.child.exitCode).toBe(1)
    expect(telegram.ledger.entries.filter((entry) => entry.kind === 'message' && entry.botId !== null)).toEqual([])

    await start(app, folder).printed('Stop with Ctrl-C')
    // The text may grow in edits.
    const shown = (text: string) =>
      telegram.ledger.next((entry) => entry.kind === 'message' && entry.botId !== null && entry.text.includes(text))
    await shown(answer)
    telegram.world.say({ from: 111, text: 'and after' })
    await shown('echo and after')
    const said = telegram.ledger.entries.filter(
      (entry) => entry.kind === 'message' && entry.botId !== null && entry.change === 'sent',
    )
    expect(said).toHaveLength(2)
  },
)
