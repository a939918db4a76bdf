import type { Address } from '../../../src/core/address.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import { toAddress } from '../address.ts'
import type { Fields } from './fields.ts'
import { chatTypeOf, fieldsOf, idOf, isFields } from './fields.ts'
import type { BotFacts } from './mentions.ts'

/** What reading an update needs to know besides the update. */
export interface InboundContext {
  readonly account: AccountId
  readonly bot: BotFacts
  /** Ms since the epoch, for the kinds that carry no time of their own. */
  readonly receivedAt: number
}

/** An update on its way through the readers. */
export interface UpdateReading {
  readonly context: InboundContext
  /** As text; the events that carry no unique id of their own are keyed by it. */
  readonly updateId: string
}

/** `dropped`: nothing for the pipeline; `why` is a short word to count it under, never text of a person. */
export type InboundReading =
  | { readonly kind: 'event'; readonly event: InboundEvent }
  | { readonly kind: 'dropped'; readonly why: string }

export function dropped(why: string): InboundReading {
  return { kind: 'dropped', why }
}

/** A field name of the platform as a word to count by; anything odd is `other`, so that counters stay few. */
export function wordOf(name: string | undefined): string {
  return name !== undefined && /^[a-z_]{1,40}$/.test(name) ? name : 'other'
}

/**
 * The place of a message. Only `is_topic_message` makes a thread a topic: a plain reply in a supergroup carries a
 * thread id too (PLATFORMS, Bot API facts).
 */
export function readPlace(message: Fields, { account }: InboundContext): Address {
  const chat = fieldsOf(message.chat)
  const inTopic = message.is_topic_message === true && message.message_thread_id !== undefined
  return toAddress(account, {
    chatType: chatTypeOf(chat.type),
    chat: idOf(chat.id),
    ...(inTopic ? { topic: idOf(message.message_thread_id) } : {}),
  })
}

/**
 * Returns what others could read of an update: all of it in a place with several people in it, in a direct chat what was
 * passed on to us there.
 */
export function readableByOthers(update: unknown): unknown {
  if (!isFields(update)) return undefined
  const told = Object.values(update).find(isFields)
  const { chat } = isFields(told?.message) ? told.message : (told ?? {})
  if (told === undefined || !isFields(chat)) return undefined
  return chat.type === 'private' ? passedOn(told) : told
}

/** Marks of a message that somebody else wrote. */
const FOREIGN = ['forward_origin', 'forward_date', 'via_bot', 'sender_business_bot']

/** What it replies to stands in the direct chat already; what it quotes from elsewhere does not. */
function passedOn(message: Fields): Fields | undefined {
  const { reply_to_message: _here, external_reply, quote, ...said } = message
  const elsewhere = external_reply === undefined ? {} : { external_reply, quote }
  if (FOREIGN.some((mark) => said[mark] !== undefined)) return { ...said, ...elsewhere }
  return external_reply === undefined ? undefined : elsewhere
}
