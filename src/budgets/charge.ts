import { type Address, formatAddress } from '../core/address.ts'
import type { BudgetConfig, Charge, Payer, PayerBudget } from '../core/budget.ts'
import type { Namespace } from '../core/caller.ts'
import { budgetsOf } from './applying.ts'

/** The facts that decide who pays for a call. */
export interface ChargedFor {
  /** The conversation it is made for; absent where there is none. */
  readonly address?: Address
  /** The schedule whose run it is. */
  readonly schedule?: string
  /** The cap of the session. */
  readonly session?: PayerBudget | undefined
  /** Everybody who asked, the newest first. */
  readonly askers: readonly Payer[]
  /** Nobody let in by name had a part in it. */
  readonly strangers: boolean
  /** The namespaces whose tokens speak for them. */
  readonly clients?: readonly Namespace[]
}

/** Returns the budgets that a call must fit; undefined where there is none. Pure. */
export function chargeFor(
  settings: BudgetConfig,
  { address, schedule, session, askers, strangers, clients = [] }: ChargedFor,
): Charge | undefined {
  const shared = [
    ...budgetsOf(settings, { kind: 'total', id: '' }),
    ...(address === undefined ? [] : placesOf(address).flatMap((payer) => budgetsOf(settings, payer))),
    ...(schedule === undefined ? [] : budgetsOf(settings, { kind: 'schedule', id: schedule })),
    ...(strangers ? clients.flatMap((id) => budgetsOf(settings, { kind: 'client', id })) : []),
    ...(strangers ? budgetsOf(settings, { kind: 'strangers', id: '' }) : []),
  ]
  if (session !== undefined) shared.push(session)
  const own = askers.map((payer) => budgetsOf(settings, payer))
  const bound = own.some((budgets) => budgets.length > 0)
  if (shared.length === 0 && !bound) return undefined
  return { shared, askers: bound ? own : [] }
}

function placesOf({ topic, ...chat }: Address): readonly Payer[] {
  const payer: Payer = { kind: 'chat', id: formatAddress(chat) }
  return topic === undefined ? [payer] : [payer, { kind: 'topic', id: formatAddress({ ...chat, topic }) }]
}
