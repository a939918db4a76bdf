import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getPriority, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { readLastBackup, recordBackup } from '../backup/last-backup.ts'
import { removeStaged } from '../backup/restore-backup.ts'
import type { Config } from '../config/config.ts'
import type { BackupSettings, LastBackup } from '../core/backup.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { AccountAt, OwnerNotice } from '../core/owner-notice.ts'
import { builtFile } from '../platform/run-child.ts'

export interface BackupScheduleDeps {
  readonly config: Config
  readonly clock: Clock
  readonly logger: Logger
  notify(this: void, told: { readonly where: AccountAt; readonly notice: OwnerNotice }): void
  /** Makes a copy; resolves with why that failed. By default the program does it in a process of its own. */
  readonly make?: (config: Config) => Promise<string | undefined>
}

/** After a start people come first. */
const FIRST_MS = 10_000
/** The time of day may be set, and a machine may sleep: it is looked at again after so long. */
const LOOK_MS = 600_000
const AGAIN_MS = 3_600_000
const HOUR_MS = 3_600_000

/** Makes copies of the store as the configuration says, one at a time, until the process ends. */
export function startBackups(deps: BackupScheduleDeps): void {
  const { config, clock } = deps
  const { backup: settings, dataDir } = config
  removeStaged(dataDir)
  if (settings === undefined) return
  const look = (): void => {
    const wait = nextBackup(settings, readLastBackup(dataDir), clock.now()) - clock.now()
    if (wait > 0) clock.after(Math.min(wait, LOOK_MS), look)
    else void backUp(deps).finally(() => clock.after(LOOK_MS, look))
  }
  clock.after(FIRST_MS, look)
}

/**
 * Pure: returns when the next copy is due, ms since the epoch; what was missed is due at once. After a failure an hour
 * passes. A copy of a time to come was made by a clock that was wrong, and is none.
 */
export function nextBackup({ every, at }: BackupSettings, last: LastBackup | undefined, now: number): number {
  const done = last?.at !== undefined && last.at <= now ? last.at : undefined
  const due = typeof every === 'number' ? (done ?? now) + (done === undefined ? 0 : every * HOUR_MS) : slot()
  const { failedAt } = last ?? {}
  return failedAt !== undefined && failedAt <= now ? Math.max(due, failedAt + AGAIN_MS) : due

  function slot(): number {
    const latest = slotBefore(now, every === 'week', at)
    return done === undefined || done < latest ? latest : slotAfter(latest, every === 'week', at)
  }
}

function slotBefore(now: number, weekly: boolean, at: string): number {
  const today = new Date(now)
  const back = weekly ? (today.getDay() + 6) % 7 : 0
  const slot = timeOn(today, -back, at)
  return slot <= now ? slot : timeOn(today, -back - (weekly ? 7 : 1), at)
}

function slotAfter(slot: number, weekly: boolean, at: string): number {
  return timeOn(new Date(slot), weekly ? 7 : 1, at)
}

/** Returns a time of day in the zone of the machine, some days later. */
function timeOn(day: Date, later: number, at: string): number {
  const [hours, minutes] = at.split(':').map(Number)
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + later, hours, minutes).getTime()
}

/** Owners learn once that copies fail, and once that they are made again. */
async function backUp({ config, clock, logger, notify, make = makeInChild }: BackupScheduleDeps): Promise<void> {
  const { dataDir } = config
  const before = readLastBackup(dataDir)
  const failed = await make(config).catch((error: unknown) => String(error))
  // A process that could not even begin has recorded nothing.
  if (failed !== undefined && readLastBackup(dataDir)?.failedAt === before?.failedAt)
    recordBackup(dataDir, { failedAt: clock.now(), reason: failed })
  const last = readLastBackup(dataDir)
  const tell = (text: string): void => {
    const where = firstAccount(config)
    if (where !== undefined) notify({ where, notice: { about: 'backup', text } })
  }
  if (failed === undefined) {
    logger.info('A backup was made', { path: last?.path, bytes: last?.bytes })
    if (before?.failedAt !== undefined) tell(`Backups are made again: ${last?.path}.`)
    return
  }
  const reason = (last?.reason ?? failed).replace(/\.?$/, '.')
  logger.error('The backup failed; it is tried again in an hour', { reason })
  if (before?.failedAt === undefined)
    tell(`My backup failed: ${reason} I try again each hour, and say so once it works. \`parley backup\` tries it now.`)
}

function firstAccount({ channels }: Config): AccountAt | undefined {
  const [first] = Object.entries(channels).flatMap(([channel, { accounts }]) =>
    Object.keys(accounts).map((account) => ({ channel, account }) as AccountAt),
  )
  return first
}

const NICER = 5
const NICEST = 19
/** The end of what the process has printed, in characters: its last line says why it failed. */
const MOST_PRINTED = 2_000

async function makeInChild(config: Config): Promise<string | undefined> {
  const { backup, file } = config
  const main = fileURLToPath(builtFile('main.js'))
  const rule = backup === undefined ? [] : ['--keep', backup.keep]
  const args = [main, 'backup', ...rule, '--json', ...(file ? ['--config', file] : [])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let printed = ''
  child.stderr.on('data', (text) => {
    printed = (printed + String(text)).slice(-MOST_PRINTED)
  })
  if (child.pid !== undefined) setPriority(child.pid, Math.min(getPriority() + NICER, NICEST))
  const [code] = await once(child, 'close')
  return code === 0 ? undefined : (printed.trim().split('\n').at(-1) ?? `it ended with ${code}`)
}
