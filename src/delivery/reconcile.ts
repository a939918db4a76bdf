import type { TextFormat } from '../channels/adapter.ts'
import type { Delivery, RenderedPart } from '../core/outbound.ts'
import { backOffMs } from './decide-receipt.ts'
import type { DeliverySettings } from './settings.ts'

/** What to do about a part whose outcome nobody knows. */
export type Reconciliation =
  | { readonly kind: 'wait'; readonly until: number }
  /** The same call again; only for what may be done twice. */
  | { readonly kind: 'redo' }
  /** A second message, marked as a repeat. */
  | { readonly kind: 'repeat' }
  | { readonly kind: 'give_up'; readonly reason: string }

export type ReconcileSettings = Pick<DeliverySettings, 'uncertainAfterMs' | 'uncertainHoldMs' | 'repeatMark'>

/** `since`: when this process first met the row as uncertain. */
export interface UncertainAt {
  readonly now: number
  readonly since: number
}

/**
 * Pure: the rule of RELIABILITY 3.2 for a platform that can neither be asked nor told a key. Edits and deletes are done
 * again. A message to people is repeated once, marked; one with side effects never. A platform that finds its own
 * messages again (Discord's nonce, Slack's metadata) will be asked here, before this rule.
 */
export function reconcile(row: Delivery, at: UncertainAt, settings: ReconcileSettings): Reconciliation {
  if (at.now >= row.expiresAt) return { kind: 'give_up', reason: 'its outcome stayed unknown until it expired' }
  const heldUntil = at.since + settings.uncertainHoldMs
  if (row.op !== 'send' && at.now < heldUntil) {
    const until = Math.min((row.startedAt ?? 0) + backOffMs(row.attempt, 1), heldUntil)
    return until > at.now ? { kind: 'wait', until } : { kind: 'redo' }
  }
  if (row.op === 'delete') return { kind: 'give_up', reason: 'whether it was removed stayed unknown' }
  if (row.class === 'effect') return { kind: 'give_up', reason: 'its outcome is unknown and it must not happen twice' }
  if (isRepeat(row.part, settings.repeatMark))
    return { kind: 'give_up', reason: 'the outcome of its repeat is unknown too' }
  const until = row.op === 'edit' ? at.now : (row.startedAt ?? 0) + settings.uncertainAfterMs
  return until > at.now ? { kind: 'wait', until } : { kind: 'repeat' }
}

/** A part that was already marked; so a repeat is never repeated, also after a restart. */
export function isRepeat(part: RenderedPart, mark: string): boolean {
  return part.plain.startsWith(mark)
}

/**
 * The part with the mark before it. Where the mark no longer fits, its plain text is cut by as much: the full text was
 * sent the first time.
 */
export function markRepeat(part: RenderedPart, mark: string, limit: TextFormat['limit']): RenderedPart {
  const plain = `${mark}${part.plain}`
  if (plain.length <= limit) return { ...part, text: `${mark}${part.text}`, plain }
  const cut = `${plain.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
  return { text: cut, plain: cut, markup: 'plain' }
}
