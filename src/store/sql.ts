import type { ChannelId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { KnownSessions } from './known-sessions.ts'
import type { FilesNamed, StoreWatch } from './store.ts'

/** The types of a parameter. Times and counters are integers below 2^53; ids of any size stay text. */
export type SqlValue = string | number | null

export type SqlRow = Readonly<Record<string, unknown>>

/**
 * The seam between the repositories and an engine. Statements are written once, in the subset SQLite and Postgres
 * share, with numbered parameters `$1..$n` that may repeat and come in any order. An engine may cache by statement
 * text, so texts are constants or come from a small bounded set.
 */
export interface Sql {
  all(text: string, params: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** The first row, if any. */
  get(text: string, params: readonly SqlValue[]): Promise<SqlRow | undefined>
  /** Resolves with the number of rows changed. */
  run(text: string, params: readonly SqlValue[]): Promise<number>
}

/** The `Sql` of one transaction. */
export interface TransactionSql extends Sql {
  /** Calls `tell` once the transaction is committed, before its caller is answered; never if it is undone. */
  afterCommit(tell: () => void): void
  /** Calls `takeBack` once the transaction is undone, before the next one runs; the last that was asked for first. */
  afterUndo(takeBack: () => void): void
}

/** The parts that every repository reads with. */
export interface RepositoryDeps {
  readonly sql: Sql
  readonly logger: Logger
  /** This store's own epoch. */
  readonly epoch: number
  /** Channels whose ids keep their case in names. */
  readonly caseSensitive: readonly ChannelId[]
}

/** The parts that the repositories of a transaction write with. */
export interface WriteDeps extends RepositoryDeps {
  readonly sql: TransactionSql
  readonly known: KnownSessions
  readonly watch?: StoreWatch | undefined
  readonly named?: FilesNamed | undefined
}

/** `items` in order, at most `size` at a time. */
export function inBatches<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  if (items.length <= size) return items.length === 0 ? [] : [items]
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, batch) => items.slice(batch * size, (batch + 1) * size))
}

/** `$1, $2, …`, `count` of them, the first one numbered `from`. */
export function placeholders(count: number, from = 1): string {
  return Array.from({ length: count }, (_, index) => `$${from + index}`).join(', ')
}
