import { type BudgetSettings, type Charge, PAYER_KINDS, type Payer, PERIODS, payerKey } from '../core/budget.ts'
import { budgetInWords } from '../core/budget-words.ts'
import type { Clock } from '../core/clock.ts'
import type { BudgetDesk, BudgetReport } from '../core/operate-budgets.ts'
import type { Store } from '../store/store.ts'
import { budgetsOf } from './applying.ts'
import type { BudgetNow } from './decide-call.ts'
import { periodAt } from './periods.ts'
import { statesOf } from './states.ts'

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
  const now = () => ({ timezone: settings.timezone, now: clock.now() })
  async function all(): Promise<readonly BudgetNow[]> {
    const names = PERIODS.map((period) => periodAt(settings.timezone, clock.now(), period).name)
    const spent: string[] = []
    for (const name of names) spent.push(...(await read.budgets.payersIn(name, MOST_ROWS)))
    const payers = [...new Set(['total:', 'strangers:', ...spent])].flatMap(readPayer)
    const budgets = payers.flatMap((payer) => budgetsOf(settings, payer))
    return [...(await statesOf(read.budgets, budgets, now()))].sort((one, other) => shareOf(other) - shareOf(one))
  }
  const reported = (states: readonly BudgetNow[]) => states.map((state) => reportOf(state, settings.timezone))
  return {
    get timezone() {
      return settings.timezone
    },
    async here(charged) {
      const { shared, askers } = chargeOf(charged) ?? { shared: [], askers: [] }
      return reported(await statesOf(read.budgets, [...shared, ...askers.flat()], now()))
    },
    all: async (limit) => reported((await all()).slice(0, limit)),
    async spent(limit) {
      const spent = (await all()).filter(
        ({ payer, used, missed }) => missed || used.tokens > 0 || used.micros > 0 || payer.kind === 'total',
      )
      return reported(spent.slice(0, limit))
    },
  }
}

function reportOf(state: BudgetNow, timezone: string): BudgetReport {
  const { payer, period, used, limit, resetsAt, missed } = state
  const words = `${budgetInWords(state, timezone)}${missed ? '; a call did not fit' : ''}`
  return { words, payer: payerKey(payer), period, used, limit, resetsAt }
}

function readPayer(key: string): readonly Payer[] {
  const end = key.indexOf(':')
  const kind = PAYER_KINDS.find((one) => one === key.slice(0, end))
  return kind === undefined ? [] : [{ kind, id: key.slice(end + 1) }]
}

function shareOf({ limit, used }: BudgetNow): number {
  return Math.max(used.tokens / (limit.tokens ?? Infinity), used.micros / (limit.micros ?? Infinity))
}
