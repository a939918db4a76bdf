import type { Amount, BudgetState } from '../core/budget.ts'

/** A budget as it stands: `used` includes what running calls hold, `spent` does not. */
export interface BudgetNow extends BudgetState {
  readonly spent: Amount
  /** A call did not fit it, as its limit is now. */
  readonly missed: boolean
}

/** A call that wants to be made. */
export interface WantedCall {
  readonly shared: readonly BudgetNow[]
  readonly askers: readonly (readonly BudgetNow[])[]
  /** The most that it may cost. */
  readonly cost: Amount
  /** The most that it may cost with the cheaper model; absent where that may not be asked. */
  readonly cheaper?: Amount
  /** The share of a limit from which on the cheaper model is asked. */
  readonly warnAt: number
}

/**
 * `call`: it fits, charged to this one of the askers. `wait`: it fits once calls under way have cost less than they
 * might. `stop`: it does not fit these budgets; `hit` is the one that begins anew last.
 */
export type CallDecision =
  | { readonly kind: 'call'; readonly model: 'own' | 'cheaper'; readonly asker: number }
  | { readonly kind: 'wait' }
  | {
      readonly kind: 'stop'
      readonly hit: BudgetNow
      readonly missed: readonly BudgetNow[]
      readonly tooSmall: boolean
    }

/**
 * Decides whether a call may be made, pure. It fits a budget if everything that was spent, everything that is held and
 * the most it may cost itself are within the limit, so that calls side by side never pass it together.
 */
export function decideCall(call: WantedCall): CallDecision {
  const { shared, askers, cost, cheaper, warnAt } = call
  const payers = askers.length === 0 ? [NOBODY] : askers
  for (const [asker, own] of payers.entries()) {
    const all = [...shared, ...own]
    const late = cheaper !== undefined && all.some((budget) => isPast(budget, warnAt))
    if (!late && all.every((budget) => fits(budget, cost, budget.used))) return { kind: 'call', model: 'own', asker }
    if (cheaper !== undefined && all.every((budget) => fits(budget, cheaper, budget.used)))
      return { kind: 'call', model: 'cheaper', asker }
  }
  const least = cheaper ?? cost
  const misses = (budget: BudgetNow): boolean => !fits(budget, least, budget.spent)
  if (payers.some((own) => ![...shared, ...own].some(misses))) return { kind: 'wait' }
  const missed = [...shared, ...(payers[0] ?? NOBODY)].filter(misses)
  const hit = missed.reduce((one, other) => (other.resetsAt > one.resetsAt ? other : one))
  return { kind: 'stop', hit, missed, tooSmall: !fits(hit, least, { tokens: 0, micros: 0 }) }
}

const NOBODY: readonly BudgetNow[] = []

function fits({ limit, onExceed }: BudgetNow, cost: Amount, used: Amount): boolean {
  if (onExceed === 'warn') return true
  return (
    (limit.tokens === undefined || used.tokens + cost.tokens <= limit.tokens) &&
    (limit.micros === undefined || used.micros + cost.micros <= limit.micros)
  )
}

/** Returns whether a share of a budget is used up. */
export function isPast({ limit, used }: Pick<BudgetState, 'limit' | 'used'>, share: number): boolean {
  return (
    (limit.tokens !== undefined && used.tokens >= limit.tokens * share) ||
    (limit.micros !== undefined && used.micros >= limit.micros * share)
  )
}
