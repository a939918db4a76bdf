import {
  type BudgetConfig,
  type BudgetLimits,
  type BudgetRules,
  type Payer,
  type PayerBudget,
  type PayerKind,
  PERIODS,
} from '../core/budget.ts'
import { type ChatMove, movedKey } from '../core/chat-move.ts'

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
    case 'client':
      return settings.strangers?.client
    case 'strangers':
      return settings.strangers?.together
    case 'session':
      return undefined
    default: {
      const { each, only = {} }: BudgetRules = settings[kind] ?? {}
      return Object.hasOwn(only, id) ? only[id] : each
    }
  }
}

/** Returns the settings with the budgets of single chats under the names that these have by now. */
export function presentBudgets(settings: BudgetConfig, moves: readonly ChatMove[]): BudgetConfig {
  const { chat, topic } = settings
  if (moves.length === 0) return settings
  return {
    ...settings,
    ...(chat === undefined ? {} : { chat: present(chat, moves) }),
    ...(topic === undefined ? {} : { topic: present(topic, moves) }),
  }
}

/** The present name counts more, where the file has both. */
function present({ only = {}, ...rules }: BudgetRules, moves: readonly ChatMove[]): BudgetRules {
  const moved = Object.entries(only).map(([key, limits]) => [moves.reduce(movedKey, key), limits] as const)
  return { ...rules, only: { ...Object.fromEntries(moved), ...only } }
}

/** Returns true if any payer of a kind may have a budget, so that payers of the other kinds need not be looked up. */
export function hasBudgets(settings: BudgetConfig, kind: PayerKind): boolean {
  if (kind === 'total') return settings.total !== undefined
  if (kind === 'stranger') return settings.strangers?.each !== undefined
  if (kind === 'client') return settings.strangers?.client !== undefined
  if (kind === 'strangers') return settings.strangers?.together !== undefined
  if (kind === 'session') return false
  return settings[kind] !== undefined
}
