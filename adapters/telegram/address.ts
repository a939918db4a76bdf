import type { Address, ChatType } from '../../src/core/address.ts'
import type { AccountId } from '../../src/core/ids.ts'
import { Malformed } from '../shared/fields.ts'

/** A place in the form of the Bot API. `chat_id` stays text, which the API accepts as well and which loses no digit. */
interface ApiTarget {
  readonly chat_id: string
  readonly message_thread_id?: number
}

const CHAT_TYPES: Readonly<Record<string, ChatType>> = {
  private: 'direct',
  group: 'group',
  supergroup: 'group',
  channel: 'channel',
}

/** The seam's word for the platform's chat type; undefined for one we do not know. */
export function toChatType(type: unknown): ChatType | undefined {
  return typeof type === 'string' && Object.hasOwn(CHAT_TYPES, type) ? CHAT_TYPES[type] : undefined
}

/**
 * `topic` is the thread id of a forum topic; a forum's General topic has none. `post`: the message below which its
 * comments stand.
 */
export function toAddress(
  account: AccountId,
  place: { readonly chatType: ChatType; readonly chat: string; readonly topic?: string; readonly post?: string },
): Address {
  return {
    channel: 'telegram',
    account,
    chatType: place.chatType,
    chat: place.chat,
    ...(place.topic === undefined ? {} : { topic: place.topic }),
    ...(place.post === undefined ? {} : { post: place.post }),
  }
}

/** The inverse. Null when the address names no Telegram place: another channel, or ids that are not the platform's. */
export function toApiTarget(address: Address): ApiTarget | null {
  if (address.channel !== 'telegram' || !/^(-?\d+|@\w+)$/.test(address.chat)) return null
  if (address.topic === undefined) return { chat_id: address.chat }
  const thread = toApiId(address.topic)
  return thread === null ? null : { chat_id: address.chat, message_thread_id: thread }
}

/** A message or thread id as the number the Bot API wants, or null if it is none or would lose digits. */
export function toApiId(id: string): number | null {
  const number = Number(id)
  return /^\d+$/.test(id) && Number.isSafeInteger(number) ? number : null
}

/** A platform id as text, exact; undefined for anything that is no integer a JSON number carries without loss. */
export function toIdText(id: unknown): string | undefined {
  return typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : undefined
}

/** Reads an id of the platform. @throws Malformed when it is missing or not exact */
export function idOf(value: unknown): string {
  const id = toIdText(value)
  if (id === undefined) throw new Malformed('an id is missing or not exact')
  return id
}
