import { formatAddress, parseAddress } from '../core/address.ts'
import {
  type Amount,
  type BudgetHit,
  type BudgetSettings,
  BudgetSpent,
  type BudgetState,
  type Charge,
  NO_AMOUNT,
  type PayerBudget,
} from '../core/budget.ts'
import { stopInWords } from '../core/budget-words.ts'
import type { Clock } from '../core/clock.ts'
import { deferred } from '../core/deferred.ts'
import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { BudgetCount } from '../store/budget-port.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'
import { type BudgetNow, type CallDecision, decideCall, isPast } from './decide-call.ts'
import { keyOf, statesOf } from './states.ts'

/** A call that is about to be made, and the most that it may cost. */
export interface Wanted {
  readonly charge: Charge
  readonly cost: Amount
  /** With the cheaper model; absent where that one may not be asked. */
  readonly cheaper?: Amount
  /**
   * The failure of the cheaper model, in whose place this call is. It is thrown where this one does not fit: the budget
   * is not used up as long as the cheaper model fits.
   */
  readonly failure?: unknown
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
   * Resolves once the most that the call may cost is on record. Waits while it may still fit: once running calls have
   * cost less than is held for them, or once a period ends. Rejects with `budget_spent` where it cannot fit, with
   * `aborted` once `signal` is, and as the store does.
   */
  hold(wanted: Wanted, signal: AbortSignal): Promise<HeldCall>
  /**
   * Resolves once the cost is on record in the place of what was held. Never rejects: a cost that the store does not
   * take is kept in memory and written with the next commit of this gate. If the process dies first, what was held
   * counts.
   */
  settle(call: HeldCall, cost: Amount): Promise<void>
  /** Counts what a dead process still held as spent; called at the start, before anything is held. */
  recover(): Promise<number>
}

export interface BudgetGateDeps {
  readonly store: Store
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly settings: BudgetSettings
  /** Called when a budget is past its warning; may be called again for the same one. */
  past(budget: BudgetState, charge: Charge): void
  /** Called for each call that did not fit. */
  stopped(hit: BudgetHit, charge: Charge): void
  /** Called when the store did not take a cost. */
  notTaken(error: unknown): void
}

/** The longest that a call waits without a look: somebody may have set the clock into another period. */
const LOOK_AGAIN_MS = 60_000

export function createBudgetGate(deps: BudgetGateDeps): BudgetGate {
  const { store, clock, settings, past, stopped, notTaken } = deps
  const { warnAt } = settings
  /** The costs that the store did not take. */
  const owed = new Map<string, Amount>()
  let next = deferred()
  let made = 0

  /** Has everybody who waits look again. */
  function wake(): void {
    next.resolve()
    next = deferred()
  }

  async function settleOwed(tx: StoreWriter): Promise<void> {
    for (const [id, cost] of owed) {
      await tx.budgets.settle(id, cost)
      tx.afterCommit(() => owed.delete(id))
    }
  }

  async function tryToHold(tx: StoreWriter, wanted: Wanted, id: string) {
    await settleOwed(tx)
    const { shared, askers } = await chargedNow(tx, wanted.charge, { timezone: settings.timezone, now: clock.now() })
    const decision = decideCall({ ...wanted, shared, askers, warnAt })
    if (decision.kind === 'stop' && wanted.failure === undefined) await note(tx, decision)
    if (decision.kind !== 'call') return { decision, budgets: [...shared, ...askers.flat()] }
    const budgets = [...shared, ...(askers[decision.asker] ?? [])]
    const keys = budgets.map((budget) => ({ ...keyOf(budget), endsAt: budget.resetsAt }))
    await tx.budgets.hold(id, costOf(wanted, decision), keys)
    return { decision, budgets }
  }

  /** Returns the sums that a cost has raised; none where the store did not take it. */
  async function record(id: string, cost: Amount): Promise<readonly BudgetCount[]> {
    try {
      const after = await store.write(async (tx) => {
        await settleOwed(tx)
        return tx.budgets.counts(await tx.budgets.settle(id, cost))
      })
      failpoint('CP34-cost-settled')
      return after
    } catch (error) {
      owed.set(id, cost)
      notTaken(error)
      return []
    } finally {
      // Also after a failure: whoever waits then writes the cost, or learns that the store fails.
      wake()
    }
  }

  /** Returns undefined once it is worth another look, and for a call that is stopped meanwhile, which holds nothing. */
  async function holdOnce(wanted: Wanted, id: string, signal: AbortSignal): Promise<HeldCall | undefined> {
    // Taken before the store is read, so that no settlement in between is missed.
    const settled = next.promise
    const { decision, budgets } = await store.write((tx) => tryToHold(tx, wanted, id))
    if (decision.kind === 'stop') throw wanted.failure ?? stop(decision, wanted.charge)
    if (decision.kind === 'call') {
      failpoint('CP33-cost-held')
      if (!signal.aborted) return { id, model: decision.model, budgets, charge: wanted.charge }
      await record(id, NO_AMOUNT)
    } else await firstOf({ settled, ms: untilNext(budgets, clock.now()), clock }, signal)
    return undefined
  }

  return {
    async hold(wanted, signal) {
      const id = `${store.epoch}-${++made}`
      for (;;) {
        if (signal.aborted) throw new ParleyError('aborted', 'The call was stopped before it was made.')
        const call = await holdOnce(wanted, id, signal)
        if (call !== undefined) return call
      }
    },
    async settle(call, cost) {
      for (const count of await record(call.id, cost)) {
        const budget = call.budgets.find((one) => keyOf(one).payer === count.payer && one.at === count.period)
        if (budget === undefined || !isPast({ ...budget, used: count.spent }, warnAt)) continue
        past({ ...budget, used: count.spent }, call.charge)
      }
    },
    recover: () => store.write((tx) => tx.budgets.settleDead()),
  }

  function stop({ hit: { spent, missed, ...hit }, tooSmall }: Extract<CallDecision, { kind: 'stop' }>, charge: Charge) {
    const told: BudgetHit = { ...hit, timezone: settings.timezone, ...(tooSmall ? { tooSmall } : {}) }
    stopped(told, charge)
    return new BudgetSpent(told, stopInWords(told))
  }
}

async function chargedNow(
  { budgets, chatMoves }: StoreWriter,
  charge: Charge,
  now: { readonly timezone: string; readonly now: number },
): Promise<{ readonly shared: readonly BudgetNow[]; readonly askers: readonly (readonly BudgetNow[])[] }> {
  const states = async (own: readonly PayerBudget[]) => statesOf(budgets, await underPresentNames(chatMoves, own), now)
  const shared = await states(charge.shared)
  const askers: (readonly BudgetNow[])[] = []
  for (const own of charge.askers) askers.push(await states(own))
  return { shared, askers }
}

async function note({ budgets }: StoreWriter, { missed }: Extract<CallDecision, { kind: 'stop' }>): Promise<void> {
  for (const one of missed) if (!one.missed) await budgets.miss({ ...keyOf(one), endsAt: one.resetsAt }, one.limit)
}

function costOf({ cost, cheaper = cost }: Wanted, { model }: Extract<CallDecision, { kind: 'call' }>): Amount {
  return model === 'cheaper' ? cheaper : cost
}

/** Returns how long a call may wait for budgets before the next of their periods begins. */
function untilNext(budgets: readonly BudgetState[], now: number): number {
  const ends = budgets.map(({ resetsAt }) => resetsAt - now)
  return Math.max(1, Math.min(LOOK_AGAIN_MS, ...ends))
}

interface Wait {
  readonly settled: Promise<void>
  readonly ms: number
  readonly clock: Pick<Clock, 'after'>
}

/** Resolves once `settled` does, after `ms`, or once `signal` is aborted. */
function firstOf({ settled, ms, clock }: Wait, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal.addEventListener('abort', done, { once: true })
    void settled.then(done)
  })
}

/**
 * Returns the budgets with each chat under the id that it has now: a chat that moves during a turn keeps the limit that
 * the turn began with, and what it has spent. Read in the transaction that holds a cost, so that no move comes between.
 */
export async function underPresentNames(
  moves: Pick<StoreReader['chatMoves'], 'movedTo'>,
  budgets: readonly PayerBudget[],
): Promise<readonly PayerBudget[]> {
  const present: PayerBudget[] = []
  for (const budget of budgets) {
    const { kind, id } = budget.payer
    const address = kind === 'chat' || kind === 'topic' ? parseAddress(id) : undefined
    const chat = address?.chatType === 'group' ? await moves.movedTo(address.channel, address.chat) : undefined
    if (address === undefined || chat === undefined) present.push(budget)
    else present.push({ ...budget, payer: { kind, id: formatAddress({ ...address, chat }) } })
  }
  return present
}
