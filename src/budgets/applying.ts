import {
  type BudgetConfig,
  type BudgetLimits,
  type BudgetRules,
  type Payer,
  type PayerBudget,
  type PayerKind,
  PERIODS,
} from '../core/budget.ts'

/** Returns the budgets of a payer: those of its own, else those that each of its kind has. */
export function budgetsOf(settings: BudgetConfig, payer: Payer): readonly PayerBudget[] {
  const limits = limitsOf(settings, payer)
  if (limits === undefined) return NONE
  return PERIODS.flatMap((period) => {
    const limit = limits[period]
    return limit === undefined ? [] : [{ payer, period, limit }]
  })
}

const NONE: readonly PayerBudget[] = []

function limitsOf(settings: BudgetConfig, { kind, id }: Payer): BudgetLimits | undefined {
  switch (kind) {
    case 'total':
      return settings.total
    case 'stranger':
      return settings.strangers?.each
    case 'strangers':
      return settings.strangers?.together
    default: {
      const { each, only = {} }: BudgetRules = settings[kind] ?? {}
      return Object.hasOwn(only, id) ? only[id] : each
    }
  }
}

/** Returns true if some payer of a kind may have a budget: nothing else needs to be asked about payers of others. */
export function hasBudgets(settings: BudgetConfig, kind: PayerKind): boolean {
  if (kind === 'total') return settings.total !== undefined
  if (kind === 'stranger') return settings.strangers?.each !== undefined
  if (kind === 'strangers') return settings.strangers?.together !== undefined
  return settings[kind] !== undefined
}
