import {
  type BudgetSettings,
  type BudgetState,
  type Charge,
  PAYER_KINDS,
  type Payer,
  PERIODS,
  payerKey,
} from '../core/budget.ts'
import { budgetInWords } from '../core/budget-words.ts'
import type { Clock } from '../core/clock.ts'
import type { BudgetDesk, BudgetReport } from '../core/operate-budgets.ts'
import type { Store } from '../store/store.ts'
import { budgetsOf } from './applying.ts'
import { isPast } from './decide-call.ts'
import { periodAt } from './periods.ts'
import { statesOf, stopKeyOf } from './states.ts'

/** Payers of one period that are looked at. */
const MOST_ROWS = 500

export interface BudgetDeskDeps<Charged> {
  readonly store: Pick<Store, 'read'>
  readonly clock: Pick<Clock, 'now'>
  readonly settings: BudgetSettings
  /** Returns what would be charged. */
  chargeOf(charged: Charged): Charge | undefined
}

export function createBudgetDesk<Charged>({
  store: { read },
  clock,
  settings,
  chargeOf,
}: BudgetDeskDeps<Charged>): BudgetDesk<Charged> {
  const { warnAt } = settings
  const now = () => ({ timezone: settings.timezone, now: clock.now() })
  async function all(): Promise<readonly BudgetState[]> {
    const names = PERIODS.map((period) => periodAt(settings.timezone, clock.now(), period).name)
    const spent: string[] = []
    for (const name of names) spent.push(...(await read.budgets.payersIn(name, MOST_ROWS)))
    const payers = [...new Set(['total:', 'strangers:', ...spent])].flatMap(readPayer)
    const budgets = payers.flatMap((payer) => budgetsOf(settings, payer))
    return [...(await statesOf(read.budgets, budgets, now()))].sort((one, other) => shareOf(other) - shareOf(one))
  }
  const hasStopped = (state: BudgetState) => read.notices.known(stopKeyOf(state))
  async function reported(states: readonly BudgetState[]): Promise<readonly BudgetReport[]> {
    const reports: BudgetReport[] = []
    for (const state of states) reports.push(reportOf(state, settings.timezone, await hasStopped(state)))
    return reports
  }
  async function nearlySpent(): Promise<readonly BudgetState[]> {
    const found: BudgetState[] = []
    for (const one of await all()) if (isPast(one, warnAt) || (await hasStopped(one))) found.push(one)
    return found
  }
  return {
    async here(charged) {
      const { shared, askers } = chargeOf(charged) ?? { shared: [], askers: [] }
      return reported(await statesOf(read.budgets, [...shared, ...askers.flat()], now()))
    },
    all: async (limit) => reported((await all()).slice(0, limit)),
    nearlySpent: async (limit) => reported((await nearlySpent()).slice(0, limit)),
  }
}

function reportOf(state: BudgetState, timezone: string, hasStopped: boolean): BudgetReport {
  const { payer, period, used, limit, resetsAt } = state
  const words = `${budgetInWords(state, timezone)}${hasStopped ? '; a call did not fit' : ''}`
  return { words, payer: payerKey(payer), period, used, limit, resetsAt }
}

function readPayer(key: string): readonly Payer[] {
  const end = key.indexOf(':')
  const kind = PAYER_KINDS.find((one) => one === key.slice(0, end))
  return kind === undefined ? [] : [{ kind, id: key.slice(end + 1) }]
}

function shareOf({ limit, used }: BudgetState): number {
  return Math.max(used.tokens / (limit.tokens ?? Infinity), used.micros / (limit.micros ?? Infinity))
}
