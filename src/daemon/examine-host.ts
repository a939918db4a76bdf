import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync, lstatSync, promises, readdirSync, rmSync, type Stats } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { readLastBackup } from '../backup/last-backup.ts'
import type { Config } from '../config/config.ts'
import { secretsIn } from '../config/literal-secrets.ts'
import { type Clock, systemClock, within } from '../core/clock.ts'
import { EXIT, toError } from '../core/errors.ts'
import { type Finding, type Fix, findingsOf, saysAndRemedy } from '../core/finding.ts'
import { type Machine, shellWord } from '../core/machine.ts'
import { installAnew, lingersFor, NO_PROGRAM, type ShownUnit, showUnit, systemctlOf } from '../core/service-unit.ts'
import { runCommand, thisUser } from '../platform/machine.ts'
import { closeToOthers, folderDoubts, isGone, writersOf } from '../platform/private-folder.ts'
import { holderOf } from '../store/engines/sqlite-lock.ts'

/*
 * The half of an examination that asks nobody and costs next to nothing: the host of a daemon. `parley doctor` runs it
 * with the rest, and the daemon by itself each hour.
 */

export interface HostPlace {
  readonly config: Pick<Config, 'file' | 'dataDir' | 'store' | 'ofService'>
  readonly now: number
  /** The process of the daemon, where one runs. */
  readonly pid?: number | undefined
}

const MB = 1024 * 1024
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Less than this, and the log of the database alone may fill the disk. */
const LEAST_MB = 64
/** Beside the copy that is made before the schema changes. */
const SPARE_MB = 256
const LEAST_INODES = 1_000

/** Returns what the disk of the state folder has left, and how large the log of the database has grown. */
export async function examineDisk({ config: { dataDir, store } }: HostPlace): Promise<readonly Finding[]> {
  const { ok, warning, failed } = findingsOf('disk')
  const { bavail, bsize, files, ffree } = await promises.statfs(await existingFolder(dataDir))
  const free = Math.floor((bavail * bsize) / MB)
  const database = Math.ceil((await sizeOf(store.path)) / MB)
  const says = `${megabytes(free)} are free for ${dataDir}`
  const clear = `Free some space there; to see what is large: du -xh ${shellWord(dataDir)} | sort -h | tail`
  const little = `${says}, which is too little for a copy of the database (${megabytes(database)})`
  const log = Math.floor((await sizeOf(`${store.path}-wal`)) / MB)
  const grown = `the log of the database has grown to ${megabytes(log)}: another program keeps reading`
  const few = `${ffree} more files fit on the disk`
  return [
    free < LEAST_MB
      ? failed('space', `${says}: messages can soon not be stored`, clear)
      : free < SPARE_MB + database
        ? warning('space', little, clear)
        : ok('space', says),
    ...(files > 0 && ffree < LEAST_INODES ? [failed('inodes', few, 'Remove some files; df -i shows where')] : []),
    ...(log > LARGE_LOG_MB ? [warning('log', grown, `fuser -v ${shellWord(store.path)}`)] : []),
  ]
}

const LARGE_LOG_MB = 256

function megabytes(mb: number): string {
  return mb < 1_024 ? `${mb} MB` : `${(mb / 1_024).toFixed(1)} GB`
}

async function sizeOf(path: string): Promise<number> {
  return (await promises.stat(path).catch(() => undefined))?.size ?? 0
}

/** A state folder that is made at the first start lies in the nearest one that is there. */
async function existingFolder(path: string): Promise<string> {
  const there = await promises.stat(path).catch(() => undefined)
  return there !== undefined || dirname(path) === path ? path : existingFolder(dirname(path))
}

/** The types of file systems on which locks and a shared log do not hold, by the numbers of Linux. */
const REMOTE: Readonly<Record<number, string>> = {
  26985: 'NFS',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  20859: 'SMB',
  16914839: '9P',
  1397113167: 'AFS',
}
const FUSE = 0x65735546

/** Returns who could change or read what lies in the state folder and in the configuration. */
export async function examineFolder({ config }: HostPlace): Promise<readonly Finding[]> {
  const { dataDir } = config
  const stats = await promises.stat(dataDir).catch(() => undefined)
  const inside = stats === undefined ? [] : [...(await remote(dataDir)), ...strangers(dataDir, stats.uid)]
  return [...placeFindings(dataDir, stats), ...inside, ...(await filesOpen(config))]
}

const OTHERS_ENTER = 0o055

function placeFindings(dataDir: string, stats: Stats | undefined): readonly Finding[] {
  const { ok, skipped, warning, failed } = findingsOf('folder')
  try {
    const doubts = folderDoubts(dataDir)
    if (doubts === undefined) return [skipped('place', `${dataDir} is not there yet; "parley start" makes it`)]
    if (doubts.length > 0) return doubts.map(({ says, remedy, fix }) => failed('place', says, remedy, fix))
    if (((stats?.mode ?? 0) & OTHERS_ENTER) === 0) return [ok('place', `${dataDir} is closed to others`)]
    const closing = { kind: 'mode', path: dataDir, mode: '700' } as const
    return [warning('place', `others may see which files are in ${dataDir}`, chmod(closing), closing)]
  } catch (error) {
    const [says] = saysAndRemedy(toError(error).message, '')
    const give = `sudo chown -R "$(id -u):$(id -g)" ${shellWord(dataDir)}`
    return [failed('place', says, `${give}, or examine it as its user: sudo -u <user> parley doctor`)]
  }
}

function chmod({ path, mode }: Pick<Extract<Fix, { kind: 'mode' }>, 'path' | 'mode'>): string {
  return `Run: chmod ${mode} ${shellWord(path)}`
}

async function remote(dataDir: string): Promise<readonly Finding[]> {
  const { warning, failed } = findingsOf('folder')
  const type = Number((await promises.statfs(dataDir)).type) >>> 0
  const name = REMOTE[type]
  const local = 'Choose a folder on a local disk: store.url or XDG_STATE_HOME'
  if (name !== undefined)
    return [failed('network', `${dataDir} is on a network file system (${name}): a database there gets damaged`, local)]
  return type === FUSE
    ? [warning('network', `${dataDir} is on a FUSE file system, of which nobody knows whether its locks hold`, local)]
    : []
}

/** A start as another user leaves files that the daemon cannot open afterwards. Ours have names that are text. */
function strangers(dataDir: string, owner: number): readonly Finding[] {
  const others = readable(dataDir).filter(
    (name) => (lstatSync(join(dataDir, name), { throwIfNoEntry: false })?.uid ?? owner) !== owner,
  )
  if (others.length === 0) return []
  const says = `${others.slice(0, 3).join(', ')} in ${dataDir} belong to another user than the folder (${owner})`
  const folder = shellWord(dataDir)
  return [findingsOf('folder').failed('owner', says, `chown -R --reference=${folder} ${folder}`)]
}

function readable(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const ROOT = 0
const OTHERS_READ = 0o044
const OTHERS_WRITE = 0o022

/** Looks at the database, the configuration and the files of secrets that it names. */
async function filesOpen({ file, store, ofService }: HostPlace['config']): Promise<readonly Finding[]> {
  const text = file === undefined ? '' : await promises.readFile(file, 'utf8').catch(() => '')
  const folder = file === undefined ? '' : dirname(file)
  const { files, literal } = secretsIn(text, folder)
  // A daemon that is not root reads the files of root as anybody may.
  const isRoots = ofService !== true && process.geteuid?.() === ROOT
  const open = await Promise.all([
    ...[store.path, `${store.path}-wal`].map((path) => openFile(path, 'the database', isRoots)),
    ...[...new Set(files)].map((path) => openFile(path, 'a secret', isRoots)),
    ...(file === undefined || literal === undefined ? [] : [openFile(file, `and a secret in it: ${literal}`, isRoots)]),
  ])
  const { failed } = findingsOf('folder')
  const writers = writersOf(file)
  return [...open.flat(), ...writers.map(({ says, remedy, fix }) => failed('configuration', says, remedy, fix))]
}

/** A secret that root lets the group of a service read is as it is meant. */
async function openFile(path: string, what: string, isRoots: boolean): Promise<readonly Finding[]> {
  const stats = await promises.stat(path).catch(() => undefined)
  if (stats === undefined) return []
  const mode = stats.uid === 0 && stats.gid !== 0 ? '640' : '600'
  const open = stats.mode & (OTHERS_READ | OTHERS_WRITE) & ~Number.parseInt(mode, 8)
  if (open === 0) return []
  const { warning, failed } = findingsOf('folder')
  const writes = (open & OTHERS_WRITE) !== 0
  if (stats.uid === ROOT && !isRoots && !writes)
    return [warning('mode', `others may read ${path}, ${what}`, inPlace(dirname(path)))]
  const fix = { kind: 'mode', path, mode: stats.uid === ROOT && !isRoots ? 'go-w' : mode } as const
  return [
    (writes ? failed : warning)('mode', `others may ${writes ? 'write to' : 'read'} ${path}, ${what}`, chmod(fix), fix),
  ]
}

function inPlace(folder: string): string {
  return `Write \${credential:NAME} in its place, and its value into ${join(folder, 'NAME')} (0600); then: parley service install`
}

/** Makes the change of a finding; returns a sentence about it. Touches only what is Parley's, of this user. */
export function mend(fix: Fix, { file, dataDir }: Pick<HostPlace['config'], 'file' | 'dataDir'>): string {
  if (fix.kind === 'remove') {
    rmSync(fix.path, { force: true })
    return `The socket ${fix.path}, which a daemon had left, is gone.`
  }
  closeToOthers(fix.path, fix.mode, [dataDir, ...(file === undefined ? [] : [dirname(file)])])
  const was = fix.mode === 'go-w' ? 'change' : 'open'
  return `Others may not ${was} ${fix.path} any more (chmod ${fix.mode}).`
}

/** Returns how old the last backup is. */
export async function examineBackup({ config: { dataDir, store }, now }: HostPlace): Promise<readonly Finding[]> {
  const { ok, skipped, warning, failed } = findingsOf('backup')
  const last = readLastBackup(dataDir)
  if (last === undefined && !existsSync(store.path)) return [skipped('age', 'there is nothing to back up yet')]
  if (last === undefined) return [warning('age', 'no backup was ever made', 'parley backup')]
  const { failedAt, reason = 'for an unknown reason', at, there, path = '' } = last
  const days = Math.floor((now - (at ?? now)) / DAY_MS)
  const age = days > 0 ? `${days} d` : `${Math.max(0, Math.floor((now - (at ?? now)) / HOUR_MS))} h`
  const says = `the last backup is ${age} old`
  const gone = `the last backup, ${path}, is not there any more`
  const anew =
    there === false ? `Mount its disk, or begin anew: parley backup ${shellWord(dirname(path))}` : 'parley backup'
  return [
    ...(failedAt === undefined ? [] : [failed('outcome', `the last backup failed: ${reason}`, anew)]),
    ...(at === undefined
      ? []
      : there === false
        ? [failed('place', gone, anew)]
        : [days > OLD_DAYS ? warning('age', says, 'parley backup') : ok('age', `${says}: ${path}`)]),
  ]
}

const OLD_DAYS = 8

/** The share of its limit from which on a process is in danger. */
const FULL = 0.9
const SCARCE_MB = 64

/** Returns what the machine has free, and how close the daemon is to the limit of its unit or container. */
export async function examineMemory({ pid }: HostPlace): Promise<readonly Finding[]> {
  const { ok, warning } = findingsOf('memory')
  const [free, all] = [freemem(), totalmem()].map((bytes) => Math.floor(bytes / MB)) as [number, number]
  const says = `${megabytes(free)} of ${megabytes(all)} are free on this machine`
  const isScarce = free < SCARCE_MB
  const machine = isScarce ? warning('free', says, 'To see who has it: ps aux --sort=-rss | head') : ok('free', says)
  if (pid === undefined) return [machine]
  const [used, limit] = await Promise.all([residentMb(pid), limitMb(pid)])
  if (used === undefined) return [machine]
  const near = limit !== undefined && used > limit * FULL
  const has = `the daemon has ${megabytes(used)}${limit === undefined ? '' : ` of the ${megabytes(limit)} that it may have`}`
  return [
    machine,
    near ? warning('limit', has, 'Raise MemoryMax of its unit: systemctl edit parley') : ok('limit', has),
  ]
}

async function residentMb(pid: number): Promise<number | undefined> {
  const status = await promises.readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kilobytes === undefined ? undefined : Math.floor(Number(kilobytes) / 1_024)
}

async function limitMb(pid: number): Promise<number | undefined> {
  const group = await promises.readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
  const path = /^0::(.+)$/m.exec(group)?.[1]
  if (path === undefined) return undefined
  const most = Number(await promises.readFile(join('/sys/fs/cgroup', path, 'memory.max'), 'utf8').catch(() => ''))
  return most > 0 ? Math.floor(most / MB) : undefined
}

/** The ends of the support of the release lines of Node, as its project has set them; the even ones are long. */
const NODE_UNTIL: Readonly<Record<number, string>> = {
  ...{ 20: '2026-04-30', 22: '2027-04-30', 23: '2025-06-01', 24: '2028-04-30', 25: '2026-06-01', 26: '2029-04-30' },
}

/** Returns what is known of the support of a version of Node. */
export function examineNode(version: string, now: number): Finding {
  const { ok, warning, failed } = findingsOf('program')
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  const install = 'Install Node 24, and Parley once more with it'
  if (!((major === 20 && minor >= 19) || major >= 22))
    return failed('node', `Node ${version} is too old: 20.19 or a later 20, or 22 and later is needed`, install)
  const until = NODE_UNTIL[major]
  if (until === undefined) return ok('node', `Node ${version}`)
  if (now > Date.parse(until))
    return warning('node', `Node ${version} has had no security updates since ${until}`, install)
  return ok('node', `Node ${version}, which gets security updates until ${until}${major % 2 === 0 ? ' (LTS)' : ''}`)
}

const COMMAND_MS = 5_000
const run: Machine['run'] = (command, args) => runCommand(command, args, { withinMs: COMMAND_MS })

/** Returns how the unit does that starts the daemon, where a service manager is there and has one. */
export async function examineUnit({ config, now }: HostPlace): Promise<readonly Finding[]> {
  const { skipped } = findingsOf('unit')
  const [system, user] = await Promise.all([showUnit(run, []), showUnit(run, ['--user'])])
  if ('refused' in system && 'refused' in user) return [skipped('manager', 'no service manager answers here')]
  const findings = [
    ...('unit' in system ? unitFindings(system.unit, { user: false, config, now }) : []),
    ...('unit' in user ? unitFindings(user.unit, { user: true, config, now }) : []),
    ...('unit' in user && user.unit.loaded ? await lingering() : []),
  ]
  return findings.length > 0
    ? findings
    : [skipped('installed', 'no unit is installed; parley service install makes one')]
}

interface UnitPlace {
  readonly user: boolean
  readonly config: HostPlace['config']
  readonly now: number
}

function unitFindings(unit: ShownUnit, { user, config, now }: UnitPlace): readonly Finding[] {
  if (!unit.loaded) return []
  const { ok, warning, failed } = findingsOf('unit')
  const systemctl = user ? 'systemctl --user' : 'sudo systemctl'
  const journal = `journalctl ${user ? '--user ' : ''}-u parley -n 50`
  const says = `the unit is not running: ${unit.state}${unit.lastExit === undefined ? '' : `; ${unit.lastExit}`}`
  const install = installAnew(user ? 'user' : 'system')
  const gone = unit.programs.filter(isGone)
  const start = `${systemctl} start parley; why it ended: ${journal}`
  const again = startAgain(gone.length > 0 ? NO_PROGRAM : unit.exitCode, { install, start })
  const other = unit.config !== undefined && config.file !== undefined && unit.config !== config.file
  const restarted = unit.restarts > 0 && !(unit.since !== undefined && now - unit.since > HOUR_MS)
  const often = `the daemon was started again ${unit.restarts} times after it had ended`
  const elsewhere = `the unit has another configuration, ${unit.config}, than this examination`
  return [
    unit.active || unit.starting ? ok('active', `the unit is ${unit.state}`) : failed('active', says, again),
    ...gone.map((path) => failed('program', `${path}, which the unit starts, is gone`, install)),
    ...(unit.enabled
      ? []
      : [warning('enabled', 'the unit is not started when the machine is', `${systemctl} enable parley`)]),
    ...(restarted ? [warning('restarts', often, journal)] : []),
    ...(other ? [warning('configuration', elsewhere, `parley doctor --config ${shellWord(unit.config ?? '')}`)] : []),
  ]
}

function startAgain(code: number | undefined, { install, start }: Record<'install' | 'start', string>): string {
  if (code === NO_PROGRAM) return install
  return code === EXIT.config ? `parley config check, then: ${start}` : start
}

async function lingering(): Promise<readonly Finding[]> {
  const { username } = thisUser()
  if ((await lingersFor(run, username)) !== false) return []
  const says = 'the unit of this user ends when the user logs out'
  return [findingsOf('unit').warning('linger', says, `sudo loginctl enable-linger ${username}`)]
}

/** Returns how to start a daemon anew, by the control group into which the system has put it. */
export async function restartOf(pid: number | undefined): Promise<string> {
  const systemctl = systemctlOf(await promises.readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => ''))
  return systemctl === undefined ? 'End it, then: parley start' : `Start it again: ${systemctl} restart parley`
}

/** Returns the file of the variables of the service with this configuration (`cli/commands/service.ts`). */
export function variablesOf(config: string): string {
  return join(dirname(config), 'parley.env')
}

export interface DaemonPlace {
  readonly socket: string
  readonly lock: string
  /** The process that holds the lock, as the kernel lists it; undefined where it lists none. */
  readonly pid: number | undefined
}

export function daemonPlace({ dataDir, store }: HostPlace['config']): DaemonPlace {
  const lock = `${store.path}.lock`
  return { socket: join(dataDir, 'parley.sock'), lock, pid: holderOf(lock) }
}

/** A date in a header has whole seconds, and an answer takes some on its way. */
const WRONG_MS = 30_000

/**
 * Reads the time of day in answers that come anyway, by whatever library they are asked for; `first` resolves with the
 * first answer that has one.
 */
export function watchClock() {
  const seen: { readonly host: string; readonly ahead: number }[] = []
  let answered = (): void => {}
  const first = new Promise<void>((resolve) => {
    answered = resolve
  })
  const note = (host: string, date: unknown): void => {
    const at = typeof date === 'string' ? Date.parse(date) : Number.NaN
    if (!Number.isFinite(at)) return
    seen.push({ host, ahead: systemClock.now() - at })
    answered()
  }
  const fetched = (message: unknown): void => {
    const { request, response } = message as FetchMessage
    note(request.origin, headerIn(response.headers, 'date'))
  }
  const asked = (message: unknown): void => {
    const { request, response } = message as RequestMessage
    note(request.host, response.headers.date)
  }
  subscribe('undici:request:headers', fetched)
  subscribe('http.client.response.finish', asked)
  return {
    first,
    finding: (): Finding => clockFinding(seen),
    end(): void {
      unsubscribe('undici:request:headers', fetched)
      unsubscribe('http.client.response.finish', asked)
    },
  }
}

/** A daemon that receives has an answer within this time. */
const SOON_MS = 60_000

/** Looks at whatever costs the daemon nothing. One check that fails keeps no other from being made. */
export async function examineHourly(place: HostPlace, clock: Clock): Promise<readonly Finding[]> {
  const looks = [examineDisk, examineFolder, examineBackup, examineMemory, examineUnit, () => examineClockSoon(clock)]
  return (await Promise.all(looks.map((look) => look(place).catch(noFinding)))).flat()
}

function noFinding(error: unknown): readonly Finding[] {
  return [{ part: 'host', check: 'check', state: 'skipped', says: toError(error).message }]
}

/** Waits for an answer that comes anyway, and compares its time. */
async function examineClockSoon(clock: Clock): Promise<readonly Finding[]> {
  const watch = watchClock()
  try {
    await within(clock, SOON_MS, watch.first)
    return [watch.finding()]
  } finally {
    watch.end()
  }
}

interface FetchMessage {
  readonly request: { readonly origin: string }
  readonly response: { readonly headers: readonly Uint8Array[] }
}

interface RequestMessage {
  readonly request: { readonly host: string }
  readonly response: { readonly headers: Readonly<Record<string, unknown>> }
}

/** Names and values follow each other. */
function headerIn(headers: readonly Uint8Array[], name: string): string | undefined {
  const at = headers.findIndex((one, index) => index % 2 === 0 && Buffer.from(one).toString().toLowerCase() === name)
  return at === -1 ? undefined : Buffer.from(headers[at + 1] ?? []).toString()
}

function clockFinding(seen: readonly { readonly host: string; readonly ahead: number }[]): Finding {
  const { ok, skipped, failed } = findingsOf('clock')
  const inOrder = seen.toSorted((one, other) => one.ahead - other.ahead)
  const middle = inOrder[Math.floor(inOrder.length / 2)]
  if (middle === undefined) return skipped('time', 'nothing has answered with a time')
  const seconds = Math.round(Math.abs(middle.ahead) / 1_000)
  if (Math.abs(middle.ahead) <= WRONG_MS) return ok('time', 'it agrees with those that have answered')
  const says = `the clock is ${seconds} s ${middle.ahead > 0 ? 'ahead of' : 'behind'} that of ${middle.host}`
  return failed('time', says, 'sudo timedatectl set-ntp true')
}
