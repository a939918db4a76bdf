import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Config } from '../../config/config.ts'
import { usualConfigFile } from '../../config/places.ts'
import { EXIT, ParleyError } from '../../core/errors.ts'
import type { Machine } from '../../core/machine.ts'
import { connectLocal } from '../local-client.ts'
import type { CliPorts } from '../ports.ts'
import { counted } from '../print/plain.ts'
import { managerOf, runSteps, type ServiceManager, type ServiceState } from '../service/manager.ts'
import { type Supplies, suppliesOf } from '../service/references.ts'
import { differences, type ServiceScope, type UnitFacts } from '../service/unit-file.ts'
import { type ReadOptions, show } from '../show.ts'
import { socketPathOf } from '../socket-path.ts'

export type ServicePorts = Pick<CliPorts, 'env' | 'cwd' | 'stdout' | 'stderr' | 'load' | 'machine'>

export interface ServiceOptions extends ReadOptions {
  readonly user?: boolean
  readonly system?: boolean
  readonly dryRun?: boolean
  readonly force?: boolean
}

/** Installs the service and starts it; resolves once the daemon is ready. */
export async function installService(ports: ServicePorts, options: ServiceOptions): Promise<number> {
  const machine = await ports.machine()
  const scope = scopeOf(options, machine)
  const manager = managerOf(machine, scope, ports.env)
  const config = configOf(ports, options, { scope, machine })
  const supplies = suppliesOf(config, scope)
  checkProgram(machine, { scope, config, supplies })
  const loaded = await readConfig(ports, config, supplies)
  const text = manager.text(shippedUnit(machine), factsOf(ports, { machine, scope, config, supplies }))
  if (options.dryRun) return printPlan(ports, { manager, text, supplies }, options)
  checkRoot(machine, scope)
  const before = await manager.state()
  await checkAlone(ports, { machine, manager, options })
  checkForeign(before, text, options)
  const socket = loaded && socketPathOf(loaded)
  if (!before.active && scope === 'user' && (await isRunning(socket)))
    throw new ParleyError('store_locked', 'A daemon runs already, started by hand. End it with Ctrl-C, then try again.')
  mkdirSync(dirname(manager.file), { recursive: true })
  writeFileSync(manager.file, text, { mode: 0o644 })
  for (const line of supplies.missing) ports.stderr.write(`${line}\n`)
  ports.stderr.write(`Wrote ${manager.file}. Starting; this ends when the daemon is ready.\n`)
  return startAndShow(ports, { machine, manager, socket, running: before.active, options })
}

/** Shows the service. Resolves with 1 where it does not run. */
export async function showService(ports: ServicePorts, options: ServiceOptions): Promise<number> {
  const machine = await ports.machine()
  const found = await findService(ports, machine, options)
  const state = await found.state()
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
  const state = await manager.state()
  if (state.unit === 'none') return end(false, [`There is no service: ${manager.file} does not exist.`])
  checkRoot(machine, manager.scope)
  if (state.unit === 'foreign' && !options.force) throw foreignUnit(manager.file, 'removes')
  await removeService(machine, manager)
  return end(true, [
    `The service is stopped, and ${manager.file} is removed.`,
    'Its data, configuration and secrets stay; "parley uninstall" names them.',
  ])
}

/** Stops a service and removes its file. */
export async function removeService(machine: Machine, manager: ServiceManager): Promise<void> {
  await runSteps(machine, manager.stopSteps())
  rmSync(manager.file)
  await runSteps(machine, manager.forgetSteps())
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

export const SYSTEM_CONFIG = '/etc/parley/parley.yaml'

function configOf(
  { env, cwd }: ServicePorts,
  { config }: ServiceOptions,
  { scope, machine }: { readonly scope: ServiceScope; readonly machine: Machine },
): string {
  const asked = config ?? env.PARLEY_CONFIG
  const usual = scope === 'system' ? SYSTEM_CONFIG : usualConfigFile({ env, cwd, home: machine.user.home })
  const file = asked ? resolve(cwd, asked) : usual
  if (file !== undefined && existsSync(file)) return realpathSync(file)
  const remedy =
    scope === 'system'
      ? `Copy yours there (sudo install -D -m 644 <file> ${SYSTEM_CONFIG}), or name one with --config.`
      : 'Make one with "parley init", or name one with --config.'
  throw new ParleyError('config', `There is no configuration ${file ?? 'of this user'}. ${remedy}`)
}

/** Returns the configuration; undefined where a variable of it is set for the service alone. Throws `config`. */
async function readConfig({ load, env }: ServicePorts, file: string, { names }: Supplies): Promise<Config | undefined> {
  try {
    return (await load(file, 'ask')).config
  } catch (error) {
    if (names.some((name) => !env[name])) return undefined
    throw error
  }
}

/** The folders that ProtectHome hides from a service of the system. */
const HOMES = /^\/(?:home|root|run\/user)\//

interface Placed {
  readonly scope: ServiceScope
  readonly config: string
  readonly supplies: Supplies
}

function checkProgram({ node, program }: Machine, { scope, config, supplies }: Placed): void {
  if (!existsSync(join(program, 'dist/openapi.json')))
    throw new ParleyError('config', `${program} is not built. Run there: npm run build`)
  if (scope === 'user') return
  const hidden = [realpathSync(node), program, config].find((path) => HOMES.test(path))
  if (hidden !== undefined)
    throw new ParleyError(
      'config',
      `${hidden} lies in a home folder, which a service of the system does not see (ProtectHome). ` +
        (hidden === config
          ? `Move it to ${SYSTEM_CONFIG}`
          : 'Install Node and Parley for all users, in /usr or /usr/local') +
        ', or make it a service of the user: parley service install --user',
    )
  if ((statSync(config).mode & 0o004) === 0)
    throw new ParleyError(
      'config',
      `The service runs as a user of its own, who cannot read ${config}. It needs no secret in it: chmod 644 ${config}`,
    )
  if (supplies.closed.length > 0) throw new ParleyError('config', supplies.closed.join('\n'))
}

function checkRoot({ user }: Machine, scope: ServiceScope): void {
  if (scope === 'system' && user.uid !== 0)
    throw new ParleyError('forbidden', 'A service of the system is for root: put sudo before it, or choose --user.')
}

interface Installing {
  readonly machine: Machine
  readonly manager: ServiceManager
  readonly options: ServiceOptions
}

/** Two services with one configuration would end each other: only one of them can poll a bot. */
async function checkAlone({ env }: ServicePorts, { machine, manager, options }: Installing): Promise<void> {
  if (machine.platform !== 'linux' || options.force) return
  const other = manager.scope === 'user' ? 'system' : 'user'
  if (!existsSync(managerOf(machine, other, env).file)) return
  const message = `There is a service of the ${other} already. Remove it first: parley service uninstall --${other}`
  throw new ParleyError('conflict', message)
}

function checkForeign({ unit, file }: ServiceState, text: string, { force }: ServiceOptions): void {
  if (unit !== 'foreign' || force) return
  const lines = differences(readFileSync(file, 'utf8'), text)
  throw new ParleyError('conflict', [...lines, foreignUnit(file, 'replaces').message].join('\n'))
}

function foreignUnit(file: string, does: string): ParleyError {
  return new ParleyError('conflict', `${file} was written or changed by somebody else and stays; --force ${does} it.`)
}

function shippedUnit({ program }: Machine): string {
  return readFileSync(join(program, 'systemd/parley.service'), 'utf8')
}

/** The variables by which the folders of the user are found. */
const SHARED = ['XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'TZ', 'LANG']

function factsOf(
  { env }: ServicePorts,
  { machine, scope, config, supplies }: Placed & { readonly machine: Machine },
): UnitFacts {
  const shared = SHARED.flatMap((name) => (env[name] && scope === 'user' ? [[name, env[name]] as const] : []))
  return {
    ...{ scope, config },
    command: [machine.node, join(machine.program, 'dist/main.js')],
    variables: supplies.variables,
    environment: Object.fromEntries(shared),
    credentials: supplies.credentials,
  }
}

interface Plan {
  readonly manager: ServiceManager
  readonly text: string
  readonly supplies: Supplies
}

function printPlan(ports: ServicePorts, { manager, text, supplies }: Plan, options: ServiceOptions): number {
  const commands = manager.startSteps(false).map(({ command }) => command.join(' '))
  show(ports, options, {
    value: { file: manager.file, text, commands, missing: supplies.missing },
    lines: () => [`# ${manager.file}`, text, '# Then:', ...commands, ...supplies.missing.map((line) => `# ${line}`)],
  })
  return EXIT.ok
}

interface Starting extends Installing {
  readonly socket: string | undefined
  readonly running: boolean
}

async function startAndShow(
  ports: ServicePorts,
  { machine, manager, socket, running, options }: Starting,
): Promise<number> {
  const failure = await runSteps(machine, manager.startSteps(running)).catch((error: Error) => error)
  if (failure === undefined && machine.platform === 'darwin') await waitFor(socket)
  const state = await manager.state()
  show(ports, options, { value: state, lines: () => describe(state, manager, machine) })
  if (failure === undefined && state.active) return EXIT.ok
  if (failure !== undefined) ports.stderr.write(`${failure.message}\n`)
  ports.stderr.write(`It does not run. Its log: ${manager.log}\n`)
  return EXIT.failed
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
    `State      ${state.state}, ${state.enabled ? 'starts with the machine' : 'does not start with the machine'}`,
    ...(state.restarts ? [`Restarts   ${counted(state.restarts, 'restart')} by the service manager`] : []),
    ...(state.lastExit ? [`Last exit  ${state.lastExit}`] : []),
    ...(state.lingers === false
      ? [`Lingers    no: it ends when you log out. Run: sudo loginctl enable-linger ${user.name}`]
      : []),
    ...(state.active ? [] : [`Log        ${manager.log}`]),
  ]
}
