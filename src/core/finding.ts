import type { StatusReport } from './operator.ts'

/** One result of looking for faults, as `parley doctor` prints it: a line each. */
export interface Finding {
  /** The part that was examined: `telegram`, `slack/work`, `model ollama`, `database`, `clock`. */
  readonly part: string
  /** The name of the check for programs, which never changes: `token`, `privacy-mode`, `second-poller`. */
  readonly check: string
  /** `warning`: it works, but not as most people expect. `skipped`: it could not be examined, for the reason given. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly says: string
  /** A command to type or a place to click; there for every warning and failure. */
  readonly remedy?: string
  /** The change by which `--fix` mends it; absent where only a person can. */
  readonly fix?: Fix
}

/** A change without a doubt: the mode of a file or folder of Parley, or a socket that a killed daemon has left. */
export type Fix =
  | { readonly kind: 'mode'; readonly path: string; readonly mode: Mode }
  | { readonly kind: 'remove'; readonly path: string }

/** A mode as `chmod` takes it. */
export type Mode = '600' | '640' | '700' | 'go-w'

/** The findings of one examination, as `parley doctor --json` prints them. */
export interface DoctorReport {
  readonly version: string
  readonly findings: readonly Finding[]
  /** The changes that `--fix` has made, a sentence each. */
  readonly fixed: readonly string[]
  /** The price of what the models were asked, as far as it is known. */
  readonly usd: number
}

/** Returns what makes the findings of a part. */
export function findingsOf(part: string) {
  const bad =
    (state: 'warning' | 'failed') =>
    (check: string, says: string, remedy: string, fix?: Fix): Finding => ({
      ...{ part, check, state, says, remedy, ...(fix === undefined ? {} : { fix }) },
    })
  return {
    ok: (check: string, says: string): Finding => ({ part, check, state: 'ok', says }),
    skipped: (check: string, says: string): Finding => ({ part, check, state: 'skipped', says }),
    warning: bad('warning'),
    failed: bad('failed'),
  }
}

/** Splits the message of an error at its remedy: behind `Run: `, a semicolon, or the end of its first sentence. */
export function saysAndRemedy(message: string, otherwise: string): readonly [says: string, remedy: string] {
  const text = message.replace(/\s+/g, ' ').trim()
  const [, says = '', remedy = ''] = /^(.+?[.)]) ?(Run: .+)$/.exec(text) ?? /^(.+?); (.+)$/.exec(text) ?? []
  const [, first = '', rest = ''] = remedy === '' ? (/^(.+?\.) ([A-Z].+)$/.exec(text) ?? []) : ['', says, remedy]
  return rest === '' ? [text, otherwise] : [first, rest.charAt(0).toUpperCase() + rest.slice(1)]
}

/** The subject of `parley doctor`; `Config` is the configuration as the daemon uses it. */
export interface DoctorRequest<Config> {
  /** Absent: none could be read, and the rest is examined without it. */
  readonly config?: Config
  /** The lines about the configuration: what keeps it from being used as it is, and what is doubtful in it. */
  readonly mistakes: readonly string[]
  readonly warnings: readonly string[]
  /** The answer of the daemon on its socket, or why it gave none; neither: none runs. */
  readonly status?: StatusReport
  readonly trouble?: string
  /** Only these parts: `telegram`, `model`, `database`; none: all. */
  readonly parts: readonly string[]
  /** Nothing is asked over the network. */
  readonly offline: boolean
  /** Whatever is safe to mend is mended. */
  readonly fix: boolean
  readonly now: number
  /** Called as checks end. */
  progress(this: void, done: number, of: number): void
}
