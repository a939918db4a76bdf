import type { Address } from '../../../src/core/address.ts'
import type { DeliveryReceipt } from '../../../src/core/outbound.ts'
import { isFields } from '../../shared/fields.ts'
import { isSnowflake } from '../address.ts'
import { type CallOutcome, type Refusal, reasonOf } from '../connection/client.ts'

/** When the platform says "wait" without saying how long, and when the token is refused: until somebody mends it. */
const DEFAULT_WAIT_MS = 5000
const BAD_TOKEN_WAIT_MS = 60_000

const UNKNOWN_MESSAGE = 10_008
const INVALID_FORM = 50_035
/** No answer may be shown as one without Read Message History. */
export const NO_HISTORY = 160_002
/** The thread is gone, archived for good, or locked. */
const OF_THREAD: ReadonlySet<number> = new Set([10_003, 50_083, 160_005])

/**
 * Returns true for a message that was refused for the one that it answers: that is gone, a notice of the platform, or
 * may not be read.
 */
export function isOfReply(outcome: CallOutcome): boolean {
  if (outcome.kind !== 'refused') return false
  const { code, message } = outcome
  return code === NO_HISTORY || code === UNKNOWN_MESSAGE || (code === INVALID_FORM && /message_reference/.test(message))
}

/**
 * Makes a receipt like `toReceipt`, from a message to a place. A thread that takes nothing stays refused: nothing falls
 * back to its channel, where another conversation is going on and more people may read.
 */
export function toSendReceipt(outcome: CallOutcome, { topic }: Pick<Address, 'topic'>): DeliveryReceipt {
  const receipt = toReceipt(outcome)
  const isOfThread = topic !== undefined && outcome.kind === 'refused' && OF_THREAD.has(outcome.code)
  return isOfThread && receipt.kind === 'rejected' ? { ...receipt, of: 'topic' } : receipt
}

/** The ending of a call, one of four. `acted`: the message that was edited or deleted; absent when one is made. */
export function toReceipt(outcome: CallOutcome, acted?: string): DeliveryReceipt {
  switch (outcome.kind) {
    case 'answered': {
      const messageId = acted ?? (isFields(outcome.result) ? outcome.result.id : undefined)
      return isSnowflake(messageId)
        ? { kind: 'sent', messageId }
        : { kind: 'unknown', reason: 'the answer names no message' }
    }
    case 'failed':
      return { kind: outcome.bytesMayHaveLeft ? 'unknown' : 'not_sent', reason: outcome.reason }
    case 'refused':
      return refusalReceipt(outcome)
  }
}

/** A message that is gone already is deleted. */
export function toDeleteReceipt(outcome: CallOutcome, messageId: string): DeliveryReceipt {
  if (outcome.kind === 'refused' && outcome.code === UNKNOWN_MESSAGE) return { kind: 'sent', messageId }
  return toReceipt(outcome, messageId)
}

function refusalReceipt(refusal: Refusal): DeliveryReceipt {
  const reason = reasonOf(refusal)
  const wait = waitOf(refusal)
  return wait === undefined ? { kind: 'rejected', reason } : { kind: 'rejected', reason, retryAfterMs: wait }
}

/** Returns the time to wait before a retry; undefined where a retry is useless. */
function waitOf({ status, retryAfterMs }: Refusal): number | undefined {
  if (retryAfterMs !== undefined) return Math.max(1, retryAfterMs)
  if (status === 429 || status === 408) return DEFAULT_WAIT_MS
  return status === 401 ? BAD_TOKEN_WAIT_MS : undefined
}
