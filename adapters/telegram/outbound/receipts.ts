import type { Address } from '../../../src/core/address.ts'
import { askedWait } from '../../../src/core/clock.ts'
import type { DeliveryReceipt, RenderedPart } from '../../../src/core/outbound.ts'
import { isFields } from '../../shared/fields.ts'
import { toAddress, toIdText } from '../address.ts'
import type { CallOutcome, Refusal } from '../connection/client.ts'

/** The content of a send, in the form that is tried now. */
export interface Draft {
  readonly rendered: RenderedPart
  /** The message it visibly answers. */
  readonly reply: number | null
}

export interface Sent {
  readonly address: Address
  /** The message acted on; absent when one is made. */
  readonly messageId?: string
}

/** When the platform says "wait" without saying how long, and when the token is refused: until somebody mends it. */
const DEFAULT_WAIT_MS = 5000
const BAD_TOKEN_WAIT_MS = 60_000

const CANNOT_PARSE = /can't parse entities/i
const NO_SUCH_REPLY = /(message to be replied|replied message|reply message) not found|REPLY_MESSAGE_ID_INVALID/i
const NOT_MODIFIED = /message is not modified/i
const ALREADY_GONE = /message to delete not found/i

/**
 * The same content in a form the platform may take, after it refused the form: without markup (F-C01), without the
 * reference to a message that is gone (F-C02). Null when there is nothing to mend; each is mended at most once.
 */
export function mend(draft: Draft, outcome: CallOutcome): Draft | null {
  if (outcome.kind !== 'refused' || outcome.code !== 400) return null
  if (CANNOT_PARSE.test(outcome.description) && draft.rendered.markup !== 'plain') {
    return { ...draft, rendered: { ...draft.rendered, text: draft.rendered.plain, markup: 'plain' } }
  }
  return NO_SUCH_REPLY.test(outcome.description) && draft.reply !== null ? { ...draft, reply: null } : null
}

/** The ending of a call, one of four. A refused topic stays refused: nothing falls back to the chat (F-C06). */
export function toReceipt(outcome: CallOutcome, sent: Sent): DeliveryReceipt {
  switch (outcome.kind) {
    case 'answered': {
      const messageId = sent.messageId ?? (isFields(outcome.result) ? toIdText(outcome.result.message_id) : undefined)
      return messageId === undefined
        ? { kind: 'unknown', reason: 'the answer names no message' }
        : { kind: 'sent', messageId }
    }
    case 'failed':
      return { kind: outcome.bytesMayHaveLeft ? 'unknown' : 'not_sent', reason: outcome.reason }
    case 'refused':
      return refusalReceipt(outcome, sent)
  }
}

function refusalReceipt(refusal: Refusal, { address, messageId }: Sent): DeliveryReceipt {
  const { code, description, retryAfterSeconds, migratedTo } = refusal
  if (messageId !== undefined && (NOT_MODIFIED.test(description) || ALREADY_GONE.test(description))) {
    return { kind: 'sent', messageId }
  }
  const reason = `${code}: ${description}`
  const moved = toIdText(migratedTo)
  if (moved !== undefined) {
    // A group that moved had no topics.
    return { kind: 'rejected', reason, movedTo: toAddress(address.account, { chatType: 'group', chat: moved }) }
  }
  if (code === 429) {
    return { kind: 'rejected', reason, retryAfterMs: waitMs(retryAfterSeconds) }
  }
  return isTokenRefusal(refusal)
    ? { kind: 'rejected', reason, retryAfterMs: BAD_TOKEN_WAIT_MS }
    : { kind: 'rejected', reason }
}

/** 401, or the bare 404 of a token that has not even the form of one. It says nothing about the message. */
export function isTokenRefusal({ code, description }: Refusal): boolean {
  return code === 401 || (code === 404 && description === 'Not Found')
}

export function waitMs(retryAfterSeconds: number | undefined): number {
  return retryAfterSeconds === undefined || retryAfterSeconds <= 0
    ? DEFAULT_WAIT_MS
    : askedWait(retryAfterSeconds * 1000)
}
