import type { Address, ChatType } from '../../src/core/address.ts'
import type { AccountId } from '../../src/core/ids.ts'
import { Malformed } from '../shared/fields.ts'

/** Identifies our own messages afterwards; everybody in the workspace can read it, so it holds ids alone. */
export const DELIVERY_EVENT = 'parley_delivery'

/** A place in the form of the Web API. */
interface ApiTarget {
  readonly channel: string
  readonly thread_ts?: string
}

const CHAT_TYPES: Readonly<Record<string, ChatType>> = {
  im: 'direct',
  mpim: 'group',
  channel: 'channel',
  group: 'channel',
}

/** The seam's word for an event's `channel_type`: a private channel is a channel, only an mpim is a group of people. */
export function toChatType(channelType: unknown): ChatType | undefined {
  return typeof channelType === 'string' && Object.hasOwn(CHAT_TYPES, channelType) ? CHAT_TYPES[channelType] : undefined
}

/** `topic` is the ts of a thread's root; `team` the workspace the bot is in. */
export function toAddress(
  account: AccountId,
  place: {
    readonly chatType: ChatType
    readonly chat: string
    readonly team: string
    readonly topic?: string | undefined
  },
): Address {
  return {
    channel: 'slack',
    account,
    chatType: place.chatType,
    chat: place.chat,
    space: { type: 'team', id: place.team },
    ...(place.topic === undefined ? {} : { topic: place.topic }),
  }
}

/** The inverse. Null when the address names no Slack place: another channel, or ids that are not the platform's. */
export function toApiTarget(address: Address): ApiTarget | null {
  if (address.channel !== 'slack' || !/^[A-Z][A-Z0-9]+$/.test(address.chat)) return null
  if (address.topic === undefined) return { channel: address.chat }
  return isStamp(address.topic) ? { channel: address.chat, thread_ts: address.topic } : null
}

/** A message's ts: its id within a channel. */
export function isStamp(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,12}\.\d{6}$/.test(value)
}

/** The time of a ts, ms since the epoch. */
export function timeOfStamp(stamp: string): number {
  return Math.floor(Number(stamp) * 1000)
}

/** Ms since the epoch in the form of a ts, for the bounds of a search. */
export function toStamp(ms: number): string {
  return `${Math.floor(ms / 1000)}.${String(Math.floor(ms % 1000)).padStart(3, '0')}000`
}

/** Reads an id of the platform: upper-case letters and digits. @throws Malformed when it is missing */
export function idOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Z][A-Z0-9]+$/.test(value)) throw new Malformed('an id is missing')
  return value
}
