import type { Delivery, DeliveryState } from '../core/outbound.ts'
import { type Proof, type ReconcileSettings, type Reconciliation, reconcile, type UncertainAt } from './reconcile.ts'

/** What the head of a lane needs next. */
export type NextAct =
  /** Already ended. */
  | { readonly kind: 'skip' }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'end'; readonly state: 'expired' | 'given_up'; readonly reason: string }
  /** `again`: the first send with this key may have arrived, so this one answers for it and its start stays the first's. */
  | { readonly kind: 'send'; readonly from: readonly DeliveryState[]; readonly again?: true }
  | { readonly kind: 'repeat' }
  | { readonly kind: 'look' }
  | Extract<Reconciliation, { kind: 'found' }>

/** Pure. A `sending` row nobody is sending lost its sender and counts as uncertain. */
export function decideAttempt(row: Delivery, at: UncertainAt, settings: ReconcileSettings, proof?: Proof): NextAct {
  switch (row.state) {
    case 'planned':
    case 'waiting':
      if (at.now >= row.expiresAt) return { kind: 'end', state: 'expired', reason: row.reason ?? 'too old to be sent' }
      if (row.notBefore !== undefined && row.notBefore > at.now) return { kind: 'wait', until: row.notBefore }
      return { kind: 'send', from: ['planned', 'waiting'] }
    case 'sending':
    case 'uncertain':
      return decideUncertain(row, reconcile(row, at, settings, proof))
    case 'sent':
    case 'resent':
    case 'rejected':
    case 'given_up':
    case 'expired':
      return { kind: 'skip' }
  }
}

function decideUncertain({ op }: Delivery, act: Reconciliation): NextAct {
  const from = ['sending', 'uncertain'] as const
  switch (act.kind) {
    case 'give_up':
      return { kind: 'end', state: 'given_up', reason: act.reason }
    case 'redo':
      return op === 'send' ? { kind: 'send', from, again: true } : { kind: 'send', from }
    case 'send_anew':
      return { kind: 'send', from }
    case 'wait':
    case 'repeat':
    case 'look':
    case 'found':
      return act
  }
}
