import type { Delivery, DeliveryState } from '../core/outbound.ts'
import { type ReconcileSettings, reconcile, type UncertainAt } from './reconcile.ts'

/** What the head of a lane needs next. */
export type NextAct =
  /** Already ended. */
  | { readonly kind: 'skip' }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'end'; readonly state: 'expired' | 'given_up'; readonly reason: string }
  | { readonly kind: 'send'; readonly from: readonly DeliveryState[] }
  | { readonly kind: 'repeat' }

/** Pure. A `sending` row nobody is sending lost its sender and counts as uncertain. */
export function decideAttempt(row: Delivery, at: UncertainAt, settings: ReconcileSettings): NextAct {
  switch (row.state) {
    case 'planned':
    case 'waiting':
      if (at.now >= row.expiresAt) return { kind: 'end', state: 'expired', reason: row.reason ?? 'too old to be sent' }
      if (row.notBefore !== undefined && row.notBefore > at.now) return { kind: 'wait', until: row.notBefore }
      return { kind: 'send', from: ['planned', 'waiting'] }
    case 'sending':
    case 'uncertain': {
      const act = reconcile(row, at, settings)
      if (act.kind === 'give_up') return { kind: 'end', state: 'given_up', reason: act.reason }
      return act.kind === 'redo' ? { kind: 'send', from: ['sending', 'uncertain'] } : act
    }
    case 'sent':
    case 'resent':
    case 'rejected':
    case 'given_up':
    case 'expired':
      return { kind: 'skip' }
  }
}
