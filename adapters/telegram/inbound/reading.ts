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

/** Returns an update that tells of a place with several people in it, for whatever they could read there. */
export function readableByOthers(update: unknown): unknown {
  if (!isFields(update)) return undefined
  const told = Object.values(update).find(isFields)
  const { chat } = isFields(told?.message) ? told.message : (told ?? {})
  return isFields(chat) && chat.type !== 'private' ? told : undefined
}
