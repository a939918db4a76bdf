import { existsSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { sizeInWords } from '../../core/content-words.ts'
import { EXIT, ParleyError } from '../../core/errors.ts'
import { type Machine, type StoreSchema, shellWord } from '../../core/machine.ts'
import { privateFolder } from '../../platform/private-folder.ts'
import { connectLocal } from '../local-client.ts'
import type { CliPorts, LoadedConfig } from '../ports.ts'
import { oneLine } from '../print/plain.ts'
import {
  compareVersions,
  type Installation,
  installationOf,
  installCommand,
  isWritable,
  needsScripts,
  oldPrograms,
  type PackedProgram,
  readPacked,
  runNpm,
} from '../service/installation.ts'
import { runSteps, type ServiceManager, type ServiceState } from '../service/manager.ts'
import { type ReadOptions, show } from '../show.ts'
import { socketPathOf } from '../socket-path.ts'
import { findService } from './service.ts'

type UpgradePorts = Pick<CliPorts, 'env' | 'cwd' | 'version' | 'stdout' | 'stderr' | 'load' | 'machine' | 'storeSchema'>

export interface UpgradeOptions extends ReadOptions {
  readonly file?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  /** False: no backup is made first. */
  readonly backup?: boolean
}

/** The versions that are installed and run, and the database as the next start finds it. */
interface Standing {
  readonly installed: string
  readonly place: Installation
  readonly node: string
  /** The version of the daemon that runs; absent: none does. */
  readonly running?: string
  readonly store?: StoreSchema
  readonly service?: ServiceState
}

/** Says which versions there are; with a packed file, installs it after a backup and starts the service anew. */
export async function upgrade(ports: UpgradePorts, options: UpgradeOptions): Promise<number> {
  const machine = await ports.machine()
  const manager = await serviceOf(ports, machine)
  if (manager?.scope === 'system' && machine.user.uid !== 0) throw new ParleyError('invalid', ELSEWHERE)
  const loaded = await ports.load(options.config, 'ask')
  const standing = await standingOf(ports, { machine, loaded, manager })
  if (options.file === undefined) {
    show(ports, options, { value: standing, lines: () => [...describe(standing), ...howTo(standing.place)] })
    return EXIT.ok
  }
  const { place } = standing
  if (place.kind === 'checkout') throw new ParleyError('invalid', howTo(place).join('\n'))
  const packed = await readPacked(machine, resolve(ports.cwd, options.file))
  refuseOlder(standing, packed)
  const isOfAnother = machine.user.uid === 0 && !manager && !standing.store
  const user = isOfAnother ? ports.env.SUDO_USER : undefined
  if (user || !isWritable(place)) throw byHand(place, packed.file, user)
  const plan: Plan = { ...{ machine, loaded, place, packed, standing }, ...(manager ? { manager } : {}) }
  const steps = stepsOf(plan, options)
  const lines = [...describe(standing), `Upgrade    to ${packed.version}:`, ...steps]
  show(ports, options, {
    value: { ...standing, to: packed.version, steps: steps.map((step) => step.trim()) },
    lines: () => lines,
  })
  if (options.dryRun) return EXIT.ok
  if (!options.yes) {
    ports.stderr.write('Nothing was changed. Do it: the same command with --yes\n')
    return EXIT.failed
  }
  return perform(ports, plan, options)
}

const ELSEWHERE = 'The data of the service belongs to an account of its own.\nRun it as root: sudo parley upgrade ...'

/** Only root can replace the program then, and only its user finds the data of the daemon. */
function byHand(place: Plan['place'], file: string, user: string | undefined): ParleyError {
  const why = user
    ? `Root has no data of Parley: the daemon is one of ${user}.\nType without sudo before all of it:`
    : `${dirname(place.program)} is not yours to write to.\nIn a container, build the image anew. Else type:`
  const install = oneLine(installCommand(place, file).map(shellWord).join(' '))
  const steps = ['parley backup', `sudo ${install}`, 'systemctl --user restart parley']
  const own = '(or, without a service, end the daemon and: parley start)'
  return new ParleyError('invalid', [why, ...[...steps, own].map((step) => `  ${step}`)].join('\n'))
}

/** Returns the service manager where there is a service of it. */
async function serviceOf(ports: UpgradePorts, machine: Machine): Promise<ServiceManager | undefined> {
  if (machine.platform !== 'linux' && machine.platform !== 'darwin') return undefined
  const manager = await findService(ports, machine, {})
  return existsSync(manager.file) ? manager : undefined
}

interface Around {
  readonly machine: Machine
  readonly loaded: LoadedConfig
  readonly manager: ServiceManager | undefined
}

async function standingOf(ports: UpgradePorts, { machine, loaded, manager }: Around): Promise<Standing> {
  const daemon = await connectLocal(socketPathOf(loaded.config)).catch(() => undefined)
  const running = (await daemon?.status().catch(() => undefined))?.version
  const [store, service] = [await ports.storeSchema(loaded), await manager?.state()]
  return {
    ...{ installed: ports.version, place: installationOf(machine), node: process.versions.node },
    ...(running === undefined ? {} : { running }),
    ...(store === undefined ? {} : { store }),
    ...(service === undefined ? {} : { service }),
  }
}

function describe({ installed, place, node, running, store, service }: Standing): readonly string[] {
  const behind = running !== undefined && running !== installed ? '; a restart brings the installed one' : ''
  return [
    `Installed  ${installed} in ${place.program}, Node ${node}`,
    `Running    ${running ?? 'no daemon'}${behind}`,
    ...(service ? [`Service    ${service.file}: ${service.state}`] : []),
    `Database   ${store ? storeInWords(store) : 'none yet'}`,
  ]
}

function storeInWords({ path, bytes, free, schema, known }: StoreSchema): string {
  if (schema === known) return `schema ${schema}, which this program uses: the next start changes nothing`
  if (schema > known) {
    const copy = `${path}.before-v${schema}`
    return (
      `schema ${schema} is of a newer program; this one knows ${known}, and does not start.\n` +
      `           Install the newer program again, or put in its place:\n           ${existsSync(copy) ? copy : 'a backup'}`
    )
  }
  const room = free > bytes ? '' : ` - but there are only ${sizeInWords(free)} free: make room first`
  return (
    `the next start brings schema ${schema} to ${known}, after a copy of it as\n` +
    `           ${path}.before-v${known} (${sizeInWords(bytes)})${room}`
  )
}

function howTo(place: Installation): readonly string[] {
  const newest = 'Newest     not known: Parley is in no registry, and asks nobody'
  if (place.kind === 'checkout')
    return [
      newest,
      `Upgrade    this is a checkout:\n  cd ${shellWord(place.program)} && git pull && npm ci && npm run build`,
    ]
  return [newest, 'Upgrade    parley upgrade <file.tgz>, which "npm pack" writes in a newer checkout']
}

function refuseOlder({ installed, store, place }: Standing, { version, file, schema }: PackedProgram): void {
  if (place.kind === 'checkout') return
  if (compareVersions(version, installed) >= 0) {
    if (store === undefined || schema === undefined || schema >= store.schema) return
    throw new ParleyError(
      'invalid',
      `${oneLine(file)}\nknows schema ${schema}, and the database has ${store.schema}: it would not start. Pack a newer one.`,
    )
  }
  const known = store ? `\nThe database has schema ${store.schema}, which an older program may refuse.` : ''
  throw new ParleyError(
    'invalid',
    `${oneLine(file)}\nis ${version}, older than the installed ${installed}.${known}\nBack to it: stop the daemon, then\n` +
      `  ${oneLine(installCommand(place, file).join(' '))}\n  parley restore <the backup of before the upgrade>`,
  )
}

interface Plan {
  readonly machine: Machine
  readonly loaded: LoadedConfig
  readonly place: Extract<Installation, { kind: 'npm' }>
  readonly packed: PackedProgram
  readonly standing: Standing
  readonly manager?: ServiceManager
}

function stepsOf(plan: Plan, { backup }: UpgradeOptions): readonly string[] {
  const { place, packed, standing, manager } = plan
  return [
    ...(standing.store && backup !== false ? ['  parley backup'] : []),
    `  keep the installed program as ${oldProgram(plan)}`,
    `  ${oneLine(installCommand(place, packed.file).join(' '))}`,
    ...(needsScripts() ? [SCRIPTS] : []),
    ...schemaSteps(standing, packed),
    ...(manager && standing.service?.active
      ? [`  ${manager.restartStep().command.join(' ')}, and wait until it is ready`]
      : []),
    ...(!manager && standing.running
      ? ['  (a daemon runs without a service: end it and start it again yourself)']
      : []),
  ]
}

const SCRIPTS = '  (npm runs the scripts of packages: for this Node it has to compile SQLite)'

function schemaSteps({ store }: Standing, { schema }: PackedProgram): readonly string[] {
  if (store === undefined || schema === undefined || schema === store.schema) return []
  return [`  (its first start copies the database, and brings it to schema ${schema})`]
}

/** The packed file of the program that is replaced, for the way back. */
function oldProgram({ machine, standing }: Pick<Plan, 'machine' | 'standing'>): string {
  return join(oldPrograms(machine), `parley-${standing.installed}.tgz`)
}

/** The new program says its version within this time, or does not work. */
const VERSION_MS = 60_000

async function perform(ports: UpgradePorts, plan: Plan, options: UpgradeOptions): Promise<number> {
  const { machine, loaded, place, packed, standing, manager } = plan
  const main = join(place.program, 'dist/main.js')
  const config = loaded.config.file === undefined ? [] : ['--config', loaded.config.file]
  const copy =
    standing.store && options.backup !== false ? await makeBackup(ports, machine, [main, ...config]) : undefined
  await keepProgram(plan)
  const back = wayBack(plan, copy)
  const installed = await runNpm(machine, installCommand(place, packed.file))
  const now = await machine.run(machine.node, [main, '--version'], { withinMs: VERSION_MS })
  if (installed.code !== 0 || now.stdout.trim() !== packed.version) {
    ports.stderr.write(
      `npm did not install ${packed.version}:\n${lastLines(`${installed.stderr}\n${now.stderr}`).join('\n')}\n`,
    )
    ports.stderr.write(`${back.join('\n')}\n`)
    return EXIT.failed
  }
  ports.stderr.write(`Parley ${packed.version} is installed.\n`)
  if (!manager || !standing.service?.active) return EXIT.ok
  ports.stderr.write('Starting the service anew; this ends when the daemon is ready.\n')
  const failure = await runSteps(machine, [manager.restartStep()]).catch((error: Error) => error)
  const state = await manager.state()
  if (failure === undefined && state.active) {
    ports.stderr.write(`The service runs: ${state.state}\n`)
    return EXIT.ok
  }
  ports.stderr.write(
    `The new version does not run (${state.lastExit ?? state.state}).\nIts log: ${manager.log}\n${back.join('\n')}\n`,
  )
  return EXIT.failed
}

function lastLines(text: string): readonly string[] {
  const lines = text.trim().split('\n')
  return lines
    .filter((line) => !line.startsWith('npm notice'))
    .slice(-5)
    .map(oneLine)
}

/** Returns the folder of the copy. Rejects with `unavailable`: without one nothing is installed. */
async function makeBackup(
  ports: UpgradePorts,
  machine: Machine,
  [main = '', ...config]: readonly string[],
): Promise<string> {
  ports.stderr.write('Making a backup first.\n')
  const made = await machine.run(machine.node, [main, 'backup', '--json', ...config])
  if (made.code !== 0) {
    const reason = oneLine(made.stderr.trim().split('\n')[0] ?? '')
    throw new ParleyError(
      'unavailable',
      `The backup failed, and nothing was changed:\n${reason}\n(--no-backup goes without one.)`,
    )
  }
  const { path } = JSON.parse(made.stdout) as { readonly path: string }
  ports.stderr.write(`A backup lies in ${path}\n`)
  return path
}

/** Keeps the program where nobody else can change it: whoever goes back runs it, mostly as root. */
async function keepProgram(plan: Plan): Promise<void> {
  const { machine, place } = plan
  const file = oldProgram(plan)
  const folder = privateFolder(dirname(file), 'code').path
  rmSync(file, { force: true })
  const kept = await runNpm(machine, ['npm', 'pack', place.program, '--ignore-scripts', '--pack-destination', folder])
  if (kept.code !== 0)
    throw new ParleyError(
      'unavailable',
      `The installed program cannot be kept, and nothing was changed:\n${lastLines(kept.stderr).join('\n')}`,
    )
  await readPacked(machine, file)
}

function wayBack(plan: Plan, copy: string | undefined): readonly string[] {
  const { place, standing, manager } = plan
  return [
    'The way back:',
    ...(manager && standing.service?.active ? [`  ${manager.stopSteps().at(-1)?.command.join(' ')}`] : []),
    `  ${installCommand(place, oldProgram(plan)).join(' ')}`,
    ...(copy ? [`  parley restore ${copy}`, '  (that only where the new version has changed the database)'] : []),
    ...(manager && standing.service?.active ? [`  parley service install --${manager.scope}`] : []),
  ]
}
