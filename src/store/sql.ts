import type { Logger } from '../core/logger.ts'
import type { CurrentSessions } from './current-sessions.ts'

/** What a parameter may be. Times and counters are integers below 2^53; ids of any size stay text. */
export type SqlValue = string | number | null

export type SqlRow = Readonly<Record<string, unknown>>

/**
 * The seam between the nouns and an engine. Statements are written once, in the subset SQLite and Postgres share, with
 * numbered parameters `$1..$n` that may repeat and come in any order. An engine may cache by statement text, so texts
 * are constants or come from a small bounded set.
 */
export interface Sql {
  all(text: string, params: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** The first row, if any. */
  get(text: string, params: readonly SqlValue[]): Promise<SqlRow | undefined>
  /** Returns the number of rows changed. */
  run(text: string, params: readonly SqlValue[]): Promise<number>
}

/** What the nouns stand on. */
export interface Ground {
  readonly sql: Sql
  readonly logger: Logger
  /** This store's own epoch. */
  readonly epoch: number
}

/** What the nouns of a transaction stand on. */
export interface WriteGround extends Ground {
  readonly current: CurrentSessions
}

/** `$1, $2, …`, `count` of them, the first one numbered `from`. */
export function placeholders(count: number, from = 1): string {
  return Array.from({ length: count }, (_, index) => `$${from + index}`).join(', ')
}
