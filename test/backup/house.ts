import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { startTelegramServer, type TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { DaemonChild, PRODUCT } from '../faults/daemon-child.ts'

export const ADA = 111
export const BOB = 444
export const TOKEN = '7000001:canary-of-the-bot-token'

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly entry?: string
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  readonly gid?: number
}

export interface House {
  readonly folder: string
  readonly telegram: TelegramServer
  readonly configFile: string
  /** The state folder. */
  readonly state: string
  /** A daemon of the built program on the state folder. */
  daemon(as?: RunOptions): DaemonChild
  /** Runs a command of the built program. */
  run(command: readonly string[], options?: RunOptions): Promise<Ended>
  /** Makes a copy and returns its folder. */
  backup(...more: readonly string[]): Promise<string>
  /** Ada says something and has its answer. */
  heard(text: string, from?: number): Promise<void>
  /** Makes each later message younger than the start before it by more than the platform's second. */
  later(): void
}

/** A telegram bot that answers with an echo, run by the built program, with a folder that all of it is in. */
export async function startHouse(more: Readonly<Record<string, unknown>> = {}): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-backup-'))
  chmodSync(folder, 0o755)
  let aheadMs = 0
  const bots = [{ token: TOKEN, canReadAllGroupMessages: true }]
  const telegram = await startTelegramServer({ bots, now: () => Date.now() + aheadMs })
  telegram.world.addUser({ id: ADA, firstName: 'Ada' })
  telegram.world.addUser({ id: BOB, firstName: 'Bob' })
  telegram.world.addUser({ id: BOB + 1, firstName: 'Cleo' })
  mkdirSync(join(folder, 'config'))
  const configFile = join(folder, 'config', 'parley.yaml')
  const accounts = { default: { token: '$' + '{env:TELEGRAM_BOT_TOKEN}', apiRoot: telegram.apiRoot } }
  const people = { ada: { role: 'owner', ids: [`telegram:${ADA}`] } }
  const agents = [{ id: 'main', model: 'scripted/echo' }]
  const routing = { access: { direct: 'public' } }
  const settings = { people, agents, routing, channels: { telegram: { accounts } }, ...more }
  writeFileSync(configFile, JSON.stringify(settings, null, 1))
  const env = { TELEGRAM_BOT_TOKEN: TOKEN, XDG_STATE_HOME: folder, STATE_DIRECTORY: '', HOME: folder }
  const logFile = join(folder, 'daemon.log')
  writeFileSync(logFile, '')
  const daemons: DaemonChild[] = []
  onTestFinished(async () => {
    for (const child of daemons) if (child.running) await child.kill()
    await telegram.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const run: House['run'] = (command, { entry = PRODUCT, env: given = {}, ...as } = {}) =>
    promisify(execFile)(process.execPath, [entry, ...command], {
      ...as,
      env: { PATH: process.env.PATH ?? '', ...env, PARLEY_CONFIG: configFile, ...given },
      cwd: folder,
    }).then(
      (out) => ({ code: 0, ...out }),
      (error) => error,
    )
  return {
    ...{ folder, telegram, configFile, run },
    state: join(folder, 'parley'),
    daemon({ env: given = {}, ...as } = {}) {
      const child = new DaemonChild({
        ...{ entry: PRODUCT, args: ['start'], logFile, telegram, ...as },
        env: { ...env, PARLEY_CONFIG: configFile, ...given },
      })
      daemons.push(child)
      return child
    },
    async backup(...more) {
      const { code, stdout, stderr } = await run(['backup', ...more, '--json'])
      if (code !== 0) throw new Error(`the backup ended with ${code}: ${stderr}`)
      return JSON.parse(stdout).path
    },
    later() {
      aheadMs = 2_000
    },
    async heard(text, from = ADA) {
      const { world, ledger } = telegram
      const mark = ledger.mark()
      world.say({ from, text })
      await ledger.nextFromBot('sent', { after: mark, where: (entry) => entry.text.includes(`echo ${text}`) })
    },
  }
}

/** Returns the names in a folder; none where there is no folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    return []
  }
}
