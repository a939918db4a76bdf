import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { SERVICE_PLACES } from '../../config/places.ts'
import { sizeInWords } from '../../core/content-words.ts'
import { EXIT, ParleyError } from '../../core/errors.ts'
import type { DataPlaces, Machine, OwnData } from '../../core/machine.ts'
import { connectLocal } from '../local-client.ts'
import type { CliPorts, LoadedConfig } from '../ports.ts'
import { oneLine } from '../print/plain.ts'
import {
  checkWritable,
  type Installation,
  installationOf,
  oldPrograms,
  runNpm,
  sizeOf,
} from '../service/installation.ts'
import type { ServiceManager } from '../service/manager.ts'
import { type ReadOptions, show } from '../show.ts'
import { askedConfig, checkConfig, endService, findService } from './service.ts'

type UninstallPorts = Pick<
  CliPorts,
  'env' | 'cwd' | 'stdout' | 'stderr' | 'load' | 'machine' | 'ownData' | 'removeData'
>

export interface UninstallOptions extends ReadOptions {
  readonly yes?: boolean
  readonly purge?: boolean
}

/** Something of Parley on this machine, or something of others that lies beside its data. */
interface Trace {
  readonly what: string
  readonly path: string
  /** Absent for what others have put beside the data: it may be a whole home. */
  readonly bytes?: number
  readonly removed: boolean
}

/** Names everything of Parley on this machine; with `yes` removes service and program, with `purge` the data too. */
export async function uninstall(ports: UninstallPorts, options: UninstallOptions): Promise<number> {
  const machine = await ports.machine()
  const manager = await findService(ports, machine, {})
  checkConfig(manager.file, askedConfig(ports, options))
  const place = installationOf(machine)
  const where = await placesOf(ports, options, manager)
  const own = await ports.ownData(where.data, where.loaded)
  const { home } = machine.user
  const found = { traces: tracesOf({ manager, place, where, own, home, old: oldPrograms(machine) }, options), own }
  if (!options.yes) {
    show(ports, options, { value: found.traces, lines: () => describe(found, options) })
    if (!found.traces.some(({ removed }) => removed)) return EXIT.ok
    ports.stderr.write('Nothing was removed. Do it: the same command with --yes\n')
    return EXIT.failed
  }
  if (place.kind === 'npm') checkWritable(place)
  const isStopped = () => checkStopped(where.data.dataDir)
  const undone = existsSync(manager.file) ? await endService(machine, manager, isStopped) : undefined
  await isStopped()
  if (options.purge) await ports.removeData(where.data, where.loaded)
  const lines = describe(found, options)
  if (place.kind === 'npm') await removeProgram(machine, place)
  show(ports, options, { value: found.traces, lines: () => lines })
  if (undone !== undefined) ports.stderr.write(`${undone}\n`)
  return EXIT.ok
}

interface Places {
  readonly data: DataPlaces
  readonly backups: readonly string[]
  readonly config: string | undefined
  /** Absent where the configuration of the service cannot be read: an encrypted database is then not recognised. */
  readonly loaded?: LoadedConfig
}

/** The folders of a service of the system are systemd's, those of anything else the user's. */
async function placesOf(ports: UninstallPorts, options: UninstallOptions, manager: ServiceManager): Promise<Places> {
  const system = manager.scope === 'system' && existsSync(manager.file)
  if (system) {
    // systemd itself leads from these names to where the folders lie.
    const loaded = await Promise.resolve(ports.load(SERVICE_PLACES.config, 'ask')).catch(() => undefined)
    const data = dataOfService(loaded, real(SERVICE_PLACES.data), real('/var/cache/parley'))
    return {
      ...{ data, config: dirname(SERVICE_PLACES.config) },
      ...{ backups: backupsOf(loaded, data.dataDir), ...(loaded ? { loaded } : {}) },
    }
  }
  const loaded = await ports.load(options.config, 'ask')
  const { dataDir, file, store } = loaded.config
  const caches = ports.env.XDG_CACHE_HOME || (ports.env.HOME && join(ports.env.HOME, '.cache'))
  return {
    ...{ data: { dataDir, path: store.path, cache: caches ? join(caches, 'parley') : undefined } },
    ...{ backups: backupsOf(loaded, dataDir), config: file && dirname(file), loaded },
  }
}

/**
 * Returns the places that the configuration of a service names. Without its state folder the configuration is read as
 * one of root, whose data is another bot's: then the places are those of systemd.
 */
export function dataOfService(loaded: LoadedConfig | undefined, state: string, cache: string): DataPlaces {
  if (loaded === undefined || !existsSync(state)) return { dataDir: state, path: join(state, 'parley.db'), cache }
  const { dataDir, store } = loaded.config
  return { dataDir: real(dataDir), path: store.path, cache }
}

function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

/** The folders of copies stay, wherever they lie. */
function backupsOf(loaded: LoadedConfig | undefined, dataDir: string): readonly string[] {
  const to = loaded?.config.backup?.to
  return [join(dataDir, 'backups'), ...(to === undefined ? [] : [to])]
}

interface Found {
  readonly manager: ServiceManager
  readonly place: Installation
  readonly where: Places
  readonly own: OwnData
  readonly home: string
  readonly old: string
}

/** Returns the files in which "parley completions" was made known to a shell; each is the user's to change. */
function completionsIn(home: string): readonly string[] {
  const files = ['.bashrc', '.bash_profile', '.zshrc', '.config/fish/completions/parley.fish']
  return files
    .map((name) => join(home, name))
    .filter((file) => existsSync(file) && readFileSync(file, 'utf8').includes('parley completions'))
}

function tracesOf(
  { manager, place, where, own, home, old }: Found,
  { purge = false }: UninstallOptions,
): readonly Trace[] {
  const sum = (of: 'data' | 'cache') =>
    own.files.filter((file) => file.of === of).reduce((all, { bytes }) => all + bytes, 0)
  const { dataDir, cache } = where.data
  const entries = new Map<string, number>()
  for (const { path, bytes, of } of own.files) {
    const entry = join(dataDir, relative(dataDir, path).split('/')[0] ?? '')
    if (of === 'data') entries.set(entry, (entries.get(entry) ?? 0) + bytes)
  }
  const known = [
    { what: 'service', path: manager.file, removed: true },
    { what: place.kind === 'npm' ? 'program' : 'checkout', path: place.program, removed: place.kind === 'npm' },
    ...(purge
      ? [...entries].map(([path, bytes]) => ({ what: 'data', path, bytes, removed: true }))
      : [{ what: 'data', path: dataDir, bytes: sum('data'), removed: false }]),
    { what: 'compiled code', path: cache, bytes: sum('cache'), removed: purge },
    ...where.backups.map((path) => ({ what: 'backups', path, removed: false })),
    { what: 'old programs', path: old, removed: false },
    { what: 'configuration and secrets', path: where.config, removed: false },
    ...completionsIn(home).map((path) => ({ what: 'completions for a shell', path, removed: false })),
  ]
  const traces = known.flatMap(({ path, bytes, ...one }): readonly Trace[] =>
    path && isThere(path, bytes) ? [{ ...one, path, bytes: bytes ?? sizeOf(realpathSync(path)) }] : [],
  )
  const others = own.left.filter((path) => !where.backups.includes(path))
  return purge ? [...traces, ...others.map((path) => ({ what: 'other', path, removed: false }))] : traces
}

/** A folder without any data of Parley, and a cache that is empty, are nothing of it. */
function isThere(path: string, bytes: number | undefined): boolean {
  return bytes === undefined || bytes > 0
    ? existsSync(path)
    : lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** So many are named: beside the data may lie a whole home. */
const MOST_OTHERS = 20

function describe(
  { traces, own }: { readonly traces: readonly Trace[]; readonly own: OwnData },
  { yes, purge }: UninstallOptions,
): readonly string[] {
  const line = ({ what, path, bytes }: Trace) =>
    `  ${what}: ${oneLine(path)}${bytes === undefined ? '' : ` (${sizeInWords(bytes)})`}`
  const [gone, stay] = [traces.filter(({ removed }) => removed), traces.filter(({ removed }) => !removed)]
  const others = stay.filter(({ what }) => what === 'other')
  const named = [...stay.filter(({ what }) => what !== 'other'), ...others.slice(0, MOST_OTHERS)]
  const more = others.length - MOST_OTHERS
  return [
    ...(gone.length === 0 ? ['There is nothing to remove.'] : [yes ? 'Removed:' : 'This removes:', ...gone.map(line)]),
    ...(stay.length > 0 ? ['', yes ? 'Left on this machine:' : 'This leaves:', ...named.map(line)] : []),
    ...(more > 0 ? [`  and ${more} more beside them`] : []),
    ...(purge && own.unknown !== undefined ? [`  ${own.unknown} So no data is removed.`] : []),
    ...(purge || yes ? [] : ['  --purge removes the data too, without a way back. First: parley backup <folder>']),
    '',
    'At the platforms stay: the bots, their lists of commands, and an address to',
    'which a webhook calls. Revoke the token of each bot there, which ends all of it.',
  ]
}

async function checkStopped(state: string): Promise<void> {
  const daemon = await connectLocal(join(state, 'parley.sock')).catch(() => undefined)
  if (daemon !== undefined)
    throw new ParleyError('store_locked', 'A daemon still runs, started by hand.\nEnd it with Ctrl-C, then try again.')
}

async function removeProgram(
  machine: Machine,
  { where, program }: Extract<Installation, { kind: 'npm' }>,
): Promise<void> {
  const done = await runNpm(machine, ['npm', 'uninstall', ...where, 'parley'])
  if (done.code !== 0 || existsSync(join(program, 'dist')))
    throw new ParleyError('unavailable', `npm did not remove ${program}:\n${done.stderr.trim().split('\n')[0]}`)
}
