import type { BudgetState } from './budget.ts'

/** A budget as an operator is shown it; plain JSON. */
export interface BudgetReport {
  /** The budget, what is used of it, when it begins anew, and if a call did not fit it, in words. */
  readonly words: string
  readonly payer: string
  readonly period: BudgetState['period']
  readonly used: BudgetState['used']
  readonly limit: BudgetState['limit']
  /** Ms since the epoch. */
  readonly resetsAt: number
}

/** The budgets as people ask for them. No call asks a model. */
export interface BudgetDesk<Charged> {
  /** The zone whose days count. */
  readonly timezone: string
  /** Returns those that a call must fit which this would cause. */
  here(charged: Charged): Promise<readonly BudgetReport[]>
  /** Returns those of everybody who has spent something in the present periods, the fullest first. */
  all(limit: number): Promise<readonly BudgetReport[]>
  /** Returns those of `all` of which something is used, or which a call did not fit, and that of everything. */
  spent(limit: number): Promise<readonly BudgetReport[]>
}
