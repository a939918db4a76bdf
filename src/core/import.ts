/** A file of an older program, read but not understood yet. */
export interface OldFile {
  readonly name: string
  readonly text: string
  /** The text of the `.meta.json` beside a `.jsonl` file. */
  readonly meta?: string
}

/** The result of an import: every file is in exactly one list. Plain JSON, as `--json` prints it. */
export interface ImportReport {
  readonly imported: readonly {
    readonly file: string
    readonly session: string
    readonly key: string
    readonly messages: number
    /** Lines that could not be read and were left out. */
    readonly skipped: number
  }[]
  /** Imported before, or the conversation has a session of its own by now. */
  readonly present: readonly { readonly file: string; readonly session: string }[]
  readonly unreadable: readonly { readonly file: string; readonly reason: string }[]
}
