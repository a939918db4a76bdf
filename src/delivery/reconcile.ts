import type { TextFormat } from '../channels/adapter.ts'
import type { FoundMessage } from '../channels/capabilities.ts'
import type { Delivery, RenderedPart } from '../core/outbound.ts'
import { backOffMs } from './decide-receipt.ts'
import type { DeliverySettings } from './settings.ts'

/** What to do about a part whose outcome nobody knows. */
export type Reconciliation =
  | { readonly kind: 'wait'; readonly until: number }
  /** The same call again; only for what may be done twice. */
  | { readonly kind: 'redo' }
  /** Ask the platform whether the message is there. */
  | { readonly kind: 'look' }
  /** It is there. */
  | Extract<FoundMessage, { kind: 'found' }>
  /** It is not there: the same message again, as if for the first time. */
  | { readonly kind: 'send_anew' }
  /** A second message, marked as a repeat. */
  | { readonly kind: 'repeat' }
  | { readonly kind: 'give_up'; readonly reason: string }

export type ReconcileSettings = Pick<
  DeliverySettings,
  'uncertainAfterMs' | 'visibleAfterMs' | 'uncertainHoldMs' | 'repeatMark'
>

/** `since`: when this process first met the row as uncertain. */
export interface UncertainAt {
  readonly now: number
  readonly since: number
}

/** What a platform that finds its own messages again can say about a lost send. */
export interface Proof {
  /** A send with the same key within this time of the first gives the first message again, ms. */
  readonly sameKeyWindowMs: number
  /** The last look, if there was one since the send began. */
  readonly looked?: Looked
}

export interface Looked {
  readonly found: FoundMessage
  readonly at: number
}

/**
 * Pure: what to do about a lost call. A send is first settled by what the platform can prove (Discord's nonce, the
 * history); only where it can prove nothing the rule of RELIABILITY 3.2 is left: edits and deletes are done again, a
 * message to people is repeated once, marked; one with side effects never.
 */
export function reconcile(row: Delivery, at: UncertainAt, settings: ReconcileSettings, proof?: Proof): Reconciliation {
  if (at.now >= row.expiresAt) return { kind: 'give_up', reason: 'its outcome stayed unknown until it expired' }
  const isFirst = row.op === 'send' && !isRepeat(row.part, settings.repeatMark)
  return (proof && isFirst ? prove(row, at.now, settings, proof) : undefined) ?? withoutProof(row, at, settings)
}

/** Undefined: the platform cannot tell and will not. `startedAt` is when the first send with this key began. */
function prove(
  row: Delivery,
  now: number,
  { visibleAfterMs }: ReconcileSettings,
  { sameKeyWindowMs, looked }: Proof,
): Reconciliation | undefined {
  const startedAt = row.startedAt ?? 0
  if (now < startedAt + sameKeyWindowMs) {
    // Doubles with each attempt, counted from the first: the window ends it, so it needs no cap.
    const until = Math.min(startedAt + FIRST_REDO_MS * 2 ** (row.attempt - 1), startedAt + sameKeyWindowMs)
    return until > now ? { kind: 'wait', until } : { kind: 'redo' }
  }
  if (!looked) {
    const until = startedAt + visibleAfterMs
    return until > now ? { kind: 'wait', until } : { kind: 'look' }
  }
  const { found } = looked
  if (found.kind === 'found') return found
  if (found.kind === 'absent') return { kind: 'send_anew' }
  if (found.retryAfterMs === undefined) return undefined
  const until = looked.at + found.retryAfterMs
  return until > now ? { kind: 'wait', until } : { kind: 'look' }
}

const FIRST_REDO_MS = 500

function withoutProof(row: Delivery, at: UncertainAt, settings: ReconcileSettings): Reconciliation {
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
