import { existsSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { STATE_NAMES } from '../../core/backup.ts'
import { sizeInWords } from '../../core/content-words.ts'
import { EXIT, ParleyError } from '../../core/errors.ts'
import type { Machine } from '../../core/machine.ts'
import { connectLocal } from '../local-client.ts'
import type { CliPorts } from '../ports.ts'
import { checkWritable, type Installation, installationOf, runNpm, sizeOf } from '../service/installation.ts'
import type { ServiceManager } from '../service/manager.ts'
import { type ReadOptions, show } from '../show.ts'
import { findService, removeService, SYSTEM_CONFIG } from './service.ts'

type UninstallPorts = Pick<CliPorts, 'env' | 'cwd' | 'stdout' | 'stderr' | 'load' | 'machine'>

export interface UninstallOptions extends ReadOptions {
  readonly yes?: boolean
  readonly purge?: boolean
}

/** Something of Parley on this machine. */
interface Trace {
  readonly what: string
  readonly path: string
  readonly bytes: number
  readonly removed: boolean
}

/** Names everything of Parley on this machine; with `yes` removes service and program, with `purge` the data too. */
export async function uninstall(ports: UninstallPorts, options: UninstallOptions): Promise<number> {
  const machine = await ports.machine()
  const manager = await findService(ports, machine, {})
  const place = installationOf(machine)
  const folders = await foldersOf(ports, options, manager)
  const traces = tracesOf({ ports, manager, place, folders }, options)
  if (!options.yes) {
    show(ports, options, { value: traces, lines: () => describe(traces, options) })
    ports.stderr.write('Nothing was removed. Do it: the same command with --yes\n')
    return EXIT.failed
  }
  if (place.kind === 'npm') checkWritable(place)
  if (existsSync(manager.file)) await removeService(machine, manager)
  await checkStopped(folders.state)
  if (options.purge) purge(folders)
  const lines = describe(traces, options)
  if (place.kind === 'npm') await removeProgram(machine, place)
  show(ports, options, { value: traces, lines: () => lines })
  return EXIT.ok
}

interface Folders {
  readonly state: string
  /** The name of the database in it. */
  readonly database: string
  readonly cache: string | undefined
  readonly config: string | undefined
}

/** The folders of a service of the system are systemd's, those of anything else the user's. */
async function foldersOf(ports: UninstallPorts, options: UninstallOptions, manager: ServiceManager): Promise<Folders> {
  const system = manager.scope === 'system' && existsSync(manager.file)
  if (system)
    return {
      state: '/var/lib/parley',
      database: 'parley.db',
      cache: '/var/cache/parley',
      config: dirname(SYSTEM_CONFIG),
    }
  const { dataDir, file, store } = (await ports.load(options.config, 'ask')).config
  const caches = ports.env.XDG_CACHE_HOME || (ports.env.HOME && join(ports.env.HOME, '.cache'))
  return {
    ...{ state: dataDir, database: basename(store.path) },
    cache: caches ? join(caches, 'parley') : undefined,
    config: file && dirname(file),
  }
}

const STATE = 'data'
const CACHE = 'compiled code'

/** The folder of copies in that of the data, which stays. */
const BACKUPS = 'backups'

interface Found {
  readonly ports: UninstallPorts
  readonly manager: ServiceManager
  readonly place: Installation
  readonly folders: Folders
}

function tracesOf({ manager, place, folders }: Found, { purge = false }: UninstallOptions): readonly Trace[] {
  const backups = join(folders.state, BACKUPS)
  const found = [
    { what: 'service', path: manager.file, removed: true },
    { what: place.kind === 'npm' ? 'program' : 'checkout', path: place.program, removed: place.kind === 'npm' },
    { what: STATE, path: folders.state, removed: purge },
    { what: CACHE, path: folders.cache, removed: purge },
    { what: 'backups', path: backups, removed: false },
    { what: 'configuration and secrets', path: folders.config, removed: false },
  ]
  return found.flatMap(({ path, ...one }) => {
    if (!path || !existsSync(path)) return []
    const bytes = sizeOf(realpathSync(path)) - (one.what === STATE ? sizeOf(backups) : 0)
    return [{ ...one, path, bytes }]
  })
}

function describe(traces: readonly Trace[], { yes, purge }: UninstallOptions): readonly string[] {
  const line = ({ what, path, bytes }: Trace) => `  ${what}: ${path} (${sizeInWords(bytes)})`
  const [gone, stay] = [traces.filter(({ removed }) => removed), traces.filter(({ removed }) => !removed)]
  return [
    yes ? 'Removed:' : 'This removes:',
    ...gone.map(line),
    ...(stay.length > 0 ? ['', yes ? 'Left on this machine:' : 'This leaves:', ...stay.map(line)] : []),
    ...(purge || yes ? [] : ['  --purge removes the data too, without a way back: "parley backup <folder>" first.']),
    '',
    'At the platforms stay: the bots, their lists of commands, and an address to which a webhook calls. Revoke',
    'the token of each bot there, which ends all of it.',
  ]
}

/** Removes the data, but for backups and for files that others have put beside it: the folder may be any one. */
function purge({ state, database, cache }: Folders): void {
  if (existsSync(state)) {
    const folder = realpathSync(state)
    for (const name of readdirSync(folder))
      if ((STATE_NAMES.test(name) && name !== BACKUPS) || name.startsWith(database))
        rmSync(join(folder, name), { recursive: true, force: true })
    removeEmpty(folder)
  }
  if (cache && existsSync(cache)) {
    const folder = realpathSync(cache)
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true })
    removeEmpty(folder)
  }
}

function removeEmpty(folder: string): void {
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}

async function checkStopped(state: string): Promise<void> {
  const daemon = await connectLocal(join(state, 'parley.sock')).catch(() => undefined)
  if (daemon !== undefined)
    throw new ParleyError('store_locked', 'A daemon still runs, started by hand. End it with Ctrl-C, then try again.')
}

async function removeProgram(
  machine: Machine,
  { where, program }: Extract<Installation, { kind: 'npm' }>,
): Promise<void> {
  const done = await runNpm(machine, ['npm', 'uninstall', ...where, 'parley'])
  if (done.code !== 0 || existsSync(join(program, 'dist')))
    throw new ParleyError('unavailable', `npm did not remove ${program}: ${done.stderr.trim().split('\n')[0]}`)
}
