import type { DoctorReport, DoctorRequest } from './finding.ts'

/** The facts that `parley support` writes for a report: without secrets, names and anybody's words. */
export interface SupportReport {
  /** Says what is in the file and what is not, a sentence each. */
  readonly about: readonly string[]
  readonly program: Readonly<Record<string, string | number>>
  readonly configuration: {
    readonly state: 'read' | 'has mistakes' | 'cannot be read' | 'absent'
    /** The places of mistakes, without what stands there. */
    readonly mistakes: readonly { readonly line?: number; readonly setting?: string }[]
    readonly warnings: number
    /** Each setting that the file has, by its path; names, ids and texts are replaced. */
    readonly settings: Readonly<Record<string, string | number | boolean | null>>
  }
  readonly daemon: Readonly<Record<string, unknown>>
  readonly store: Readonly<Record<string, unknown>>
  readonly findings: readonly { readonly part: string; readonly check: string; readonly state: string }[]
}

/** The answers that a report is made of: those of the configuration, of the daemon, and of an examination. */
export type SupportRequest<Config> = Pick<
  DoctorRequest<Config>,
  'config' | 'mistakes' | 'warnings' | 'status' | 'trouble'
> &
  Pick<DoctorReport, 'findings'> & {
    /** The value of `--config`. */
    readonly path?: string
  }
