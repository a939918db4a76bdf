import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ChannelPlugin } from '../channels/adapter.ts'
import type { ChannelSetup, Examination, ExamineRequest } from '../channels/setup.ts'
import { DEFAULT_PROMPT } from '../config/build-agents.ts'
import { databaseFile, environmentFor, findConfigFile, type Surroundings, usualConfigFile } from '../config/places.ts'
import { type ChannelCatalogue, traitsOf } from '../config/schema.ts'
import { createChannels } from '../core/channel-traits.ts'
import { systemClock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { silentLogger } from '../core/logger.ts'
import type { PeerKind } from '../core/peer-setup.ts'
import { findPeer, readPeer } from '../imports/read-peer.ts'
import { prettyLine } from '../platform/pino-logger.ts'
import type { CronText } from '../schedule/check-cron.ts'
import { tryModel } from './try-model.ts'

type Plugins = Readonly<Record<string, ChannelPlugin<never>>> & ChannelCatalogue
type Asked = Pick<ExamineRequest, 'beside' | 'signal'>

/** The calendar is loaded for whoever has schedules. */
async function checkTiming(timing: CronText) {
  return (await import('../schedule/check-cron.ts')).checkTiming(timing)
}

/** Returns what the guided start needs from outside of the command line. Rejects with `no_driver`. */
export async function createSetupPorts(plugins: Plugins, around: Surroundings) {
  // Nobody is to answer questions for a store that cannot open.
  await import('../store/engines/sqlite-driver.ts')
  const platforms = Object.entries(plugins).map(async ([id, plugin]) => {
    const { examine, ...setup } = (await plugin.loadSetup()) as ChannelSetup<never>
    return {
      ...setup,
      id,
      examine: (account: string, settings: unknown, asked: Asked) =>
        examineWith({ examine, schema: plugins[id]?.configSchema }, { id, account, settings }, asked),
    }
  })
  const variable = (name: string) => around.env[name]?.trim() || undefined
  const rules = { channels: createChannels(traitsOf(plugins)), prompt: DEFAULT_PROMPT, checkTiming, variable }
  return {
    platforms: await Promise.all(platforms),
    placeOf: (path?: string) => placeOf(path, around),
    tryModel: (models: Parameters<typeof tryModel>[0]['models'], id: string, trial: Parameters<typeof tryModel>[2]) =>
      tryModel({ models, scriptFolder: around.cwd }, id, trial),
    async readPeer(kind: PeerKind, folder?: string) {
      const home = around.env.HOME || around.home || ''
      const found = folder ?? (await findPeer(kind, home))
      if (found !== undefined) return readPeer(kind, found, rules)
      throw new ParleyError('invalid', `No folder of ${kind} is at its usual place; name it with --folder.`)
    },
    startDaemon,
  }
}

interface Examined {
  readonly examine: ChannelSetup<never>['examine']
  readonly schema: Plugins[string]['configSchema'] | undefined
}

interface Account {
  readonly id: string
  readonly account: string
  readonly settings: unknown
}

async function examineWith(
  { examine, schema }: Examined,
  { id, account, settings }: Account,
  asked: Asked,
): Promise<Examination> {
  const parsed = schema?.safeParse(settings)
  if (!parsed?.success) {
    const says = parsed?.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ') ?? ''
    const remedy = 'enter the values as the platform gives them'
    return { findings: [{ part: id, check: 'token', state: 'failed', says, remedy }] }
  }
  const services = { clock: systemClock, logger: silentLogger, random: Math.random }
  return examine({ account, config: parsed.data as never, services }, { ...asked, places: [] })
}

function placeOf(path: string | undefined, around: Surroundings): { readonly file: string; readonly dataDir: string } {
  const { service: _unasked, ...own } = around
  const file = findConfigFile(path, own) ?? usualConfigFile(own)
  if (file === undefined)
    throw new ParleyError('config', 'There is no folder for the configuration: set HOME, or name a file with --config.')
  const { env } = environmentFor(file, around)
  return { file, dataDir: dirname(databaseFile('sqlite:parley.db', { ...around, env })) }
}

/** The last lines of the output of a daemon, which say why it has ended. */
const KEPT = 2_000

/** Starts the daemon in a process group of its own: a Ctrl-C is for the command, which then stops it. */
function startDaemon(file: string) {
  const main = fileURLToPath(new URL('main.js', import.meta.url))
  const child = spawn(process.execPath, [main, 'start', '--config', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  let isPretty = false
  let write = (text: string): void => {
    output = `${output}${text}`.slice(-KEPT)
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => write(text))
  createInterface({ input: child.stderr }).on('line', (line) => write(isPretty ? forPeople(line) : `${line}\n`))
  const ended = once(child, 'close').then(([code]) => ({ code: Number(code ?? 1), output: output.trim() }))
  const interrupt = (): void => void child.kill('SIGTERM')
  return {
    ended,
    interrupt,
    show(to: (text: string) => void, pretty: boolean): void {
      write = to
      isPretty = pretty
    },
    async stop(): Promise<void> {
      if (!child.killed) interrupt()
      await ended
    },
  }
}

/** Returns a line of a log as a terminal shows it; a line of another kind stays as it is. */
function forPeople(line: string): string {
  return line.startsWith('{"level":') ? prettyLine(line, true) : `${line}\n`
}
