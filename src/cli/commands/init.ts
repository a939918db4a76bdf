import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  applyChanges,
  type ConfigDraft,
  changesFrom,
  openDraft,
  type SettingChange,
  textOf,
} from '../../config/draft.ts'
import { EXIT, ParleyError, toError } from '../../core/errors.ts'
import { NO_MODEL } from '../../core/model.ts'
import type { PeerKind, PeerSetup } from '../../core/peer-setup.ts'
import { askOperator } from '../ask-operator.ts'
import { type Ask, askAtTerminal, askNobody, Left } from '../init/ask.ts'
import { type ChosenModel, chooseModel, type ModelFlags, modelOfFlags } from '../init/choose-model.ts'
import { meetOwner } from '../init/first-meeting.ts'
import type { AccountSetUp, KeptSecret } from '../init/set-up-account.ts'
import { type PlatformFlags, setUpAccounts } from '../init/set-up-accounts.ts'
import { type BesideFile, writeSetup } from '../init/write-setup.ts'
import { connectLocal } from '../local-client.ts'
import type { CliPorts, LoadedConfig, SetupPorts } from '../ports.ts'
import { socketPathOf } from '../socket-path.ts'
import { start } from './start.ts'

export interface InitOptions extends PlatformFlags, ModelFlags {
  readonly config?: string
  readonly owner?: readonly string[]
  readonly from?: PeerKind
  readonly folder?: string
  readonly start?: boolean
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly yes?: boolean
}

type InitPorts = Pick<
  CliPorts,
  | 'env'
  | 'cwd'
  | 'now'
  | 'stdin'
  | 'stdout'
  | 'stderr'
  | 'load'
  | 'openOffline'
  | 'start'
  | 'setup'
  | 'explain'
  | 'compile'
  | 'onSignal'
  | 'onHangup'
>

/** Everything that the steps of one guided start share. */
interface Guide {
  readonly ports: InitPorts
  readonly options: InitOptions
  readonly setup: SetupPorts
  readonly ask: Ask
  readonly file: string
  /** The configuration that is there and is changed; absent for a new one. */
  readonly known?: LoadedConfig
  /** A daemon of that configuration runs now. */
  readonly running: boolean
  /** The words by which this program was started: `parley`, or those of npm. */
  readonly program: string
  /** The paths of the manifests that were written. */
  readonly manifests: string[]
}

/**
 * Sets a bot up: platforms, model, configuration, owner, first answer, groups. Resolves with 1 if the person leaves
 * before the end. Nothing is written before all questions about the configuration are answered.
 */
export async function init(ports: InitPorts, options: InitOptions): Promise<number> {
  const guide = await prepare(ports, options)
  const { ask, file } = guide
  try {
    const code = await guided(guide)
    return code === 'run' ? await start(ports, file) : code
  } catch (error) {
    if (!(error instanceof Left)) throw error
    ask.say('', existsSync(file) ? `Left. The configuration is ${file}.` : 'Left. No configuration was written.')
    ask.say(...guide.manifests.map((path) => `The manifest stays, for the next time: ${path}`))
    return EXIT.failed
  } finally {
    ask.close()
  }
}

async function prepare(ports: InitPorts, options: InitOptions): Promise<Guide> {
  const setup = await ports.setup()
  const { file, dataDir } = setup.placeOf(options.config)
  if (!options.dryRun) checkFolder(dirname(file))
  const known = existsSync(file) && !options.force ? await loadKnown(ports, file) : undefined
  const running = (await connectLocal(socketPathOf(known?.config ?? { dataDir }))) !== undefined
  if (running && known === undefined) throw otherDaemon(dataDir)
  const person = options.yes || options.dryRun ? undefined : await askAtTerminal(ports)
  const ask = person ?? askNobody(options.dryRun ? ports.stderr : ports.stdout)
  const program = ports.env.npm_lifecycle_event === 'parley' ? 'npm run parley --' : 'parley'
  return { ports, options, setup, ask, file, running, program, manifests: [], ...(known ? { known } : {}) }
}

/** Throws `config`, before anything is asked, for a folder in which nothing can be written. */
function checkFolder(folder: string): void {
  let above = folder
  while (!existsSync(above)) above = dirname(above)
  try {
    // A name behind a file is none.
    accessSync(`${above}/.`, constants.W_OK)
  } catch (cause) {
    const message = `Nothing can be written to ${folder}: set HOME to a folder of yours, or name a file with --config.`
    throw new ParleyError('config', message, { cause })
  }
}

async function loadKnown(ports: InitPorts, file: string): Promise<LoadedConfig> {
  try {
    return await ports.load(file, 'ask')
  } catch (error) {
    const message = `${toError(error).message}\nMend that first, or begin anew with --force; the old file is kept as a copy.`
    throw error instanceof ParleyError ? new ParleyError(error.code, message, { cause: error }) : error
  }
}

function otherDaemon(dataDir: string): ParleyError {
  return new ParleyError(
    'store_locked',
    `A daemon with another configuration, or with variables alone, runs with the data in ${dataDir}. Stop it first, or set XDG_STATE_HOME to give this bot a folder of its own.`,
  )
}

/** The story, from the first question to the last one. Resolves with the exit code, or with the wish to start. */
async function guided(guide: Guide): Promise<number | 'run'> {
  const { ask, file, options, ports, setup, running } = guide
  const { env, cwd, stdin, now } = ports
  const sources = { env, cwd, stdin }
  const draft = openDraft(file, options.force ?? false)
  const flagged = await modelOfFlags(options, sources)
  ask.say(...greeting(guide, draft))
  const peer = options.from === undefined ? undefined : await takeOver(guide, options.from)
  if (peer !== undefined) applyChanges(draft, changesFrom(peer.config, draft))
  const { platforms, tryModel } = setup
  const taken = secretsOf(peer)
  const wrote = (path: string): void => void guide.manifests.push(path)
  const given = { platforms, draft, flags: options, running, file, taken, sources, now, wrote }
  const accounts = await setUpAccounts(ask, given)
  const known = modelIn(draft) ?? knownModel(guide)
  const asked = { sources, tryModel, ...(known ? { known } : {}), ...(flagged ? { flagged } : {}) }
  const chosen = await chooseModel(ask, asked)
  applyChanges(draft, [
    ...accounts.flatMap(accountChanges),
    ...modelChanges(chosen, draft),
    ...ownerChanges(options, draft),
  ])
  if (options.dryRun) {
    ports.stdout.write(textOf(draft))
    return EXIT.ok
  }
  const secrets = [...taken.values(), ...accounts.flatMap((account) => account.secrets), chosen?.server.key]
  const text = textOf(draft)
  const beside = [...(peer?.files ?? []), ...secrets.flatMap(secretFile)].filter(({ name }) => text.includes(name))
  const loaded = await write(guide, draft, [...new Map(beside.map((one) => [one.name, one])).values()])
  if (options.owner !== undefined) ask.say(...(await otherOwners(guide, loaded)))
  const code = await begin(guide, accounts, loaded)
  if (code === 'run') return code
  ask.say(...farewell(guide, accounts, chosen))
  return code ?? EXIT.ok
}

/** Writes everything, and says what was written and what the daemon would warn of. */
async function write(
  { ask, ports, file, options }: Guide,
  draft: ConfigDraft,
  beside: readonly BesideFile[],
): Promise<LoadedConfig> {
  const { files, copies, closed, loaded, warnings } = await writeSetup(ports, draft, {
    ...{ file, beside, use: options.from === undefined ? 'check' : 'run' },
  })
  ask.say('', ...files.map((path) => `Written: ${path}`), ...copies.map((path) => `The old one is ${path}.`))
  if (closed.length > 0) {
    ask.say(`Note: a group may read ${file}, and the owner alone the new files. If the daemon reads by that group:`)
    ask.say(`  chmod g+rX ${closed.map((path) => (/\s/.test(path) ? `'${path}'` : path)).join(' ')}`)
  }
  if (files.length === 0) ask.say(`Nothing has changed in ${file}.`)
  ask.say(...warnings.map((warning) => `Note: ${warning}`))
  return loaded
}

/** A block of the file, in which an account is written also where its secret is missing now. */
type WrittenChannel = { readonly accounts?: object | null } | null

function greeting({ file, known, running, options }: Guide, { document }: ConfigDraft): readonly string[] {
  if (known === undefined)
    return ['Parley', `A bot in a few steps. Its configuration will be ${file}; Ctrl-C leaves, and nothing is written.`]
  const { config } = known
  const written = (document.toJS() ?? {}) as { channels?: Readonly<Record<string, WrittenChannel>> | null }
  const named = (channels: Readonly<Record<string, WrittenChannel>>) =>
    Object.entries(channels).flatMap(([channel, block]) =>
      Object.keys(block?.accounts ?? {}).map((name) => (name === 'default' ? channel : `${channel}/${name}`)),
    )
  const found = named(config.channels)
  const closed = named(written.channels ?? {}).filter((name) => !found.includes(name))
  const accounts = [...found, ...closed.map((name) => `${name} (without its secret here)`)]
  return [
    'Parley',
    `There is a configuration: ${file}. Only what you choose is changed, and a copy of it is kept.`,
    `  accounts: ${accounts.join(', ') || 'none'}`,
    `  models: ${config.agents.map(({ id, model }) => `${id} has ${model === NO_MODEL ? 'none' : model}`).join(', ')}`,
    ...(running ? ['  Its daemon is running, and is not disturbed.'] : []),
    ...(options.force ? ['  It is replaced.'] : []),
  ]
}

/** Reads what another program was set up with, and says what of it is taken. */
async function takeOver({ ask, setup, options, ports }: Guide, kind: PeerKind): Promise<PeerSetup> {
  const peer = await setup.readPeer(kind, options.folder)
  ask.say('', `Taken from ${kind}:`, ...peer.taken.map((line) => `  - ${line}`))
  if (peer.notTaken.length > 0) ask.say('Not taken:', ...peer.notTaken.map((line) => `  - ${line}`))
  const named = [...JSON.stringify(peer.config).matchAll(/\$\{env:(\w+)\}/g)].flatMap(([, name]) => name ?? [])
  const unset = [...new Set(named)].filter((name) => !ports.env[name])
  if (unset.length > 0) ask.say(`Not set here; set before the daemon starts: ${unset.join(', ')}`)
  return peer
}

function knownModel({ known }: Guide): string | undefined {
  const model = known?.config.agents[0]?.model
  return model === NO_MODEL ? undefined : model
}

function modelIn({ document }: ConfigDraft): string | undefined {
  const model = document.getIn(['agents', 0, 'model'])
  return typeof model === 'string' ? model : undefined
}

function accountChanges({ platform, account, settings }: AccountSetUp): readonly SettingChange[] {
  return Object.entries(settings).map(([setting, value]) => [
    ['channels', platform.id, 'accounts', account, setting],
    value,
  ])
}

function modelChanges(chosen: ChosenModel | undefined, { document }: ConfigDraft): readonly SettingChange[] {
  if (chosen === undefined) return []
  const { id, server } = chosen
  const block = {
    ...(server.name === server.kind ? {} : { kind: server.kind }),
    ...(server.baseUrl === undefined ? {} : { baseUrl: server.baseUrl }),
    ...(server.key === undefined ? {} : { apiKey: server.key.reference }),
  }
  const agents: SettingChange = document.hasIn(['agents', 0])
    ? [['agents', 0, 'model'], id]
    : [['agents'], [{ id: 'main', model: id }]]
  return [agents, ...Object.entries(block).map(([key, value]): SettingChange => [['models', server.name, key], value])]
}

/** A person who is known by an id becomes an owner; the other ids are those of the person `owner`. */
function ownerChanges({ owner = [] }: InitOptions, { document }: ConfigDraft): readonly SettingChange[] {
  const ids = new Set(owner)
  const { people } = (document.toJS() ?? {}) as { people?: Readonly<Record<string, { ids?: unknown } | null>> | null }
  const known = Object.entries(people ?? {}).map(([name, person]) => [name, listed(person?.ids)] as const)
  const named = known.filter(([, theirs]) => theirs.some((id) => ids.has(id)))
  const others = [...ids].filter((id) => !named.some(([, theirs]) => theirs.includes(id)))
  const there = listed(people?.owner?.ids)
  const all: readonly SettingChange[] =
    there.length === 0
      ? [[['people', 'owner', 'ids'], others]]
      : others.map((id, at) => [['people', 'owner', 'ids', there.length + at], id])
  const names = new Set([...named.map(([name]) => name), ...(others.length > 0 ? ['owner'] : [])])
  return [
    ...[...names].map((name): SettingChange => [['people', name, 'role'], 'owner']),
    ...(others.length > 0 ? all : []),
  ]
}

/** Says who else owns the bot, as nobody who is named takes that away from them, and how it is done. */
async function otherOwners({ ports, options, program }: Guide, loaded: LoadedConfig): Promise<readonly string[]> {
  if (!existsSync(loaded.config.store.path)) return []
  const { people } = await askOperator(ports, loaded, (operator) => operator.people.list(), '')
  const others = people
    .filter(({ role }) => role === 'owner')
    .flatMap(({ name, ids }) => ids.map((one) => ({ name, ...one })))
  return others
    .filter(({ id }) => !options.owner?.includes(id))
    .flatMap(({ name, id, from }) => [
      `Note: ${id} is an owner too. To take that away:`,
      from === 'configuration'
        ? `  remove it from people.${name}.ids in the configuration`
        : `  ${program} people unlink ${id}   (while the bot runs)`,
    ])
}

function listed(ids: unknown): readonly string[] {
  return Array.isArray(ids) ? ids.map(String) : []
}

/** Returns the file of a secret that is kept in one. */
function secretFile(secret: KeptSecret | undefined): readonly BesideFile[] {
  return secret?.file === undefined ? [] : [{ name: secret.file, text: `${secret.value}\n` }]
}

/** Returns the secrets that another program had, by the paths of their settings. */
function secretsOf(peer: PeerSetup | undefined): ReadonlyMap<string, KeptSecret> {
  const all = peer?.secrets ?? []
  return new Map(all.map(({ path, read, ...kept }) => [path.join('.'), { ...kept, value: read().trim() }]))
}

/** Starts the daemon where that is wanted and nothing is in the way. Resolves with undefined if none is to run now. */
async function begin(
  { ask, ports, options, setup, file, running, program }: Guide,
  accounts: readonly AccountSetUp[],
  loaded: LoadedConfig,
): Promise<number | 'run' | undefined> {
  if (running) return undefined
  if (options.start === false || (!ask.isPerson && options.start !== true)) return undefined
  if (!ask.isPerson) return 'run'
  return meetOwner({ ask, loaded, accounts, setup, ports, file, program })
}

function farewell(
  { options, program, file, running }: Guide,
  accounts: readonly AccountSetUp[],
  chosen: ChosenModel | undefined,
): readonly string[] {
  const flag = options.config === undefined ? '' : ` --config ${options.config}`
  const secrets = [...accounts.flatMap(({ settings }) => Object.values(settings)), chosen?.server.key?.reference ?? '']
  const variables = secrets.flatMap((value) => /^\$\{env:(\w+)\}$/.exec(value)?.[1] ?? [])
  // A service of the system, which root installs otherwise, sees no home folder.
  const whose = process.geteuid?.() === 0 && !file.startsWith('/etc/') ? ' --user' : ''
  const starts = [
    `  ${program} start${flag}            runs it here`,
    `  ${program} service install${flag}${whose}  runs it as a service`,
  ]
  const continues = [
    'The bot continues as it was started. Now:',
    `  ${program} config reload${flag}    takes over who may talk`,
    `  ${program} start${flag}            takes over everything else, once it is stopped:`,
    '                                 Ctrl-C where it runs, or its service is restarted',
  ]
  return [
    '',
    ...(running ? continues : ['From now on:', ...starts]),
    `  ${program} doctor${flag}           says what is wrong, and the remedy`,
    `  ${program} backup${flag}           makes a copy of what it keeps`,
    ...(variables.length === 0 ? [] : [`A service needs these variables too: ${variables.join(', ')}`]),
  ]
}
