import type { Address } from '../core/address.ts'
import { askedWait } from '../core/clock.ts'
import type { DeliveryOp, DeliveryReceipt } from '../core/outbound.ts'

/** The attempt a receipt is about. */
export interface Attempted {
  readonly op: DeliveryOp
  /** Real attempts so far, this one included. */
  readonly attempt: number
  /** The part is a marked repeat. */
  readonly repeat: boolean
  /** It already followed a chat to its new address. */
  readonly moved: boolean
  /** An earlier send of the same key may have arrived; what happens to this one does not make it undone. */
  readonly again?: boolean
}

export interface Moment {
  readonly now: number
  /** In [0, 1). */
  readonly random: number
}

/** What an attempt came to. */
export type AttemptOutcome =
  | { readonly kind: 'sent'; readonly state: 'sent' | 'resent'; readonly messageId: string }
  /** `chat`: the platform asked for it, so the whole chat waits and nobody else (C04). */
  | { readonly kind: 'wait'; readonly notBefore: number; readonly reason: string; readonly chat: boolean }
  | { readonly kind: 'moved'; readonly to: Address; readonly reason: string }
  /** The message to edit is gone: the text goes out as a message of its own. */
  | { readonly kind: 'send_anew'; readonly reason: string }
  | { readonly kind: 'rejected'; readonly reason: string }
  /** `pauseUntil`: the platform asked the whole chat to wait. */
  | { readonly kind: 'uncertain'; readonly reason: string; readonly pauseUntil?: number }

/** Pure: the four classes of a receipt, turned into what becomes of the row (RELIABILITY 3.3). */
export function decideReceipt(receipt: DeliveryReceipt, of: Attempted, moment: Moment): AttemptOutcome {
  switch (receipt.kind) {
    case 'sent':
      return { kind: 'sent', state: of.repeat ? 'resent' : 'sent', messageId: receipt.messageId }
    case 'not_sent':
      if (of.again) return { kind: 'uncertain', reason: receipt.reason }
      return {
        kind: 'wait',
        notBefore: moment.now + backOffMs(of.attempt, moment.random),
        reason: receipt.reason,
        chat: false,
      }
    case 'unknown':
      return { kind: 'uncertain', reason: receipt.reason }
    case 'rejected':
      return decideRefusal(receipt, of, moment.now)
  }
}

function decideRefusal(
  receipt: Extract<DeliveryReceipt, { kind: 'rejected' }>,
  of: Attempted,
  now: number,
): AttemptOutcome {
  const { reason, movedTo } = receipt
  const retryAfterMs = receipt.retryAfterMs === undefined ? undefined : askedWait(receipt.retryAfterMs)
  if (retryAfterMs !== undefined && of.again) return { kind: 'uncertain', reason, pauseUntil: now + retryAfterMs }
  if (retryAfterMs !== undefined) return { kind: 'wait', notBefore: now + retryAfterMs, reason, chat: true }
  if (movedTo && !of.moved) return { kind: 'moved', to: movedTo, reason }
  if (of.op === 'edit') return { kind: 'send_anew', reason }
  return { kind: 'rejected', reason }
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000

/** Doubles with each attempt up to half a minute; the half of it is jitter, so that lanes do not come back in step. */
export function backOffMs(attempt: number, random: number): number {
  const full = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS)
  return Math.round(full * (0.5 + random / 2))
}
