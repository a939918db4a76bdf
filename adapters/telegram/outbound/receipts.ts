import type { Address } from '../../../src/core/address.ts'
import { askedWait } from '../../../src/core/clock.ts'
import type { DeliveryReceipt, RenderedPart } from '../../../src/core/outbound.ts'
import { isFields } from '../../shared/fields.ts'
import { toAddress, toApiId, toApiTarget, toIdText } from '../address.ts'
import type { CallOutcome, Refusal } from '../connection/client.ts'

/** The content of a send and its place, in the form that is tried now. */
export interface Draft {
  readonly rendered: RenderedPart
  readonly address: Address
  /** The message it visibly answers. */
  readonly reply: number | null
}

export interface Sent {
  /** The place it was to go to. */
  readonly address: Address
  /** The message acted on; absent when one is made. */
  readonly messageId?: string
}

/** When the platform says "wait" without saying how long, and when the token is refused: until somebody mends it. */
const DEFAULT_WAIT_MS = 5000
const BAD_TOKEN_WAIT_MS = 60_000

const CANNOT_PARSE = /can't parse entities/i
/** The message that is answered is gone or takes no answers. A keyboard is a `reply_markup`, and no answer. */
const OF_REPLY = /\brepl(?:y|ied)(?! markup| keyboard)|REPLY_(?!MARKUP)|MESSAGE_ID_INVALID|QUOTE_/i
/** The topic is closed or gone, or never was one. */
const OF_TOPIC = /message thread not found|TOPIC_|\btopic\b/i
const NOT_MODIFIED = /message is not modified/i
const ALREADY_GONE = /message to delete not found/i

/**
 * The same content in a form the platform may take, after it refused the form: without markup (F-C01), without the
 * reference to a message that is gone (F-C02), and in a direct chat without the topic, as the same person reads it
 * there. Null when there is nothing to mend; each is mended at most once.
 */
export function mend(draft: Draft, outcome: CallOutcome): Draft | null {
  if (outcome.kind !== 'refused' || outcome.code !== 400) return null
  if (CANNOT_PARSE.test(outcome.description) && draft.rendered.markup !== 'plain') {
    return { ...draft, rendered: { ...draft.rendered, text: draft.rendered.plain, markup: 'plain' } }
  }
  const { reply, address } = draft
  if (OF_REPLY.test(outcome.description)) {
    if (reply !== null) return { ...draft, reply: null }
    const { post, ...group } = address
    return post === undefined ? null : { ...draft, address: group }
  }
  const falls = address.chatType === 'direct' && address.topic !== undefined && OF_TOPIC.test(outcome.description)
  return falls ? { ...draft, address: chatOf(address) } : null
}

/** Returns a chat without the topic or the post, which only a new message is attached to. */
export function chatOf({ topic: _topic, post: _post, ...chat }: Address): Address {
  return chat
}

/** Makes a receipt like `toReceipt`, which names the place if it is another than the draft was begun for. */
export function toSendReceipt(outcome: CallOutcome, draft: Draft, begun: Draft): DeliveryReceipt {
  const receipt = toReceipt(outcome, begun)
  return receipt.kind === 'sent' && draft.address !== begun.address ? { ...receipt, address: draft.address } : receipt
}

/** Returns the parameters of the place in which a draft is to stand: chat, topic, and the message above it. */
export function placeOf({ address, reply }: Draft) {
  const above = reply ?? (address.post === undefined ? null : toApiId(address.post))
  const target = toApiTarget(address) ?? { chat_id: address.chat }
  return { ...target, ...(above === null ? {} : { reply_parameters: { message_id: above } }) }
}

/**
 * The ending of a call, one of four. In a group a refused topic stays refused: nothing falls back to the chat (F-C06),
 * where a conversation of its own is going on.
 */
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
  if (isTokenRefusal(refusal)) return { kind: 'rejected', reason, retryAfterMs: BAD_TOKEN_WAIT_MS }
  return { kind: 'rejected', reason, ...(code === 400 && OF_TOPIC.test(description) ? { of: 'topic' as const } : {}) }
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
