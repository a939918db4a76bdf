import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type {
  BackupNeeds,
  BackupReport,
  ForgottenAgain,
  NeedReport,
  RestoreReport,
  VerifyReport,
} from '../../core/backup.ts'
import { sizeInWords } from '../../core/content-words.ts'
import { EXIT, errorCode, ParleyError } from '../../core/errors.ts'
import type { CliPorts, LoadedConfig } from '../ports.ts'
import { wrapped } from '../print/columns.ts'
import { counted, oneLine } from '../print/plain.ts'
import { createProgress } from '../print/progress.ts'
import { formatAge, formatTime } from '../print/time.ts'
import { reportError } from '../report-error.ts'
import { type ReadOptions, show } from '../show.ts'

type BackupPorts = Pick<CliPorts, 'env' | 'cwd' | 'now' | 'stdout' | 'stderr' | 'load' | 'backups'>

export interface BackupOptions extends ReadOptions {
  readonly keep?: string
}

export interface RestoreCommand extends ReadOptions {
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly newer?: string
}

/** Makes a copy of the store, beside a daemon or without one. */
export async function backup(ports: BackupPorts, to: string | undefined, options: BackupOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const operator = await ports.backups()
  const { at: progress, end } = createProgress(ports.stderr, 'files')
  const subject = { ...loaded, env: ports.env }
  const report = await operator.take(subject, { to, keep: options.keep, progress }).finally(end)
  show(ports, options, { value: report, lines: () => describeBackup(report) })
  return EXIT.ok
}

/** Checks a copy. Resolves with 65 for one that is not whole. */
export async function verify(ports: BackupPorts, copy: string | undefined, options: ReadOptions): Promise<number> {
  const loaded = await loadFor(ports, options, copy)
  const operator = await ports.backups()
  const { at: progress, end } = createProgress(ports.stderr, 'files')
  return unlessDamaged(ports, async () => {
    const report = await operator.verify({ ...loaded, env: ports.env }, copy, { progress }).finally(end)
    show(ports, options, { value: report, lines: () => describeWhole(report, ports.now()) })
    return EXIT.ok
  })
}

/** Puts a copy in the place of the store. Without `--yes` it is listed what would be done, and nothing is written. */
export async function restore(ports: BackupPorts, from: string, options: RestoreCommand): Promise<number> {
  const { yes = false, dryRun = false, newer } = options
  if (yes && dryRun) throw new ParleyError('invalid', '--yes and --dry-run exclude each other')
  const operator = await ports.backups()
  return unlessDamaged(ports, async () => {
    const loaded = await loadFor(ports, options, from)
    const { at: progress, end } = createProgress(ports.stderr, 'files')
    const placedByCopy = isIn(from, loaded)
    const configFile = fileNamed(ports, options) ?? (placedByCopy ? undefined : loaded.config.file)
    const subject = { ...loaded, env: ports.env }
    const request = { from, confirmed: yes, newer, configFile, placedByCopy, progress }
    const report = await operator.restore(subject, request).finally(end)
    show(ports, options, { value: report, lines: () => describeRestore(report, ports.now(), loaded.config) })
    return report.state === 'planned' && !dryRun ? EXIT.failed : EXIT.ok
  })
}

function fileNamed({ cwd, env }: BackupPorts, { config }: ReadOptions): string | undefined {
  const named = config ?? (env.PARLEY_CONFIG || undefined)
  return named === undefined ? undefined : resolve(cwd, named)
}

function isIn(copy: string, { config }: LoadedConfig): boolean {
  return config.file?.startsWith(`${copy}/`) === true
}

/**
 * On a new machine there is no configuration yet: that of the copy says where the store belongs. Nothing else is read
 * of it: what it needs besides may be missing here, and is listed.
 */
async function loadFor(ports: BackupPorts, options: ReadOptions, copy: string | undefined): Promise<LoadedConfig> {
  const named = fileNamed(ports, options)
  if (copy !== undefined && named !== undefined && !existsSync(named)) {
    const file = await (await ports.backups()).configIn(copy)
    if (file !== undefined) return ports.load(file, 'store')
  }
  const loaded = await ports.load(options.config, copy === undefined ? 'ask' : 'store')
  if (loaded.config.file !== undefined || copy === undefined) return loaded
  const file = await (await ports.backups()).configIn(copy).catch(() => undefined)
  return file === undefined ? loaded : ports.load(file, 'store')
}

async function unlessDamaged(ports: BackupPorts, work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (errorCode(error) !== 'unreadable') throw error
    reportError(ports, error)
    return EXIT.migration
  }
}

function describeBackup(report: BackupReport): readonly string[] {
  const { path, bytes, sharedBytes, tookMs, config, damaged, replaced, elsewhere, needs, removed, ahead } = report
  const shared = sharedBytes > 0 ? `, ${sizeInWords(sharedBytes)} of it shared with the copy before` : ''
  return [
    oneLine(path),
    ...item(`${holds(report)}; ${sizeInWords(bytes)}${shared}, ${inSeconds(tookMs)}`),
    ...(report.readableByOthers === true && !report.encrypted ? item(OPEN) : []),
    ...(config === undefined
      ? item('no configuration is in it: no file was found, --config names one')
      : item(`configuration: ${config}`)),
    ...(config === undefined ? [] : item(SECRETS)),
    ...replaced.flatMap(({ setting, reference }) => item(`a secret was left out: ${setting}, now ${reference}`)),
    ...listed('not copied: hidden, a link, too large, or outside of that folder; keep it yourself:', elsewhere),
    ...damaged.flatMap((id) => item(`missing or damaged in the store itself: ${id}`)),
    ...needLines(needs),
    ...removed.flatMap((one) => item(`an older copy was removed: ${one}`)),
    ...ahead.flatMap((one) => item(`left alone, dated after this one by a clock that was wrong: ${one}`)),
  ]
}

const OPEN =
  'ATTENTION: this disk cannot keep others out. Whoever can use it can read the copy, also what was said in chats. ' +
  'With store.key set, copies are encrypted.'
const SECRETS =
  'Secret settings are not in the copy. The prompts, skills, tools and hooks beside the configuration are: as they ' +
  'stand, with a secret that is written into one.'
const WIDTH = 80

/** Returns a text below a first line, broken between words. */
function item(text: string): readonly string[] {
  const [first = '', ...more] = wrapped(oneLine(text), WIDTH, '    ')
  return [first.slice(2), ...more]
}

function listed(title: string, paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [...item(title), ...paths.map((path) => `    ${oneLine(path)}`)]
}

function needLines(needs: BackupNeeds): readonly string[] {
  const named = [
    ['variables', needs.variables],
    ['files of secrets', needs.files],
    ['credentials', needs.credentials],
    ['programs', needs.programs],
    ['logins at tool servers', needs.logins],
  ] as const
  return named.flatMap(([what, names]) =>
    names.length === 0 ? [] : item(`not in it, and needed with it: ${what} ${names.join(', ')}`),
  )
}

function holds({
  sessions,
  events,
  files,
  encrypted,
}: Pick<BackupReport, 'sessions' | 'events' | 'files' | 'encrypted'>): string {
  const what = `${counted(sessions, 'conversation')}, ${counted(events, 'event')}, ${counted(files, 'file')}`
  return encrypted ? `${what}, encrypted` : what
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function describeWhole(report: VerifyReport, now: number): readonly string[] {
  const { path, madeAt, bytes, lost } = report
  return [
    `${oneLine(path)} is whole.`,
    ...item(`made ${formatTime(madeAt)} (${formatAge(madeAt, now)} ago); ${holds(report)}; ${sizeInWords(bytes)}`),
    ...(lost.length === 0
      ? []
      : item(`${counted(lost.length, 'file')} were missing or damaged in the store when it was made`)),
  ]
}

function describeRestore(report: RestoreReport, now: number, { ofService }: LoadedConfig['config']): readonly string[] {
  const start = ofService ? 'systemctl start parley' : 'parley start'
  const next = ['What was put back asks before it sends. Next:', `  ${start}`, '  parley outbox list']
  const { state, path, into, aside } = report
  if (state === 'finished')
    return [
      `A restore had been interrupted; it is at its end now: ${oneLine(into)}`,
      ...(path === '' ? [] : [`  from: ${oneLine(path)}`]),
      ...(aside === undefined ? [] : [`  the state before it: ${oneLine(aside)}`]),
      ...next,
    ]
  const planned = state === 'planned'
  const { madeAt = 0, sessions = 0, events = 0, files = 0, config } = report
  return [
    oneLine(path),
    ...item(
      `made ${formatTime(madeAt)} (${formatAge(madeAt, now)} ago); ${holds({ sessions, events, files, encrypted: false })}`,
    ),
    `  ${planned ? 'would be put' : 'was put'} into ${oneLine(into)}`,
    ...(report.placedByCopy === true ? ['  where its own configuration says; --config names another'] : []),
    ...(aside === undefined
      ? []
      : item(`the state that ${planned ? 'is there would be' : 'was there was'} moved to ${aside}`)),
    ...item(newerInWords(report)),
    ...config.map((file) => `  configuration, ${planned ? 'to be written' : 'written'}: ${oneLine(file)}`),
    ...report.unwritten.map((file) => `  configuration, not written (no right to, or no room): ${oneLine(file)}`),
    ...report.needs.map(needLine),
    ...(report.next === undefined ? [] : [`  before the start: ${report.next}`]),
    ...(planned ? ['Nothing was changed; --yes does it.'] : next),
  ]
}

function needLine({ kind, name, there }: NeedReport): string {
  if (kind === 'login') return `  log in ${there ? 'is there' : 'again'}: parley mcp login ${oneLine(name)}`
  return `  needs the ${kind} ${oneLine(name)}, ${there ? 'which is there' : 'WHICH IS MISSING here'}`
}

/** Says what becomes of the words that were forgotten after the copy was made. */
function newerInWords({ state, forgotten, newer }: RestoreReport): string {
  if (newer === 'other') return `the copy is of another store than the one there: ${NO_LIST}`
  if (forgotten !== undefined) {
    const words = inWords(forgotten)
    return words === '' ? 'nothing was forgotten since it was made' : `forgotten since, and again: ${words}`
  }
  if (state !== 'planned' || newer === undefined) return NO_LIST
  return newer === 'same'
    ? 'the copy is of the store that is there: what was forgotten since would be forgotten again'
    : 'what was forgotten since would be forgotten again, if this is the same store'
}

const NO_LIST = 'no newer list of deletions: what was forgotten since it was made is in it again'

function inWords({ messages, events, memories, reminders, files, sessions }: ForgottenAgain): string {
  const all = [
    [messages, 'message'],
    [events - messages, 'other event'],
    [memories, 'memory entry'],
    [reminders, 'reminder'],
    [files, 'file'],
    [sessions, 'conversation'],
  ] as const
  return all
    .flatMap(([count, what]) => (count > 0 ? [`${count} ${what}${count === 1 ? '' : 's'}`] : []))
    .join(', ')
    .replace('entrys', 'entries')
}
