import type { EntryWriter } from './memory.ts'

/** The part of `OperatorService` about long-term memory. Times are ms since the epoch. */
export interface MemoryOperator {
  /** The newest first, 50 at most; with `words` those that have them, `before` a number those before it. */
  list(query: { readonly words?: string; readonly before?: number }): Promise<readonly MemoryReport[]>
  /** Throws `not_found`. */
  show(no: number): Promise<MemoryReport>
  /** Removes an entry and returns it. Throws `not_found`. */
  remove(no: number): Promise<MemoryReport>
}

/** An entry with where it was learned and whose words it is. */
export interface MemoryReport {
  readonly no: number
  readonly text: string
  readonly agent: string
  readonly session: string
  /** The name by which people know the conversation. */
  readonly title: string
  readonly authors: readonly string[]
  readonly by: EntryWriter
  readonly at: number
}
