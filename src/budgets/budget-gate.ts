import type { Amount, BudgetHit, BudgetSettings, BudgetState, Charge } from '../core/budget.ts'
import { BudgetSpent } from '../core/budget.ts'
import { stopInWords } from '../core/budget-words.ts'
import type { Clock } from '../core/clock.ts'
import { deferred } from '../core/deferred.ts'
import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { type BudgetNow, type CallDecision, decideCall, isPast } from './decide-call.ts'
import { keyOf, statesOf } from './states.ts'

/** A call that is about to be made, and the most that it may cost. */
export interface Wanted {
  readonly charge: Charge
  readonly cost: Amount
  /** With the cheaper model; absent where that one may not be asked. */
  readonly cheaper?: Amount
}

/** A call whose cost is held. */
export interface HeldCall {
  readonly id: string
  readonly model: 'own' | 'cheaper'
  /** The budgets it is charged to. */
  readonly budgets: readonly BudgetState[]
  readonly charge: Charge
}

/** The one way to a call that costs something: its cost is held before, and settled after. */
export interface BudgetGate {
  /**
   * Resolves once the most that the call may cost is on record. Waits where it fits only once calls under way have cost
   * less than they might. Rejects with `budget_spent` where it does not fit, and with `aborted` once `signal` is.
   */
  hold(wanted: Wanted, signal: AbortSignal): Promise<HeldCall>
  /** Resolves once the cost is on record in the place of what was held. */
  settle(call: HeldCall, cost: Amount): Promise<void>
  /** Counts what a dead process has left, at what was held; called at the start, before anything is held. */
  recover(): Promise<number>
}

export interface BudgetGateDeps {
  readonly store: Store
  readonly clock: Pick<Clock, 'now'>
  readonly settings: BudgetSettings
  /** Called when most of a budget is spent; more than once for each. */
  past(budget: BudgetState, charge: Charge): void
  /** Called when a call did not fit; for each of them. */
  stopped(hit: BudgetHit, charge: Charge): void
}

export function createBudgetGate(deps: BudgetGateDeps): BudgetGate {
  const { store, clock, settings, past, stopped } = deps
  const { warnAt } = settings
  let next = deferred()
  let made = 0

  async function tryToHold(tx: StoreWriter, wanted: Wanted, id: string) {
    const now = { timezone: settings.timezone, now: clock.now() }
    const shared = await statesOf(tx.budgets, wanted.charge.shared, now)
    const askers: (readonly BudgetNow[])[] = []
    for (const own of wanted.charge.askers) askers.push(await statesOf(tx.budgets, own, now))
    const decision = decideCall({ ...wanted, shared, askers, warnAt })
    if (decision.kind !== 'call') return { decision, budgets: [] }
    const budgets = [...shared, ...(askers[decision.asker] ?? [])]
    const keys = budgets.map((budget) => ({ ...keyOf(budget), endsAt: budget.resetsAt }))
    await tx.budgets.hold(id, costOf(wanted, decision), keys)
    return { decision, budgets }
  }

  return {
    async hold(wanted, signal) {
      const id = `${store.epoch}-${++made}`
      for (;;) {
        // Before the look, so that no settlement in between is missed.
        const settled = next.promise
        const { decision, budgets } = await store.write((tx) => tryToHold(tx, wanted, id))
        if (decision.kind === 'call') {
          failpoint('CP33-cost-held')
          return { id, model: decision.model, budgets, charge: wanted.charge }
        }
        if (decision.kind === 'stop') throw stop(decision, wanted.charge)
        await either(settled, signal)
        if (signal.aborted) throw new ParleyError('aborted', 'The call was stopped while it waited for its budget.')
      }
    },
    async settle({ id, budgets, charge }, cost) {
      const after = await store.write(async (tx) => {
        const keys = await tx.budgets.settle(id, cost)
        return tx.budgets.counts(keys)
      })
      failpoint('CP34-cost-settled')
      next.resolve()
      next = deferred()
      for (const budget of budgets) {
        const { payer, period } = keyOf(budget)
        const count = after.find((one) => one.payer === payer && one.period === period)
        if (count && isPast({ ...budget, used: count.spent }, warnAt)) past({ ...budget, used: count.spent }, charge)
      }
    },
    recover: () => store.write((tx) => tx.budgets.settleDead()),
  }

  function stop({ hit: { spent, ...hit }, tooSmall }: Extract<CallDecision, { kind: 'stop' }>, charge: Charge) {
    const told: BudgetHit = { ...hit, timezone: settings.timezone, ...(tooSmall ? { tooSmall } : {}) }
    stopped(told, charge)
    return new BudgetSpent(told, stopInWords(told))
  }
}

function costOf({ cost, cheaper = cost }: Wanted, { model }: Extract<CallDecision, { kind: 'call' }>): Amount {
  return model === 'cheaper' ? cheaper : cost
}

/** Resolves once `settled` does, or `signal` is aborted. */
function either(settled: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', done, { once: true })
    void settled.then(done)
  })
}
