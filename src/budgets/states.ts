import { type Amount, type BudgetSettings, type Limit, type PayerBudget, payerKey } from '../core/budget.ts'
import type { BudgetKey, BudgetReader } from '../store/budget-port.ts'
import type { BudgetNow } from './decide-call.ts'
import { periodAt } from './periods.ts'

/** The last instant that a date can be. */
const NEVER = 8_640_000_000_000_000

/** Returns budgets as they stand at an instant, in their order. */
export async function statesOf(
  read: BudgetReader,
  budgets: readonly PayerBudget[],
  { timezone, now }: Pick<BudgetSettings, 'timezone'> & { readonly now: number },
): Promise<readonly BudgetNow[]> {
  const places = budgets.map(({ period, since = 0 }) =>
    period === 'session' ? { name: `since ${since}`, endsAt: NEVER } : periodAt(timezone, now, period),
  )
  const counts = await read.counts(
    budgets.map(({ payer }, index) => ({ payer: payerKey(payer), period: places[index]?.name ?? '' })),
  )
  return budgets.flatMap((budget, index): BudgetNow | [] => {
    const [place, count] = [places[index], counts[index]]
    if (place === undefined || count === undefined) return []
    const { spent, held, missed: limit } = count
    // A limit that has changed since is another one.
    const missed = limit !== undefined && isSame(limit, budget.limit)
    return { ...budget, at: place.name, resetsAt: place.endsAt, spent, used: sum(spent, held), missed }
  })
}

export function sum(one: Amount, other: Amount): Amount {
  return { tokens: one.tokens + other.tokens, micros: one.micros + other.micros }
}

/** Returns the key of a budget's row. */
export function keyOf({ payer, at }: Pick<BudgetNow, 'payer' | 'at'>): BudgetKey {
  return { payer: payerKey(payer), period: at }
}

function isSame(limit: Limit, { tokens, micros }: Limit): boolean {
  return limit.tokens === tokens && limit.micros === micros
}
