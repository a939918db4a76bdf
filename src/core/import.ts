import type { SessionId } from './ids.ts'
import type { AuthorId } from './platform-id.ts'
import type { SessionKind } from './session.ts'

/** A file of an older program, read but not understood yet. */
export interface OldFile {
  readonly name: string
  readonly text: string
  /** The text of the `.meta.json` beside a `.jsonl` file. */
  readonly meta?: string
  /** The key that an index beside the files gives it. */
  readonly key?: string
  /** The reason why it was not read; its text is empty then. */
  readonly unread?: string
}

export interface ImportOptions {
  /** Nothing is kept of what the report names. */
  readonly dryRun?: boolean
  /** Called after each conversation. */
  progress?(this: void, done: number, total: number): void
}

/** The result of an import: every file is in exactly one list. Plain JSON, as `--json` prints it. */
export interface ImportReport {
  readonly imported: readonly {
    readonly file: string
    readonly session: string
    readonly key: string
    readonly messages: number
    /** The number of lines that could not be read and were left out, and the first of them by their numbers. */
    readonly skipped: number
    readonly damaged: readonly number[]
    /** The people whose words they count as, beside nobody's. */
    readonly words: readonly AuthorId[]
  }[]
  /**
   * Imported before (`imported`), or its chat has a session that began here and keeps it (`begun here`), of that kind.
   */
  readonly present: readonly {
    readonly file: string
    readonly session: string
    readonly as: 'imported' | 'begun here'
    readonly kind: SessionKind
  }[]
  readonly unreadable: readonly { readonly file: string; readonly reason: string }[]
}

/** The result of importing one session of another store. */
export interface BundleReport {
  readonly session: SessionId
  readonly key: string
  readonly events: number
  readonly files: number
  /** `in place`: its chat continues in it. `beside`: under a key of its own. `present`: it is there already. */
  readonly state: 'in place' | 'beside' | 'present'
}
