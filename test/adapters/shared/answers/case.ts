/** An answer as a model writes it, and what a person reads of it on every platform. */
export interface Case {
  readonly written: string
  /** The words, without any mark; a link is its label. */
  readonly read: string
  readonly bold?: readonly string[]
  readonly italic?: readonly string[]
  readonly code?: readonly string[]
  /** Addresses in order, each as it opens. */
  readonly links?: readonly string[]
  /** Slack knows no mark within a word: there the words are plain. */
  readonly plainOnSlack?: true
}

export type Marks = Omit<Case, 'written' | 'read'>

export function reads(written: string, read: string, marks: Marks = {}): Case {
  return { written, read, ...marks }
}

/** What is read is what was written. */
export function stays(written: string, marks: Marks = {}): Case {
  return { written, read: written, ...marks }
}
