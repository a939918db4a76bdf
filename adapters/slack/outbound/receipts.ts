import type { OutboundPart } from '../../../src/channels/adapter.ts'
import type { Address } from '../../../src/core/address.ts'
import { askedWait } from '../../../src/core/clock.ts'
import type { DeliveryReceipt } from '../../../src/core/outbound.ts'
import { isFields } from '../../shared/fields.ts'
import { isStamp } from '../address.ts'
import type { CallOutcome, Refusal } from '../connection/client.ts'

/** When the platform says "wait" without saying how long, and when the token is refused: until somebody mends it. */
const DEFAULT_WAIT_MS = 5000
const MENDING_WAIT_MS = 60_000

/** The token is at fault, not the message. */
const TOKEN_REFUSALS: ReadonlySet<string> = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'not_allowed_token_type',
  'team_access_not_granted',
])

/** Over by themselves, or by somebody's hand; they say nothing about the message. */
const WAITS: Readonly<Record<string, number>> = {
  ratelimited: DEFAULT_WAIT_MS,
  rate_limited: DEFAULT_WAIT_MS,
  service_unavailable: DEFAULT_WAIT_MS,
  team_added_to_org: MENDING_WAIT_MS,
  org_login_required: MENDING_WAIT_MS,
  missing_scope: MENDING_WAIT_MS,
}

/** Refusals of the thread that a message was to stand in: its root is gone, takes no answers, or is locked. */
export const OF_THREAD: ReadonlySet<string> = new Set([
  'thread_not_found',
  'invalid_thread_ts',
  'message_not_found',
  'cannot_reply_to_message',
  'restricted_action_non_threadable_channel',
  'restricted_action_thread_locked',
])

const GONE: ReadonlySet<string> = new Set(['message_not_found', 'no_message_found'])

export function isTokenRefusal({ error }: Pick<Refusal, 'error'>): boolean {
  return TOKEN_REFUSALS.has(error)
}

/** The ending of a call, one of four. */
export function toReceipt(outcome: CallOutcome): DeliveryReceipt {
  switch (outcome.kind) {
    case 'answered': {
      const { ts } = outcome.result
      return isStamp(ts) ? { kind: 'sent', messageId: ts } : { kind: 'unknown', reason: 'the answer names no message' }
    }
    case 'failed':
      return { kind: outcome.bytesMayHaveLeft ? 'unknown' : 'not_sent', reason: outcome.reason }
    case 'refused': {
      const reason = outcome.needed === undefined ? outcome.error : `${outcome.error}: ${outcome.needed}`
      const wait = waitOf(outcome)
      return { kind: 'rejected', reason, ...(wait === undefined ? {} : { retryAfterMs: wait }) }
    }
  }
}

/** A place, and the message that is answered there. */
export type Threaded = Pick<OutboundPart, 'address' | 'replyTo'>

/**
 * Returns the place without its thread for a message that was refused for that, where it may stand there: in a direct
 * chat the same person reads it, a channel without threads has no conversation in one, and an answer that would have
 * begun its thread is to a question in the channel. Another thread is a conversation of its own: what is said in it
 * stays refused (F-C06).
 */
export function besideThread({ address, replyTo }: Threaded, outcome: CallOutcome): Address | undefined {
  const { topic } = address
  const chat = withoutThread(address)
  if (topic === undefined || outcome.kind !== 'refused' || !OF_THREAD.has(outcome.error)) return undefined
  if (chat.chatType === 'direct' || outcome.error === 'restricted_action_non_threadable_channel') return chat
  return topic === replyTo && outcome.error !== 'restricted_action_thread_locked' ? chat : undefined
}

function withoutThread({ topic: _, ...chat }: Address): Address {
  return chat
}

/** The platform puts an answer to a root that was deleted into the channel without a word. */
function isUnthreaded(outcome: CallOutcome): boolean {
  if (outcome.kind !== 'answered') return false
  const { message } = outcome.result
  return isFields(message) && message.thread_ts === undefined
}

/** Makes a receipt like `toReceipt`, from a message to a place; `first` is where it was to go. */
export function toSendReceipt(outcome: CallOutcome, address: Address, first: Address): DeliveryReceipt {
  const receipt = toReceipt(outcome)
  if (receipt.kind === 'sent') {
    const there = isUnthreaded(outcome) ? withoutThread(address) : address
    return there.topic === first.topic ? receipt : { ...receipt, address: there }
  }
  const isOfThread = address.topic !== undefined && outcome.kind === 'refused' && OF_THREAD.has(outcome.error)
  return isOfThread && receipt.kind === 'rejected' ? { ...receipt, of: 'topic' } : receipt
}

/**
 * Makes a receipt like `toReceipt`, from a message for one person: its ts is of a kind of its own, which identifies it
 * to nobody.
 */
export function toEphemeralReceipt(outcome: CallOutcome): DeliveryReceipt {
  if (outcome.kind !== 'answered') return toReceipt(outcome)
  return toReceipt({ kind: 'answered', result: { ts: outcome.result.message_ts } })
}

/** Makes a receipt like `toReceipt`; a message that is already gone counts as deleted. */
export function toDeletionReceipt(outcome: CallOutcome, messageId: string): DeliveryReceipt {
  if (outcome.kind === 'refused' && GONE.has(outcome.error)) return { kind: 'sent', messageId }
  return toReceipt(outcome)
}

/** Makes a receipt like `toReceipt`; an emoji that stands there already is put there. */
export function toReactionReceipt(outcome: CallOutcome, messageId: string): DeliveryReceipt {
  const there = outcome.kind === 'answered' || (outcome.kind === 'refused' && outcome.error === 'already_reacted')
  return there ? { kind: 'sent', messageId } : toReceipt(outcome)
}

/** Ms until the same call may be taken; undefined: never as it is. */
export function waitOf(refusal: Refusal): number | undefined {
  const { error, retryAfterSeconds } = refusal
  if (retryAfterSeconds !== undefined && retryAfterSeconds > 0) return askedWait(retryAfterSeconds * 1000)
  if (isTokenRefusal(refusal) || error.startsWith('http_')) return MENDING_WAIT_MS
  return Object.hasOwn(WAITS, error) ? WAITS[error] : undefined
}
