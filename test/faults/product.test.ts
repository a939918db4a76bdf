import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { EXIT } from '../../src/core/errors.ts'
import { startTelegramServer, type TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { DaemonChild, PRODUCT } from './daemon-child.ts'
import { CASE } from './rounds.ts'

const ADA = 111
const TOKEN = '7000001:canary-of-the-bot-token'
const CLUB = -1001000000001

interface Installed {
  readonly telegram: TelegramServer
  readonly logFile: string
  /** A process of the built program, configured by a file, on the one state folder. */
  process(): DaemonChild
  /** Returns what a command of the program prints beside it. */
  run(...command: readonly string[]): Promise<string>
}

/** Takes every byte that is written to it as a disk without room does; only Linux has it. */
const FULL_DISK = '/dev/full'

async function install(log?: string): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-product-'))
  const telegram = await startTelegramServer({ bots: [{ token: TOKEN, canReadAllGroupMessages: true }] })
  telegram.world.addUser({ id: ADA, firstName: 'Ada' })
  const configFile = join(folder, 'parley.yaml')
  const logFile = log ?? join(folder, 'daemon.log')
  if (log === undefined) writeFileSync(logFile, '')
  const accounts = { default: { token: reference('TELEGRAM_BOT_TOKEN'), apiRoot: telegram.apiRoot } }
  const people = { ada: { role: 'owner', ids: [`telegram:${ADA}`] } }
  const agents = [{ id: 'main', model: 'scripted/echo' }]
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify({ people, agents, channels: { telegram: { accounts } } }))
  const env = { TELEGRAM_BOT_TOKEN: TOKEN, XDG_STATE_HOME: folder, STATE_DIRECTORY: '' }
  const args = ['start', '--config', configFile]
  const processes: DaemonChild[] = []
  onTestFinished(async () => {
    for (const child of processes) if (child.running) await child.kill()
    await telegram.close()
    rmSync(folder, { recursive: true })
  })
  return {
    telegram,
    logFile,
    process() {
      const child = new DaemonChild({ entry: PRODUCT, args, env, logFile, telegram })
      processes.push(child)
      return child
    },
    async run(...command) {
      const given = { env: { ...process.env, ...env } }
      return (await promisify(execFile)(process.execPath, [PRODUCT, ...command, '--config', configFile], given)).stdout
    },
  }
}

/** To a variable of the environment. */
function reference(name: string): string {
  return `\${env:${name}}`
}

describe('the built program', CASE, () => {
  it('F-A23: a second one on the same state exits with 75 within 2 s and polls nothing', async () => {
    const { telegram, process } = await install()
    const begun = performance.now()
    const first = process()
    await first.start()
    const mark = telegram.ledger.mark()
    const from = performance.now()
    const second = process()
    second.spawn()
    expect(await second.exited()).toEqual({ code: EXIT.locked, signal: null })
    // On a busy machine the first one took its time too.
    expect(performance.now() - from).toBeLessThan(Math.max(2_000, 4 * (from - begun)))
    // The first one may still be putting up its menu.
    const calls = telegram.ledger.all((entry) => entry.kind === 'call' && !/MyCommands$/.test(entry.method), mark)
    expect(calls).toEqual([])
    expect(telegram.ledger.count(({ kind }) => kind === 'poll', mark)).toBe(0)
    telegram.world.say({ from: ADA, text: 'still there?' })
    await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'echo still there?' })
    expect(await first.terminate()).toEqual({ code: EXIT.ok, signal: null })
  })

  it('K30: killed again and again it goes on where it was, and its log holds no token', async () => {
    const { telegram, logFile, process } = await install()
    const daemon = process()
    for (const text of ['one', 'two']) {
      await daemon.start()
      telegram.world.say({ from: ADA, text })
      await telegram.ledger.nextFromBot('sent', { where: (entry) => entry.text === `echo ${text}` })
      await daemon.kill()
    }
    await daemon.start()
    telegram.world.say({ from: ADA, text: 'three' })
    await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'echo three' })
    expect(await daemon.terminate()).toEqual({ code: EXIT.ok, signal: null })
    expect(readFileSync(logFile, 'utf8')).not.toContain(TOKEN)
  })

  it.runIf(existsSync(FULL_DISK))(
    'F-F01: a log that nothing can be written to ends nothing and stops no turn',
    async () => {
      const { telegram, process } = await install(FULL_DISK)
      const daemon = process()
      await daemon.start()
      telegram.world.say({ from: ADA, text: 'hello' })
      await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'echo hello' })
      expect(await daemon.terminate()).toEqual({ code: EXIT.ok, signal: null })
    },
  )

  it('a renamed topic has its new title in sessions list, also once the daemon was killed', async () => {
    const { telegram, process, run } = await install()
    const { world, ledger } = telegram
    world.addChat({ type: 'supergroup', title: 'Club', id: CLUB, forum: true, members: [ADA] })
    const topic = world.addTopic({ chat: CLUB, name: 'Rowing' })
    const listAfter = async (text: string): Promise<string> => {
      const mark = ledger.mark()
      world.say({ from: ADA, chat: CLUB, topic, text: `@${world.bot().user.username} ${text}` })
      await ledger.nextFromBot('sent', { after: mark, where: ({ chatId }) => chatId === CLUB })
      return await run('sessions', 'list')
    }
    const daemon = process()
    await daemon.start()
    expect(await listAfter('one')).toContain('Club › Rowing')
    world.renameTopic({ chat: CLUB, topic, name: 'Boats', by: ADA })
    expect(await listAfter('two')).toContain('Club › Boats')
    await daemon.kill()
    await daemon.start()
    expect(await listAfter('three')).toContain('Club › Boats')
    expect(await daemon.terminate()).toEqual({ code: EXIT.ok, signal: null })
  })

  it('SIGUSR1, which by itself opens a debugger to every user of the machine, is refused in the log', async () => {
    const { telegram, process } = await install()
    const daemon = process()
    const listening = daemon.start()
    // The first line of its log: it is far from ready.
    await vi.waitFor(() => expect(daemon.logTail()).toContain('A new database was made'), { timeout: 60_000 })
    daemon.signal('SIGUSR1')
    await listening
    await vi.waitFor(() => expect(daemon.logTail()).toContain('SIGUSR1 does nothing'), { timeout: 20_000 })
    telegram.world.say({ from: ADA, text: 'still there?' })
    await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'echo still there?' })
    expect(await daemon.terminate()).toEqual({ code: EXIT.ok, signal: null })
    expect(daemon.logTail()).not.toContain('Debugger')
  })

  it.each([
    ['is not installed', undefined, /Cannot find module/],
    [
      'was not compiled',
      "throw new Error('Could not locate the bindings file. Tried:\\n one\\n two')",
      /Could not locate/,
    ],
  ])('where the SQLite driver %s it ends with 78 and one line that names the remedy', async (_, driver, reason) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-product-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    cpSync(dirname(PRODUCT), join(folder, 'dist'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    for (const name of driver === undefined ? [] : ['better-sqlite3', 'better-sqlite3-12']) {
      mkdirSync(join(folder, 'node_modules', name), { recursive: true })
      writeFileSync(
        join(folder, 'node_modules', name, 'index.js'),
        `module.exports = class { constructor() { ${driver} } }`,
      )
    }
    const env = { PATH: process.env.PATH, HOME: folder, TELEGRAM_BOT_TOKEN: TOKEN }
    const main = join(folder, 'dist', basename(PRODUCT))
    const failure = await promisify(execFile)(process.execPath, [main, 'start'], { env }).catch((error) => error)
    expect(failure).toMatchObject({ code: EXIT.config, stdout: '' })
    expect(failure.stderr).toMatch(/^SQLite does not load on Node v[^\n]* "?npm (?:ci|install)[^\n]*\n$/)
    expect(failure.stderr).not.toContain('Tried')
    expect(failure.stderr).toMatch(reason)
  })
})
