import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { filesBeside } from '../../config/copied-config.ts'
import { secretsIn } from '../../config/literal-secrets.ts'
import { SERVICE_PLACES, usualConfigFile } from '../../config/places.ts'
import { EXIT, ParleyError, toError } from '../../core/errors.ts'
import { type Machine, shellWord } from '../../core/machine.ts'
import { connectLocal } from '../local-client.ts'
import type { CliPorts, LoadedConfig } from '../ports.ts'
import { counted, oneLine } from '../print/plain.ts'
import { configAt, managerOf, runSteps, type ServiceManager, type ServiceState, unitAt } from '../service/manager.ts'
import {
  type Credential,
  differences,
  doubtOfVariable,
  type ServiceScope,
  type UnitFacts,
} from '../service/unit-file.ts'
import { type ReadOptions, show } from '../show.ts'
import { socketPathOf } from '../socket-path.ts'

export type ServicePorts = Pick<CliPorts, 'env' | 'cwd' | 'stdout' | 'stderr' | 'load' | 'machine'>

export interface ServiceOptions extends ReadOptions {
  readonly user?: boolean
  readonly system?: boolean
  readonly dryRun?: boolean
  readonly force?: boolean
}

/** All that an installation is made of. */
interface Plan {
  readonly machine: Machine
  readonly manager: ServiceManager
  readonly config: string
  readonly supplies: Supplies
  readonly options: ServiceOptions
}

/** Installs the service and starts it; resolves once the daemon is ready. */
export async function installService(ports: ServicePorts, options: ServiceOptions): Promise<number> {
  const { env, stderr } = ports
  const machine = await ports.machine()
  const scope = scopeOf(options, machine)
  const manager = managerOf(machine, scope, env)
  if (scope === 'user' && machine.user.uid === 0 && env.SUDO_USER) stderr.write(ofRoot(env.SUDO_USER))
  const config = configOf(ports, options, { scope, machine })
  const plan: Plan = { machine, manager, config, supplies: suppliesOf(config, machine, scope), options }
  checkProgram(plan)
  const loaded = await readConfig(ports, plan)
  const shipped = readFileSync(join(machine.program, 'systemd/parley.service'), 'utf8')
  const text = manager.text(shipped, factsOf(ports, plan))
  if (options.dryRun) return printPlan(ports, plan, text)
  checkRoot(machine, scope)
  const before = await manager.state()
  checkAlone(ports, plan)
  checkForeign(before, text, options)
  if (!options.force) checkConfig(manager.file, config, 'puts its own in its place')
  const socket = loaded && socketPathOf(loaded)
  if (!before.active && scope === 'user' && (await isRunning(socket)))
    throw new ParleyError('store_locked', RUNS_BY_HAND)
  mkdirSync(dirname(manager.file), { recursive: true })
  writeFileSync(manager.file, text, { mode: 0o644 })
  for (const line of plan.supplies.missing) stderr.write(`${line}\n`)
  stderr.write(`Wrote ${manager.file}.\nStarting; this ends when the daemon is ready.\n`)
  const failure = await runSteps(machine, manager.startSteps(before.active)).catch((error: Error) => error)
  if (failure === undefined && machine.platform === 'darwin') await waitFor(socket)
  const state = await manager.state()
  show(ports, options, { value: state, lines: () => describe(state, manager, machine) })
  if (failure === undefined && state.active) {
    for (const line of await downChannels(ports, plan)) stderr.write(`${line}\n`)
    return EXIT.ok
  }
  if (failure !== undefined) stderr.write(`${failure.message}\n`)
  stderr.write(`It does not run. Its log: ${manager.log}\n`)
  return EXIT.failed
}

/** A daemon runs without the channels whose secrets it does not have. */
async function downChannels(ports: ServicePorts, plan: Plan): Promise<readonly string[]> {
  // The first start makes the folder of a service of the system, in which its socket lies.
  const config = await readConfig(ports, plan)
  const daemon = config && (await connectLocal(socketPathOf(config)).catch(() => undefined))
  const status = await daemon?.status().catch(() => undefined)
  const down = status?.channels.filter((one) => one.status === 'down') ?? []
  return down.map(({ channel, detail = 'see parley status' }) => `${channel} is down: ${oneLine(detail)}`)
}

const RUNS_BY_HAND = 'A daemon runs already, started by hand.\nEnd it with Ctrl-C, then try again.'

/** Shows the service. Resolves with 1 where it does not run. */
export async function showService(ports: ServicePorts, options: ServiceOptions): Promise<number> {
  const machine = await ports.machine()
  const found = await findService(ports, machine, options)
  const { scope, file } = found
  const state: ServiceState =
    unitAt(file) === 'none'
      ? { scope, file, unit: 'none', active: false, state: 'not installed', enabled: false }
      : await found.state()
  show(ports, options, { value: state, lines: () => describe(state, found, machine) })
  return state.active ? EXIT.ok : EXIT.failed
}

/** Stops the service and removes its unit. What it has kept stays. */
export async function uninstallService(ports: ServicePorts, options: ServiceOptions): Promise<number> {
  const machine = await ports.machine()
  const manager = await findService(ports, machine, options)
  const steps = [...manager.stopSteps(), { command: ['rm', manager.file] } as const, ...manager.forgetSteps()]
  const end = (removed: boolean, lines: readonly string[]): number => {
    show(ports, options, { value: { file: manager.file, removed }, lines: () => lines })
    return EXIT.ok
  }
  if (options.dryRun)
    return end(
      false,
      steps.map(({ command }) => command.join(' ')),
    )
  const unit = unitAt(manager.file)
  if (unit === 'none') return end(false, [`There is no service: ${manager.file} does not exist.`])
  checkRoot(machine, manager.scope)
  const whose = configAt(manager.file)
  if (unit === 'foreign' && !options.force) throw foreignUnit(manager.file, 'removes')
  if (!options.force) checkConfig(manager.file, askedConfig(ports, options), 'removes it')
  const undone = await endService(machine, manager)
  if (undone !== undefined) ports.stderr.write(`${undone}\nWhether its daemon still runs, says: parley status\n`)
  return end(true, [
    `${undone === undefined ? 'The service is stopped, and ' : ''}${manager.file} is removed.`,
    ...(whose === undefined ? [] : [`It ran ${whose}.`]),
    'Its data, configuration and secrets stay; "parley uninstall" names them.',
  ])
}

/**
 * Stops a service and removes its file. Where its manager cannot be asked, removes the file alone once `mayRemove` has
 * not thrown, and returns what was not done.
 */
export async function endService(
  machine: Machine,
  manager: ServiceManager,
  mayRemove?: () => Promise<void>,
): Promise<string | undefined> {
  const trouble = await manager.state().then(
    () => undefined,
    (error: unknown) => toError(error).message,
  )
  if (trouble === undefined) await runSteps(machine, manager.stopSteps())
  else await mayRemove?.()
  rmSync(manager.file)
  if (trouble === undefined) await runSteps(machine, manager.forgetSteps())
  return trouble && `The service was only removed, not asked to stop. ${trouble}`
}

function ofRoot(user: string): string {
  return `This is about a service of root. For one of ${user}, type without sudo:\n  parley service install --user\n`
}

/** Returns the service that is installed; the asked one, or the usual one, where none is. */
export async function findService(
  ports: Pick<ServicePorts, 'env'>,
  machine: Machine,
  options: Pick<ServiceOptions, 'user' | 'system'>,
): Promise<ServiceManager> {
  const usual = managerOf(machine, scopeOf(options, machine), ports.env)
  if (options.user || options.system || machine.platform !== 'linux' || existsSync(usual.file)) return usual
  const other = managerOf(machine, usual.scope === 'user' ? 'system' : 'user', ports.env)
  return existsSync(other.file) ? other : usual
}

function scopeOf(
  { user, system }: Pick<ServiceOptions, 'user' | 'system'>,
  { user: { uid }, platform }: Machine,
): ServiceScope {
  if (user && system) throw new ParleyError('invalid', 'Choose --user or --system.')
  if (user) return 'user'
  return system || (uid === 0 && platform === 'linux') ? 'system' : 'user'
}

const SYSTEM_CONFIG = SERVICE_PLACES.config

function configOf(
  { env, cwd }: ServicePorts,
  options: ServiceOptions,
  { scope, machine }: { readonly scope: ServiceScope; readonly machine: Machine },
): string {
  const usual = scope === 'system' ? SYSTEM_CONFIG : usualConfigFile({ env, cwd, home: machine.user.home })
  const file = askedConfig({ env, cwd }, options) || usual
  if (file !== undefined && existsSync(file)) return realpathSync(file)
  const mine = usualConfigFile({ env, cwd, home: machine.user.home }) ?? '<file>'
  const remedy =
    scope === 'system'
      ? `Copy yours there:\n  sudo install -D -m 644 ${shellWord(mine)} ${SYSTEM_CONFIG}\nor name one with --config.`
      : 'Make one with "parley init", or name one with --config.'
  throw new ParleyError('config', `There is no configuration ${file ?? 'of this user'}.\n${remedy}`)
}

/** Returns the configuration; undefined where the service alone has all that it names. Throws `config`. */
async function readConfig(
  { load, env }: ServicePorts,
  { config, supplies }: Plan,
): Promise<LoadedConfig['config'] | undefined> {
  try {
    return (await load(config, 'ask')).config
  } catch (error) {
    if (supplies.credentials.length > 0 || supplies.names.some((name) => !env[name])) return undefined
    throw error
  }
}

/** The secrets, files and variables of a configuration, as its service will find them. */
interface Supplies {
  readonly credentials: readonly Credential[]
  /** The variables that it names. */
  readonly names: readonly string[]
  /** The file of variables for the service; it may be missing. */
  readonly variables: string
  /** Sentences on what the service will miss. */
  readonly missing: readonly string[]
  /** Sentences on what it cannot open at all. */
  readonly closed: readonly string[]
  /** The setting of a secret that stands in the configuration itself. */
  readonly literal: string | undefined
}

/** A service of the system runs as a user of its own, who opens no file of root: its secrets are credentials. */
function suppliesOf(config: string, { platform }: Machine, scope: ServiceScope): Supplies {
  const folder = dirname(config)
  const variables = join(folder, 'parley.env')
  const { files, variables: names, credentials: named, literal } = secretsIn(readFileSync(config, 'utf8'), folder)
  const credentials = named.map((name) => ({ name, file: join(folder, name) }))
  const set = existsSync(variables) ? readFileSync(variables, 'utf8').split('\n') : []
  const unset = names.filter(
    (name) => platform === 'darwin' || !set.some((line) => new RegExp(`^\\s*${name}\\s*=`).test(line)),
  )
  const doubts = platform === 'darwin' ? [] : names.flatMap((name) => doubtOfVariable(set, name) ?? [])
  const needed = [...credentials.map(({ file }) => file), ...(scope === 'user' ? files : [])]
  return {
    ...{ credentials, variables, names, literal },
    missing: [
      ...needed
        .filter((file) => !existsSync(file))
        .map((file) => `The service needs the secret ${file}: put it there (0600).`),
      ...(unset.length === 0 ? [] : ['The service does not see the variables of your shell.']),
      ...doubts.map((doubt) => `In ${variables}\n${doubt}.`),
      ...unset.map((name) =>
        platform === 'darwin'
          ? `Write \${file:${name}} for \${env:${name}}; put its value into\n  ${join(folder, name)} (0600).`
          : `Put ${name}=... into ${variables}`,
      ),
    ],
    closed: scope === 'user' ? [] : files.flatMap((file) => closedTo(file, config)),
  }
}

function closedTo(file: string, config: string): readonly string[] {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found !== undefined && (found.mode & OTHERS_READ) !== 0) return []
  const name = basename(file)
  const why = found === undefined ? `There is no ${file}` : `The service cannot read ${file}`
  const place = join(dirname(config), name)
  const keep = file === place ? [] : [`  sudo install -m 600 ${shellWord(file)} ${shellWord(place)}`]
  const written = `'s|\${file:[^}]*${name}}|\${credential:${name}}|'`
  return [`${why}. Name it as a credential:`, ...keep, `  sudo sed -i ${written} ${shellWord(config)}`]
}

const OTHERS_READ = 0o004

/** The folders that ProtectHome hides from a service of the system. */
const HOMES = /^\/(?:home|root|run\/user)\//

function checkProgram({ machine: { node, program }, manager, config, supplies }: Plan): void {
  if (!existsSync(join(program, 'dist/openapi.json')))
    throw new ParleyError('config', `${program} is not built. Run there: npm run build`)
  if (manager.scope === 'user') return
  const hidden = [realpathSync(node), program, config].find((path) => HOMES.test(path))
  if (hidden !== undefined)
    throw new ParleyError(
      'config',
      `${hidden} lies in a home folder,\nwhich a service of the system does not see (ProtectHome).\n` +
        (hidden === config
          ? `Move it to ${SYSTEM_CONFIG},`
          : 'Install Node and Parley for all users, in /usr or /usr/local,') +
        '\nor make it a service of the user: parley service install --user',
    )
  if ((statSync(config).mode & OTHERS_READ) === 0) {
    const { literal } = supplies
    const first =
      literal === undefined ? 'Run' : `A secret stands in it, ${literal}:\nwrite \${credential:NAME} there, then run`
    throw new ParleyError(
      'config',
      `The service runs as a user of its own, who cannot read ${config}.\n${first}: chmod 644 ${shellWord(config)}`,
    )
  }
  const closed = closedPaths(config)
  if (closed.length > 0)
    throw new ParleyError(
      'config',
      `The service runs as a user of its own, who cannot read what the configuration\nnames. Run: chmod a+rX ${closed.map(shellWord).join(' ')}`,
    )
  if (supplies.closed.length > 0) throw new ParleyError('config', supplies.closed.join('\n'))
}

/** Returns the files that a configuration names, and the folders on the way to them, that others cannot open. */
function closedPaths(config: string): readonly string[] {
  const folder = dirname(config)
  const paths = filesBeside(config).flatMap((path) => {
    const above = relative(folder, dirname(path)).split('/')
    return [...above.map((_name, at) => join(folder, ...above.slice(0, at + 1))), path]
  })
  return [...new Set(paths)].filter((path) => {
    const { mode } = statSync(path)
    const needed = (mode & OWNER_RUNS) === 0 ? OTHERS_READ : OTHERS_OPEN
    return path !== folder && (mode & needed) !== needed
  })
}

const OWNER_RUNS = 0o100
const OTHERS_OPEN = 0o005

function checkRoot({ user }: Machine, scope: ServiceScope): void {
  if (scope === 'system' && user.uid !== 0)
    throw new ParleyError('forbidden', 'A service of the system is for root:\nput sudo before it, or choose --user.')
}

/** Two services with one configuration would end each other: only one of them can poll a bot. */
function checkAlone({ env }: ServicePorts, { machine, manager, options }: Plan): void {
  if (machine.platform !== 'linux' || options.force) return
  const other = manager.scope === 'user' ? 'system' : 'user'
  if (!existsSync(managerOf(machine, other, env).file)) return
  const message = `There is a service of the ${other} already. Remove it first:\n  parley service uninstall --${other}`
  throw new ParleyError('conflict', message)
}

function checkForeign({ unit, file }: ServiceState, text: string, { force }: ServiceOptions): void {
  if (unit !== 'foreign' || force) return
  const lines = differences(readFileSync(file, 'utf8'), text)
  throw new ParleyError('conflict', [...lines, foreignUnit(file, 'replaces').message].join('\n'))
}

/** Returns the configuration that somebody names; undefined where they leave it open. */
export function askedConfig(
  { env, cwd }: Pick<ServicePorts, 'env' | 'cwd'>,
  { config = env.PARLEY_CONFIG }: Pick<ServiceOptions, 'config'>,
): string | undefined {
  const file = config && resolve(cwd, config)
  return file && existsSync(file) ? realpathSync(file) : file
}

/** Throws `conflict` where the service at `file` runs another configuration than the one that is meant. */
export function checkConfig(file: string, meant: string | undefined, forced?: string): void {
  const runs = configAt(file)
  if (!meant || runs === undefined || runs === meant) return
  const remedy = forced === undefined ? 'First: parley service uninstall' : `--force ${forced}.`
  throw new ParleyError('conflict', `The service here has another configuration,\n${runs}\nnot ${meant}\n${remedy}`)
}

function foreignUnit(file: string, does: string): ParleyError {
  return new ParleyError('conflict', `${file}\nwas written or changed by somebody else and stays; --force ${does} it.`)
}

/** The variables by which the folders of the user are found. */
const SHARED = ['XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'TZ', 'LANG']

function factsOf({ env }: ServicePorts, { machine, manager: { scope }, config, supplies }: Plan): UnitFacts {
  const shared = scope === 'user' ? SHARED.filter((name) => env[name]) : []
  const environment = shared.map((name) => [name, String(env[name])])
  const command = [machine.node, join(machine.program, 'dist/main.js')] as const
  // A line that begins in the middle of a path would be a directive of the unit.
  const words = [...command, config, ...environment.flat(), ...supplies.credentials.map(({ file }) => file)]
  const odd = words.find((word) => /\p{Cc}/u.test(word))
  if (odd !== undefined)
    throw new ParleyError('config', `${oneLine(odd)}\nhas a control character in it: rename it first.`)
  return {
    ...{ scope, config, command, variables: supplies.variables, credentials: supplies.credentials },
    environment: Object.fromEntries(environment),
  }
}

function printPlan(ports: ServicePorts, { manager, supplies: { missing }, options }: Plan, text: string): number {
  const commands = manager.startSteps(false).map(({ command }) => command.join(' '))
  const notes = missing.flatMap((line) => line.split('\n')).map((line) => `# ${line}`)
  show(ports, options, {
    value: { file: manager.file, text, commands, missing },
    lines: () => [`# ${manager.file}`, text, '# Then:', ...commands, ...notes],
  })
  return EXIT.ok
}

const READY_MS = 60_000
const POLL_MS = 250

async function waitFor(socket: string | undefined): Promise<void> {
  const until = performance.now() + READY_MS
  while (performance.now() < until && !(await isRunning(socket))) await setTimeout(POLL_MS)
}

async function isRunning(socket: string | undefined): Promise<boolean> {
  return socket !== undefined && (await connectLocal(socket).catch(() => undefined)) !== undefined
}

function describe(state: ServiceState, manager: ServiceManager, { user }: Machine): readonly string[] {
  if (state.unit === 'none')
    return [`There is no service: ${state.file} does not exist.`, 'Install it: parley service install']
  const changed = state.unit === 'foreign' ? ', not as "parley service install" writes it' : ''
  return [
    `Unit       ${state.file} (${state.scope})${changed}`,
    `State      ${state.state}, ${startsWith(state)}`,
    ...(state.config ? [`Config     ${state.config}`] : []),
    ...(state.gone ?? []).map((path) => `Gone       ${path}, which it starts`),
    ...(state.remedy ? [`Mend it    ${state.remedy}`] : []),
    ...(state.restarts ? [`Restarts   ${counted(state.restarts, 'restart')} by the service manager`] : []),
    ...(state.lastExit ? [`Last exit  ${state.lastExit}`] : []),
    ...(state.lingers === false
      ? [
          `Lingers    no: it ends when you log out. To let it run:`,
          `           sudo loginctl enable-linger ${user.name}`,
        ]
      : []),
    ...(state.active ? [] : [`Log        ${manager.log}`]),
  ]
}

function startsWith({ enabled, lingers }: ServiceState): string {
  if (!enabled) return 'does not start with the machine'
  return lingers === false ? 'starts when you log in' : 'starts with the machine'
}
