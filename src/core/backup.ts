/** The schedule and the places of backups, as the configuration has them. */
export interface BackupSettings {
  /** A day, a week, or so many hours. */
  readonly every: 'day' | 'week' | number
  /** The time of day, `03:00` in the zone of the machine; not for hours. */
  readonly at: string
  /** The folder of the copies; absent: `backups` in the state folder. */
  readonly to?: string
  /** A rule, `7d,4w`. */
  readonly keep: string
}

export const KEEP_UNITS = ['h', 'd', 'w', 'm', 'y'] as const
export type KeepUnit = (typeof KEEP_UNITS)[number]

/** The newest copy of each of so many hours, days, weeks, months and years is kept. */
export type KeepRule = Readonly<Partial<Record<KeepUnit, number>>>

/** The record of the last backup; times are ms since the epoch. */
export interface LastBackup {
  /** When the last whole copy was made; absent: there was none yet. */
  readonly at?: number
  readonly path?: string
  readonly bytes?: number
  /** True if its folder exists now. */
  readonly there?: boolean
  /** The newest attempt failed then, for this reason. */
  readonly failedAt?: number
  readonly reason?: string
}

export interface BackupRequest {
  /** The folder of the copies; absent: that of the configuration. */
  readonly to?: string | undefined
  /** A rule, `7d,4w`; absent: no older copy is removed. */
  readonly keep?: string | undefined
  progress(this: void, done: number, total: number): void
}

export interface RestoreRequest {
  readonly from: string
  readonly confirmed: boolean
  /** The folder of a newer state of the store. */
  readonly newer?: string | undefined
  /** The configuration file, which may not be there yet. */
  readonly configFile?: string | undefined
  /** True if no configuration of this machine says where the store belongs, but that of the copy. */
  readonly placedByCopy: boolean
  progress(this: void, done: number, total: number): void
}

interface CopyFacts {
  readonly path: string
  readonly madeAt: number
  /** The size of all its files. */
  readonly bytes: number
  readonly sessions: number
  readonly events: number
  /** Files of conversations. */
  readonly files: number
  readonly encrypted: boolean
}

/** The account of a copy that was made. */
export interface BackupReport extends CopyFacts {
  readonly tookMs: number
  /** The size of the files that share their bytes with an earlier copy. */
  readonly sharedBytes: number
  /** Files of conversations that are missing or damaged in the store itself. */
  readonly damaged: readonly string[]
  /** The disk of the copies keeps no modes. */
  readonly readableByOthers?: true
  /** The configuration file; absent where the environment is all there is. */
  readonly config?: string
  /** Secrets that stood in the configuration itself, and by what each was replaced. */
  readonly replaced: readonly ReplacedSecret[]
  /** Files that the configuration names and that are not in the copy. */
  readonly elsewhere: readonly string[]
  readonly needs: BackupNeeds
  /** Older copies that were removed. */
  readonly removed: readonly string[]
  /** Copies of a clock that was wrong, dated after this one: they stay, and take the place of no other. */
  readonly ahead: readonly string[]
}

export interface ReplacedSecret {
  /** The setting, such as `channels.telegram.accounts.default.token`, or a file beside the configuration. */
  readonly setting: string
  readonly reference: string
}

/** The names of what a restored installation needs besides the copy; no value is among them. */
export interface BackupNeeds {
  readonly variables: readonly string[]
  readonly files: readonly string[]
  readonly credentials: readonly string[]
  /** Programs that are started and are not in the copy. */
  readonly programs: readonly string[]
  /** Tool servers at which somebody has logged in. */
  readonly logins: readonly string[]
}

export interface VerifyReport extends CopyFacts {
  /** Files of conversations that the store lacked, or had damaged, when it was copied. */
  readonly lost: readonly string[]
}

/** One thing that a copy needs, and whether it is there now. */
export interface NeedReport {
  readonly kind: 'variable' | 'file' | 'credential' | 'program' | 'login'
  readonly name: string
  readonly there: boolean
}

export interface RestoreReport {
  /** `planned`: nothing was written. `finished`: an interrupted restore was brought to its end. */
  readonly state: 'planned' | 'restored' | 'finished'
  readonly path: string
  readonly madeAt?: number
  readonly into: string
  /** True if only the copy says that the store belongs there. */
  readonly placedByCopy?: boolean
  readonly sessions?: number
  readonly events?: number
  readonly files?: number
  readonly bytes?: number
  readonly needs: readonly NeedReport[]
  /** The folder to which the state that was there is moved; absent: there was none. */
  readonly aside?: string
  /** The state whose deletions are applied; absent: there is none. */
  readonly newer?: 'same' | 'other' | 'unknown'
  /** Removed once more, because it was forgotten after the copy was made; absent: no newer list of deletions. */
  readonly forgotten?: ForgottenAgain
  /** Configuration files that were written. */
  readonly config: readonly string[]
  /** Those that could not be written, by their place in the copy. */
  readonly unwritten: readonly string[]
  /** A command to run before the start, as `parley store encrypt`. */
  readonly next?: string
}

/** The rows that were emptied or removed once more. */
export interface ForgottenAgain {
  readonly messages: number
  readonly events: number
  readonly memories: number
  readonly reminders: number
  readonly files: number
  readonly sessions: number
}
