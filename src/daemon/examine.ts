import { lstatSync } from 'node:fs'
import { createServer } from 'node:net'
import type { ChannelPlugin } from '../channels/adapter.ts'
import type { Config } from '../config/config.ts'
import { ParleyError, toError } from '../core/errors.ts'
import { type DoctorReport, type DoctorRequest, type Finding, findingsOf, saysAndRemedy } from '../core/finding.ts'
import { machineZone } from '../core/machine-zone.ts'
import { splitModel } from '../core/model-server.ts'
import type { StatusReport } from '../core/operator.ts'
import { inWords, writersOf } from '../platform/private-folder.ts'
import { useProxies } from '../platform/way-out.ts'
import { type DatabaseFacts, examineDatabase, type KnownPlace, placesIn } from '../store/engines/examine-database.ts'
import {
  type DaemonPlace,
  daemonPlace,
  examineBackup,
  examineDisk,
  examineFolder,
  examineMemory,
  examineNode,
  examineUnit,
  type HostPlace,
  mend,
  restartOf,
  variablesOf,
  watchClock,
} from './examine-host.ts'
import {
  absentAccounts,
  agentsWithout,
  channelsOf,
  endToolServers,
  examineAccount,
  examineAudio,
  examineModel,
  examineToolServer,
  modelsIn,
  partOf,
} from './examine-services.ts'
import { storeKeyOf } from './store-key.ts'

type Request = DoctorRequest<Config>

/** The parts of the program that an examination needs. */
export interface ExamineParts {
  readonly version: string
  readonly plugins: Readonly<Record<string, ChannelPlugin<never>>>
}

/** One check. Whatever it throws is a finding, and so is that its time is over. */
interface Check {
  readonly part: string
  /** It asks over the network. */
  readonly online?: true
  /** It begins once the others have ended, for it holds them up; it ends by itself at its signal. */
  readonly last?: true
  run(signal: AbortSignal): Promise<readonly Finding[]>
}

const WITHIN_MS = 35_000

/**
 * Looks at everything that a daemon needs, side by side, each check within its own time; throws `invalid` for a part
 * that there is not.
 */
export async function examine(request: Request, own: ExamineParts): Promise<DoctorReport> {
  const clock = watchClock()
  await useProxies()
  const paid = { usd: 0 }
  try {
    const checks = chosen([...hostChecks(request, own), ...configuredChecks(request, { ...own, paid })], request, own)
    let done = 0
    const all = (which: readonly Check[]) =>
      Promise.all(
        which.map(async (check) => {
          const outcome = await outcomeOf(check)
          request.progress(++done, checks.length)
          return outcome
        }),
      )
    const found = [
      ...(await all(checks.filter(({ last }) => last !== true))),
      ...(await all(checks.filter(({ last }) => last === true))),
    ]
    const times = request.offline || !wants(request, 'clock') ? [] : [clock.finding()]
    const { findings, fixed } = mended([...found.flat().map((one) => inThisShell(one, request)), ...times], request)
    return { version: own.version, findings: inOrder(findings), fixed, usd: paid.usd }
  } finally {
    clock.end()
    await endToolServers(own.version)
  }
}

/** The words of an unset variable, as the configuration has them (`config/references.ts`). */
const UNSET = /the variable \w+ is not set/

/**
 * A service has variables that no shell has: while its daemon runs, one that is unset here is no fault, unless the
 * daemon says the same of a channel.
 */
function inThisShell(finding: Finding, { status, config }: Pick<Request, 'status' | 'config'>): Finding {
  const { part, check, state, says } = finding
  const [unset] = UNSET.exec(says) ?? []
  if (!['failed', 'warning'].includes(state) || unset === undefined) return finding
  const lacking = status?.channels.some(({ detail }) => detail?.includes(unset))
  if (lacking === false) return { part, check, state: 'skipped', says: `${says} in this shell; the daemon has its own` }
  const file = config?.file && variablesOf(config.file)
  const remedy = file
    ? `Set it, or for a service write it into ${file}, then start the daemon again`
    : 'Set it, or change the reference'
  return { ...finding, remedy }
}

function wants({ parts }: Pick<Request, 'parts'>, part: string): boolean {
  return (
    parts.length === 0 ||
    parts.some((name) => part === name || part.startsWith(`${name} `) || part.startsWith(`${name}/`))
  )
}

/** The parts that only some configurations have. */
const NOT_SET_UP: Readonly<Record<string, string>> = {
  port: 'Nothing here listens on a port',
  model: 'No agent has a model to ask',
  tool: 'No tool server is set up',
  audio: 'Audio is not set up',
}

function chosen(checks: readonly Check[], request: Request, { plugins }: ExamineParts): readonly Check[] {
  const { config, parts, offline } = request
  const able = checks.filter(({ online }) => !(offline && online))
  // Nobody knows then what there would be, and this is why.
  if (config === undefined) return able.filter(({ part }) => part === 'configuration' || wants(request, part))
  const absent = parts.find((name) => !able.some(({ part }) => wants({ parts: [name] }, part)))
  if (absent === undefined) return able.filter(({ part }) => wants(request, part))
  if (checks.some(({ part }) => wants({ parts: [absent] }, part)))
    throw new ParleyError('invalid', `${absent} is asked over the network: leave --offline out.`)
  const channel = Object.hasOwn(plugins, absent) ? `${plugins[absent]?.traits.name} is not set up` : undefined
  const why = channel ?? NOT_SET_UP[absent]
  if (why === undefined)
    throw new ParleyError('invalid', `There is nothing called ${absent} to examine; "parley doctor" names all parts.`)
  const there = [...new Set(checks.filter(({ online }) => online).map(({ part }) => part.split(' ')[0]))].join(', ')
  throw new ParleyError('invalid', there === '' ? `${why}. Run: parley init` : `${why}; set up are: ${there}.`)
}

async function outcomeOf({ part, run, last }: Check): Promise<readonly Finding[]> {
  const late = AbortSignal.timeout(WITHIN_MS)
  const again = `parley doctor ${part.split(' ')[0]}`
  const over = new Promise<readonly Finding[]>((resolve) => {
    const says = `the check took longer than ${WITHIN_MS / 1_000} s`
    if (!last) late.addEventListener('abort', () => resolve([findingsOf(part).failed('time-out', says, again)]))
  })
  try {
    return await Promise.race([run(late), over])
  } catch (error) {
    const [says, remedy] = saysAndRemedy(toError(error).message, `PARLEY_DEBUG=1 ${again}`)
    return [findingsOf(part).failed('check', says, remedy)]
  }
}

/** The checks that need no network. */
function hostChecks(request: Request, { version }: ExamineParts): readonly Check[] {
  const { config, now } = request
  const always: readonly Check[] = [
    { part: 'program', run: () => programFindings(request, version) },
    { part: 'clock', run: async () => [findingsOf('clock').ok('zone', `times are in ${machineZone()}`)] },
    { part: 'configuration', run: async () => configurationFindings(request) },
  ]
  if (config === undefined) return always
  const daemon = daemonPlace(config)
  const ports = portsOf(config)
  const place: HostPlace = { config, now, pid: daemon.pid }
  return [
    ...always,
    { part: 'unit', run: () => examineUnit(place) },
    { part: 'daemon', run: async () => daemonFindings(request, daemon) },
    ...(ports.length === 0 ? [] : [{ part: 'port', run: () => portFindings(ports, request.status !== undefined) }]),
    { part: 'folder', run: () => examineFolder(place) },
    { part: 'disk', run: () => examineDisk(place) },
    { part: 'backup', run: () => examineBackup(place) },
    { part: 'memory', run: () => examineMemory(place) },
  ]
}

async function programFindings({ status, now, config }: Request, version: string): Promise<readonly Finding[]> {
  const { ok, warning } = findingsOf('program')
  const node = examineNode(process.versions.node, now)
  if (status === undefined || status.version === version) return [ok('version', `Parley ${version}`), node]
  const says = `the daemon that runs is Parley ${status.version}, and ${version} is installed`
  return [warning('version', says, await restartOf(config && daemonPlace(config).pid)), node]
}

function configurationFindings({ config, mistakes, warnings }: Request): readonly Finding[] {
  const { ok, warning, failed } = findingsOf('configuration')
  // Those stand with the folders, as failures.
  const writers = writersOf(config?.file).map(inWords)
  const doubts = warnings.filter((line) => !writers.includes(line))
  const found = [
    ...mistakes.map((line) =>
      failed('mistake', ...saysAndRemedy(line, 'Mend that line, then run: parley config check')),
    ),
    ...doubts.map((line) => warning('doubt', ...saysAndRemedy(line, 'Mend that, then run: parley config check'))),
  ]
  return found.length > 0 ? found : [ok('file', `${config?.file ?? 'the environment'} has no mistake`)]
}

function daemonFindings({ status, trouble, config }: Request, { socket, lock, pid }: DaemonPlace): readonly Finding[] {
  const { ok, warning, failed } = findingsOf('daemon')
  if (status !== undefined)
    return [ok('running', `it runs${pid === undefined ? '' : ` (process ${pid})`}`), ...statusFindings(status)]
  if (trouble !== undefined) return [failed('socket', ...saysAndRemedy(trouble, 'parley status'))]
  if (pid !== undefined) {
    const says = `process ${pid} holds the database (${lock}) and answers nobody on ${socket}`
    return [failed('lock', says, `ps -fp ${pid}; stop it, or give this one its own state folder: store.url`)]
  }
  const start = config?.ofService ? 'systemctl start parley' : 'parley start'
  const notRunning = warning('running', 'no daemon runs', start)
  if (lstatSync(socket, { throwIfNoEntry: false })?.isSocket() !== true) return [notRunning]
  const left = `a daemon that was killed has left ${socket}; the next start removes it`
  return [notRunning, { ...ok('left-socket', left), fix: { kind: 'remove', path: socket } }]
}

/** Returns what waits for somebody in the daemon. */
function statusFindings({ undelivered, uncertain, ownerKnown, claims }: StatusReport): readonly Finding[] {
  const { warning } = findingsOf('daemon')
  const lost = undelivered.length + uncertain.length
  return [
    ...(lost === 0
      ? []
      : [warning('deliveries', `${lost} messages did not arrive, or nobody knows whether they did`, 'parley status')]),
    ...(ownerKnown || claims.length === 0
      ? []
      : [warning('owner', 'nobody is the owner yet', `Send the bot in a direct chat: ${claims[0]?.command}`)]),
  ]
}

interface ListeningPlace {
  readonly setting: string
  readonly host: string
  readonly port: number
}

/** Returns the ports of the API and of accounts that take requests. */
function portsOf(config: Config): readonly ListeningPlace[] {
  return [
    ...(config.http === undefined ? [] : [{ setting: 'http.port', ...config.http }]),
    ...Object.entries(config.channels).flatMap(([channel, { accounts }]) =>
      Object.entries(accounts).flatMap(([account, settings]) => {
        const { listen, mode } = settings as { listen?: { host: string; port: number }; mode?: string }
        if (listen === undefined || mode === undefined || mode === 'polling' || mode === 'socket') return []
        return [{ setting: `channels.${channel}.accounts.${account}.listen`, ...listen }]
      }),
    ),
  ].filter(({ port }) => port > 0)
}

/** Looks whether the ports are free. A daemon that runs listens there itself. */
async function portFindings(places: readonly ListeningPlace[], runs: boolean): Promise<readonly Finding[]> {
  const { ok, failed } = findingsOf('port')
  if (runs) return places.map(({ port, setting }) => ok('listen', `the daemon listens on port ${port} (${setting})`))
  return Promise.all(
    places.map(async ({ host, port, setting }) => {
      const code = await whyNoListen(host, port)
      if (code === undefined) return ok('listen', `port ${port} is free (${setting})`)
      const stop = `ss -ltnp 'sport = :${port}'; stop it, or choose another port in ${setting}`
      if (code === 'EADDRINUSE')
        return failed('in-use', `port ${port} of ${setting} is in use by another program`, stop)
      const choose = code === 'EACCES' ? 'Choose a port from 1024 on' : 'Choose an address of this machine'
      return failed('listen', `nothing can listen on ${host}:${port} (${code})`, `${choose} in ${setting}`)
    }),
  )
}

function whyNoListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve('code' in error ? String(error.code) : error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

type Own = ExamineParts & { readonly paid: { usd: number } }

/** The database, whose places the platforms are asked about, and everything that is reached by the network. */
function configuredChecks(request: Request, { version, plugins, paid }: Own): readonly Check[] {
  const { config, status, mistakes, warnings } = request
  if (config === undefined) return []
  const asking = (signal: AbortSignal) => ({ config, plugins, status, signal })
  const accounts = Object.entries(config.channels).flatMap(([channel, { accounts: all }]) =>
    Object.entries(all).map(([account, settings]) => ({ channel, account, settings })),
  )
  const places = accounts.length === 0 ? [] : knownPlaces(config)
  const said = (part: string) => (status === undefined ? [] : channelsOf(status).filter((one) => one.part === part))
  const keyless = new Set([...mistakes, ...warnings].map((line) => KEY_UNSET.exec(line)?.[1]))
  const online = (part: string, run: Check['run']): Check => ({ part, run, online: true })
  return [
    databaseCheck(config, request),
    ...accounts.map((account) => {
      const part = partOf(account)
      return online(part, async (signal) => [...said(part), ...(await examineAccount(account, asking(signal), places))])
    }),
    ...absentAccounts(config).map((finding) => online(finding.part, async () => [...said(finding.part), finding])),
    ...agentsWithout(config, status).map((finding) => online('model', async () => [finding])),
    ...modelsIn(config).map((id) =>
      online(`model ${id}`, async (signal) => {
        if (status !== undefined && keyless.has(splitModel(id)[0])) return [keyElsewhere(id)]
        const { finding, usd } = await examineModel(id, asking(signal))
        paid.usd += usd
        return [finding]
      }),
    ),
    ...(config.mcp ?? []).map((server) =>
      online(`tool server ${server.name}`, () => examineToolServer(server, { config, version })),
    ),
    ...(config.audio === undefined ? [] : [online('audio', (signal) => examineAudio(asking(signal)))]),
  ]
}

const KEY_UNSET = /models\.([\w-]+)\.apiKey: the variable/

function keyElsewhere(id: string): Finding {
  return findingsOf(`model ${id}`).skipped('answer', 'its key is not in this shell; parley status says how it does')
}

/** Whatever keeps the places from being read is a finding about the database. */
function knownPlaces(config: Config): readonly KnownPlace[] {
  try {
    return placesIn({ path: config.store.path, key: storeKeyOf(config) })
  } catch {
    return []
  }
}

/** Named alone the database has as long as it takes. */
function databaseCheck(config: Config, { parts }: Request): Check {
  const isAlone = parts.length === 1 && parts[0] === 'database'
  return {
    ...{ part: 'database', last: true },
    async run(signal) {
      const look = { path: config.store.path, key: storeKeyOf(config), signal: isAlone ? undefined : signal }
      return databaseFindings(await examineDatabase(look), config)
    },
  }
}

function databaseFindings({ bytes, content }: DatabaseFacts, { store: { path } }: Config): readonly Finding[] {
  const { ok, warning, failed, skipped } = findingsOf('database')
  if (content === undefined) return [skipped('header', `there is no database ${path} yet; "parley start" makes it`)]
  const { kind, schema, known, damage, checked, tables, sqlite, waits } = content
  if (kind === 'foreign')
    return [failed('foreign', `${path} is a database of another program`, 'Name another file: store.url')]
  if (damage.length > 0) {
    const more = damage.length > 1 ? `, and ${damage.length - 1} more` : ''
    const restore = 'Stop the daemon, then: parley restore <backup>'
    return [failed('integrity', `${path} is damaged: ${damage[0]}${more}`, restore)]
  }
  const size = `${(bytes / 1_048_576).toFixed(1)} MB, schema ${schema}, SQLite ${sqlite}`
  const newer = `a newer Parley wrote it (schema ${schema}, here ${known})`
  const older = `the next start changes its schema from ${schema} to ${known}`
  return [
    checked < tables
      ? skipped('integrity', `${checked} of ${tables} tables were checked in time; all: parley doctor database`)
      : ok('integrity', `no damage in ${tables} tables (${size})`),
    ...(waits ? [warning('restored', 'what a restored database owed is held until you choose', CHOOSE)] : []),
    ...(schema > known ? [failed('schema', newer, 'Install that Parley again')] : []),
    ...(schema < known && schema > 0 ? [warning('schema', older, 'Before that: parley backup')] : []),
  ]
}

const CHOOSE = 'parley outbox list; then: parley outbox resume, or: parley outbox discard'

function mended(found: readonly Finding[], { fix: mends, config }: Request): Pick<DoctorReport, 'findings' | 'fixed'> {
  const fixed: string[] = []
  const findings = found.map((finding): Finding => {
    if (!mends || finding.fix === undefined || config === undefined) return finding
    try {
      const says = mend(finding.fix, config)
      fixed.push(says)
      return findingsOf(finding.part).ok(finding.check, says)
    } catch (error) {
      return { ...finding, says: `${finding.says} (not mended: ${toError(error).message})` }
    }
  })
  return { findings, fixed }
}

/** The findings of a part stand together, in the order in which its first one came. */
function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const parts = [...new Set(findings.map(({ part }) => part))]
  return parts.flatMap((name) => findings.filter(({ part }) => part === name))
}
