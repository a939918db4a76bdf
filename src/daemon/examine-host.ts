import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { readFile, stat, statfs } from 'node:fs/promises'
import { freemem, totalmem, userInfo } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { readLastBackup } from '../backup/last-backup.ts'
import type { Config } from '../config/config.ts'
import { type Clock, systemClock, within } from '../core/clock.ts'
import { toError } from '../core/errors.ts'
import { type Finding, findingsOf, saysAndRemedy } from '../core/finding.ts'
import { machineZone } from '../core/machine-zone.ts'
import { closeToOthers, privateFolder, writersOf } from '../platform/private-folder.ts'

/*
 * The half of an examination that asks nobody and costs next to nothing: the host of a daemon. `parley doctor` runs it
 * with the rest, and the daemon by itself each hour.
 */

/** A finding that this program can mend without a question. */
export interface MendableFinding extends Finding {
  /** Mends it; returns a sentence about what was changed. */
  mend?(this: void): Promise<string>
}

export interface HostPlace {
  readonly config: Pick<Config, 'file' | 'dataDir' | 'store'>
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
  const { bavail, bsize, files, ffree } = await statfs(await existingFolder(dataDir))
  const free = Math.floor((bavail * bsize) / MB)
  const database = Math.ceil((await sizeOf(store.path)) / MB)
  const says = `${megabytes(free)} are free for ${dataDir}`
  const clear = `Free some space there; to see what is large: du -xh ${dataDir} | sort -h | tail`
  const findings = [
    free < LEAST_MB
      ? failed('space', `${says}: messages can soon not be stored`, clear)
      : free < SPARE_MB + database
        ? warning('space', `${says}, which is too little for a copy of the database (${megabytes(database)})`, clear)
        : ok('space', says),
  ]
  if (files > 0 && ffree < LEAST_INODES)
    findings.push(
      failed('inodes', `${ffree} more files fit on the disk`, 'Remove some files where this shows none left: df -i'),
    )
  const log = Math.floor((await sizeOf(`${store.path}-wal`)) / MB)
  if (log > LARGE_LOG_MB)
    findings.push(
      warning(
        'log',
        `the log of the database has grown to ${megabytes(log)}: another program keeps reading`,
        `fuser -v ${store.path}`,
      ),
    )
  return findings
}

const LARGE_LOG_MB = 256

function megabytes(mb: number): string {
  return mb < 1_024 ? `${mb} MB` : `${(mb / 1_024).toFixed(1)} GB`
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

/** A state folder that is made at the first start lies in the nearest one that is there. */
async function existingFolder(path: string): Promise<string> {
  const there = await stat(path).catch(() => undefined)
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
export async function examineFolder({ config }: HostPlace): Promise<readonly MendableFinding[]> {
  const { dataDir } = config
  const stats = await stat(dataDir).catch(() => undefined)
  const inside = stats === undefined ? [] : [...(await remote(dataDir)), ...strangers(dataDir, stats.uid)]
  return [...placeFindings(config), ...inside, ...(await filesOpen(config))]
}

function placeFindings(config: HostPlace['config']): readonly MendableFinding[] {
  const { ok, skipped, failed } = findingsOf('folder')
  const { dataDir } = config
  try {
    privateFolder(dataDir, 'ask')
    return [ok('place', `${dataDir} is closed to others`)]
  } catch (error) {
    const { message } = toError(error)
    if (message.startsWith('There is no folder'))
      return [skipped('place', `${dataDir} is not there yet; "parley start" makes it`)]
    return message.split('\n').map((line) => withMend(failed('place', ...ownRemedy(line, dataDir)), config))
  }
}

/** A folder of somebody else is theirs to give away, or the wrong user examines it. */
function ownRemedy(line: string, dataDir: string): readonly [says: string, remedy: string] {
  const [says, remedy] = saysAndRemedy(line, `ls -ld ${dataDir}`)
  if (!/cannot be used by user|belongs to user/.test(says)) return [says, remedy]
  return [says, `sudo chown -R "$(id -u):$(id -g)" ${dataDir}, or examine it as its user: sudo -u <user> parley doctor`]
}

async function remote(dataDir: string): Promise<readonly Finding[]> {
  const { warning, failed } = findingsOf('folder')
  const type = Number((await statfs(dataDir)).type) >>> 0
  const name = REMOTE[type]
  const local = 'Choose a folder on a local disk: store.url or XDG_STATE_HOME'
  if (name !== undefined)
    return [failed('network', `${dataDir} is on a network file system (${name}): a database there gets damaged`, local)]
  return type === FUSE
    ? [warning('network', `${dataDir} is on a FUSE file system, of which nobody knows whether its locks hold`, local)]
    : []
}

/** A start as another user leaves files that the daemon cannot open afterwards. */
function strangers(dataDir: string, owner: number): readonly Finding[] {
  const others = readable(dataDir).filter(
    (name) => lstatSync(join(dataDir, name), { throwIfNoEntry: false })?.uid !== owner,
  )
  if (others.length === 0) return []
  const says = `${others.slice(0, 3).join(', ')} in ${dataDir} belong to another user than the folder (${owner})`
  return [findingsOf('folder').failed('owner', says, `chown -R --reference=${dataDir} ${dataDir}`)]
}

function readable(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const OTHERS_READ = 0o044
const OTHERS_WRITE = 0o022

/** Looks at the database, the configuration and the files of secrets that it names. */
async function filesOpen(config: HostPlace['config']): Promise<readonly MendableFinding[]> {
  const { file, store } = config
  const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '')
  const folder = file === undefined ? '' : dirname(file)
  const named = [...text.matchAll(/\$\{file:([^}]+)\}/g)].map(([, name = '']) => name.trim())
  const secrets = named.map((name) => (isAbsolute(name) ? name : resolve(folder, name)))
  const open = await Promise.all([
    ...[store.path, `${store.path}-wal`].map((path) => openFile(path, 'the database', config)),
    ...[...new Set(secrets)].map((path) => openFile(path, 'a secret', config)),
  ])
  const { failed } = findingsOf('folder')
  const writers = writersOf(file)
  return [
    ...open.flat(),
    ...writers.map((line) => withMend(failed('configuration', ...saysAndRemedy(line, `ls -ld ${folder}`)), config)),
  ]
}

/** A secret that root lets the group of a service read is as it is meant. */
async function openFile(path: string, what: string, config: HostPlace['config']): Promise<readonly MendableFinding[]> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) return []
  const mode = stats.uid === 0 && stats.gid !== 0 ? 0o640 : 0o600
  const open = stats.mode & (OTHERS_READ | OTHERS_WRITE) & ~mode
  if (open === 0) return []
  const { warning, failed } = findingsOf('folder')
  const writes = (open & OTHERS_WRITE) !== 0
  const says = `others may ${writes ? 'write to' : 'read'} ${path}, ${what}`
  const finding = (writes ? failed : warning)('mode', says, `Run: chmod ${mode.toString(8)} ${path}`)
  return [withMend(finding, config)]
}

const CHMOD = /\b[Rr]un: chmod (700|6[04]0|go-w) (\S.*)$/

/** A mode is what can be mended without a doubt, of files and folders of this user that are Parley's. */
function withMend(finding: Finding, { dataDir, file }: HostPlace['config']): MendableFinding {
  const [, mode = '', path = ''] = CHMOD.exec(finding.remedy ?? '') ?? []
  if (path === '') return finding
  const bits = (now: number): number => (mode === 'go-w' ? now & ~OTHERS_WRITE : Number.parseInt(mode, 8))
  const folders = [dataDir, ...(file === undefined ? [] : [dirname(file)])]
  return {
    ...finding,
    async mend() {
      closeToOthers(path, bits, folders)
      return `Others may not change ${path} any more (chmod ${mode}).`
    },
  }
}

/** Returns how old the last backup is. */
export async function examineBackup({ config: { dataDir }, now }: HostPlace): Promise<readonly Finding[]> {
  const { ok, warning, failed } = findingsOf('backup')
  const last = readLastBackup(dataDir)
  if (last === undefined) return [warning('age', 'no backup was ever made', 'parley backup')]
  const findings: Finding[] = []
  if (last.failedAt !== undefined)
    findings.push(
      failed('outcome', `the last backup failed: ${last.reason ?? 'for an unknown reason'}`, 'parley backup'),
    )
  if (last.at === undefined) return findings
  const days = Math.floor((now - last.at) / DAY_MS)
  const age = days > 0 ? `${days} d` : `${Math.max(0, Math.floor((now - last.at) / HOUR_MS))} h`
  if (last.there === false)
    return [...findings, failed('place', `the last backup, ${last.path ?? ''}, is not there any more`, 'parley backup')]
  const says = `the last backup is ${age} old`
  findings.push(days > OLD_DAYS ? warning('age', says, 'parley backup') : ok('age', `${says}: ${last.path ?? ''}`))
  return findings
}

const OLD_DAYS = 8

/** The share of its limit from which on a process is in danger. */
const FULL = 0.9
const SCARCE_MB = 64

/** Returns what the machine has free, and how close the daemon is to the limit of its unit or container. */
export async function examineMemory({ pid }: HostPlace): Promise<readonly Finding[]> {
  const { ok, warning } = findingsOf('memory')
  const [free, all] = [freemem(), totalmem()].map((bytes) => Math.floor(bytes / MB)) as [number, number]
  const machine =
    free < SCARCE_MB
      ? warning(
          'free',
          `${megabytes(free)} of ${megabytes(all)} are free on this machine`,
          'To see who has it: ps aux --sort=-rss | head',
        )
      : ok('free', `${megabytes(free)} of ${megabytes(all)} are free`)
  if (pid === undefined) return [machine]
  const [used, limit] = await Promise.all([residentMb(pid), limitMb(pid)])
  if (used === undefined) return [machine]
  const says = `the daemon has ${megabytes(used)}${limit === undefined ? '' : ` of the ${megabytes(limit)} that it may have`}`
  const near = limit !== undefined && used > limit * FULL
  return [
    machine,
    near ? warning('limit', says, 'Raise MemoryMax of its unit: systemctl edit parley') : ok('limit', says),
  ]
}

async function residentMb(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kilobytes === undefined ? undefined : Math.floor(Number(kilobytes) / 1_024)
}

async function limitMb(pid: number): Promise<number | undefined> {
  const group = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
  const path = /^0::(.+)$/m.exec(group)?.[1]
  if (path === undefined) return undefined
  const most = Number(await readFile(join('/sys/fs/cgroup', path, 'memory.max'), 'utf8').catch(() => ''))
  return most > 0 ? Math.floor(most / MB) : undefined
}

/** The ends of the support of the release lines of Node, as its project has set them. */
const NODE_LINES: Readonly<Record<number, { readonly until: string; readonly longTerm: boolean }>> = {
  20: { until: '2026-04-30', longTerm: true },
  22: { until: '2027-04-30', longTerm: true },
  23: { until: '2025-06-01', longTerm: false },
  24: { until: '2028-04-30', longTerm: true },
  25: { until: '2026-06-01', longTerm: false },
  26: { until: '2029-04-30', longTerm: true },
}

/** Returns what is known of the support of a version of Node. */
export function examineNode(version: string, now: number): Finding {
  const { ok, warning, failed } = findingsOf('program')
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  const install = 'Install Node 24, then run Parley with it: npm ci'
  if (!((major === 20 && minor >= 19) || major >= 22))
    return failed('node', `Node ${version} is too old: 20.19 or a later 20, or 22 and later is needed`, install)
  const line = NODE_LINES[major]
  if (line === undefined) return ok('node', `Node ${version}`)
  if (now > Date.parse(line.until))
    return warning('node', `Node ${version} has had no security updates since ${line.until}`, install)
  return ok('node', `Node ${version}, which gets security updates until ${line.until}${line.longTerm ? ' (LTS)' : ''}`)
}

/** Returns the zone in which schedules and times are, as this process sees it. */
export function examineZone(): Finding {
  return findingsOf('clock').ok('zone', `times are in ${machineZone()}`)
}

export interface Command {
  readonly code: number
  readonly out: string
}

const COMMAND_MS = 5_000

/** Runs a program of the system; resolves with undefined where it is not there or does not end. */
export function runCommand(name: string, args: readonly string[]): Promise<Command | undefined> {
  return new Promise((resolve) => {
    const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'ignore'], timeout: COMMAND_MS })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.on('error', () => resolve(undefined))
    child.on('close', (code) => resolve(code === null ? undefined : { code, out }))
  })
}

const PROPERTIES =
  'LoadState,ActiveState,SubState,UnitFileState,FragmentPath,ExecStart,NRestarts,Result,ExecMainStatus,ActiveEnterTimestamp'

/** Returns how the unit does that starts the daemon, where a service manager is there and has one. */
export async function examineUnit({ config, now }: HostPlace): Promise<readonly Finding[]> {
  const { skipped } = findingsOf('unit')
  const managers = [[], ['--user']] as const
  const shown = await Promise.all(
    managers.map((which) => runCommand('systemctl', [...which, 'show', 'parley.service', `--property=${PROPERTIES}`])),
  )
  if (shown.every((one) => one?.code !== 0)) return [skipped('manager', 'no service manager answers here')]
  const found = await Promise.all(
    shown.map(async (one, at) => {
      const unit = Object.fromEntries((one?.out ?? '').split('\n').map((line) => splitAt(line, '=')))
      return unit.LoadState === 'loaded' ? unitFindings(unit, { user: managers[at] === managers[1], config, now }) : []
    }),
  )
  const all = found.flat()
  return all.length > 0 ? all : [skipped('installed', 'no unit is installed; parley service install makes one')]
}

function splitAt(line: string, mark: string): readonly [string, string] {
  const at = line.indexOf(mark)
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + mark.length)]
}

interface UnitPlace {
  readonly user: boolean
  readonly config: HostPlace['config']
  readonly now: number
}

type Unit = Readonly<Record<string, string | undefined>>

async function unitFindings(unit: Unit, { user, config, now }: UnitPlace): Promise<readonly Finding[]> {
  const { ok, warning, failed } = findingsOf('unit')
  const systemctl = user ? 'systemctl --user' : 'sudo systemctl'
  const journal = `journalctl ${user ? '--user ' : ''}-u parley -n 50`
  const { ActiveState = '', SubState = '', Result = '', ExecMainStatus = '', UnitFileState = '' } = unit
  const runs = ActiveState === 'active' || ActiveState === 'activating'
  const findings: Finding[] = [
    runs
      ? ok('active', `the unit is ${ActiveState} (${SubState})`)
      : ExecMainStatus === '78'
        ? failed(
            'active',
            'the unit has stopped, for the configuration is wrong (78)',
            `parley config check, then: ${systemctl} start parley`,
          )
        : failed(
            'active',
            `the unit is not running: ${ActiveState} (${Result}, exit code ${ExecMainStatus})`,
            `${systemctl} start parley; why it ended: ${journal}`,
          ),
  ]
  if (!['enabled', 'enabled-runtime', 'static', 'alias', 'linked'].includes(UnitFileState))
    findings.push(warning('enabled', 'the unit is not started when the machine is', `${systemctl} enable parley`))
  const restarts = Number(unit.NRestarts ?? 0)
  const since = now - Date.parse((unit.ActiveEnterTimestamp ?? '').replace(/^\w+ /, ''))
  if (restarts > 0 && !(since > HOUR_MS))
    findings.push(warning('restarts', `the daemon was started again ${restarts} times after it had ended`, journal))
  const path = /--config[ =](\S+)/.exec(unit.ExecStart ?? '')?.[1]
  if (path !== undefined && config.file !== undefined && path !== config.file)
    findings.push(
      warning(
        'configuration',
        `the unit has another configuration, ${path}, than this examination`,
        `parley doctor --config ${path}`,
      ),
    )
  if (user) findings.push(...(await lingering()))
  return findings
}

async function lingering(): Promise<readonly Finding[]> {
  const username = userName()
  const shown = await runCommand('loginctl', ['show-user', username, '--property=Linger'])
  if (shown?.code !== 0 || !shown.out.includes('Linger=no')) return []
  const says = 'the unit of this user ends when the user logs out'
  return [findingsOf('unit').warning('linger', says, `sudo loginctl enable-linger ${username}`)]
}

/** A container may run under a bare number, for which the system has no entry. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 0)
  }
}

/** Returns the process that holds a lock on a file, as the kernel lists it; undefined where it lists none. */
export function holderOf(file: string): number | undefined {
  try {
    const { ino } = lstatSync(file)
    const lines = readFileSync('/proc/locks', 'utf8').split('\n')
    const line = lines.find((one) => one.includes('WRITE') && one.includes(`:${ino} `))
    const pid = Number(line?.trim().split(/\s+/)[4])
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

/** Reads the time of day in answers that come anyway, by whatever library they are asked for. */
export interface ClockWatch {
  /** Resolves with the first answer that has a time. */
  readonly first: Promise<void>
  finding(): Finding
  end(): void
}

/** A date in a header has whole seconds, and an answer takes some on its way. */
const WRONG_MS = 30_000

export function watchClock(): ClockWatch {
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
    finding: () => clockFinding(seen),
    end() {
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
