import type { Amount, Limit } from '../core/budget.ts'

/** One payer in one period: `chat:…` in `2026-11-26` or `2026-11`. */
export interface BudgetKey {
  readonly payer: string
  readonly period: string
}

/** The sums of one payer in one period. */
export interface BudgetCount extends BudgetKey {
  readonly spent: Amount
  /** The most that the calls which are not settled may cost. */
  readonly held: Amount
  /** The limit that a call did not fit; absent where each did. */
  readonly missed?: Limit
}

export interface BudgetReader {
  /** Returns the sums, in the order of the keys; nothing spent for one without a row, or with one that cannot be read. */
  counts(keys: readonly BudgetKey[]): Promise<readonly BudgetCount[]>
  /** Returns the payers that have sums in a period: those whom a call did not fit first, then those who spent most. */
  payersIn(period: string, limit: number): Promise<readonly string[]>
  /** Returns the payers that have sums in any period and whose names begin so. */
  payersNamed(start: string): Promise<readonly string[]>
}

/**
 * Counts what calls of models cost. Rows hold ids and sums alone. A call is held, then settled, each in one commit with
 * the sums it changes: a kill in between counts it once, at what was held. A row of sums that is damaged is mended when
 * it is next looked at in a transaction: each sum that can be read stays.
 */
export interface BudgetWriter {
  /** Reserves the most that a call may cost, for each of the keys; `endsAt` is when its period ends. */
  hold(id: string, amount: Amount, keys: readonly (BudgetKey & { readonly endsAt: number })[]): Promise<void>
  /** Counts a call at its cost in the place of what was held. Does nothing for one that is settled. */
  settle(id: string, cost: Amount): Promise<readonly BudgetKey[]>
  /** Counts every call that a dead process has left at what was held, a damaged row too. Returns how many. */
  settleDead(): Promise<number>
  /** Returns true if people were notified of it. */
  isWarned(key: BudgetKey): Promise<boolean>
  /** Returns true once for each key: people are notified once. */
  warn(key: BudgetKey): Promise<boolean>
  /** Notes that a call did not fit this limit of a payer; `endsAt` is when its period ends. */
  miss(key: BudgetKey & { readonly endsAt: number }, limit: Limit): Promise<void>
  /** Has a payer go by another name, as a chat that has moved, with all that is held for it. */
  rename(payer: string, to: string): Promise<void>
  /** Deletes sums whose period ended before a time, at most `limit` rows; returns how many. */
  sweep(before: number, limit: number): Promise<number>
}
