import { ParleyError } from './errors.ts'
import { type AccountId, type ChannelId, toAccountId } from './ids.ts'

/**
 * `group` is a closed set of people (Telegram groups, Discord group DMs, Slack mpims), `channel` a place in a space.
 */
export type ChatType = 'direct' | 'group' | 'channel'
const CHAT_TYPES: readonly ChatType[] = ['direct', 'group', 'channel']

/**
 * The place a message came from or an answer goes to: one typed value, stored with the inbox row and copied to the turn
 * and to each delivery. There is no "last route". Ids are the platform's own, as opaque text.
 */
export interface Address {
  readonly channel: ChannelId
  readonly account: AccountId
  readonly chatType: ChatType
  readonly chat: string
  /** Forum topic or thread. Absent means the chat's root (Telegram: General). */
  readonly topic?: string
  /**
   * The message below which everything stays that is said here: a channel's post in its discussion group. It makes no
   * conversation of its own, and is not part of the address as text.
   */
  readonly post?: string
  /** Guild, workspace or team the chat lives in. */
  readonly space?: Space
}

export interface Space {
  readonly type: string
  readonly id: string
}

/**
 * `telegram:group:-100123/42`; with an account that is not the default `telegram@second:group:-100123`. Space and post
 * are not part of it.
 */
export function formatAddress(address: Address): string {
  const account = address.account === 'default' ? '' : `@${address.account}`
  const topic = address.topic === undefined ? '' : `/${address.topic}`
  return `${address.channel}${account}:${address.chatType}:${address.chat}${topic}`
}

/**
 * The inverse of `formatAddress`. Throws `invalid` naming the form; whether there is such a channel, the caller knows.
 */
export function parseAddress(text: string): Address {
  const address = addressNamed(text)
  if (address !== undefined) return address
  throw new ParleyError(
    'invalid',
    `"${text}" is not an address; write <channel>:<direct|group|channel>:<chat>[/<topic>]`,
  )
}

/** Returns the address that a text names; undefined where it names none. */
export function addressNamed(text: string): Address | undefined {
  const match = /^([a-z][a-z0-9_-]*)(?:@([^:]+))?:([a-z]+):([^/]+)(?:\/(.+))?$/.exec(text)
  const [, channel, account, chatType, chat, topic] = match ?? []
  const knownType = CHAT_TYPES.find((type) => type === chatType)
  if (!channel || !knownType || !chat) return undefined
  return {
    channel,
    account: toAccountId(account ?? ''),
    chatType: knownType,
    chat,
    ...(topic === undefined ? {} : { topic }),
  }
}

/** Returns true for one chat of one account: another, or another platform, has chats and messages of the same ids. */
export function isSameChat(one: Address, { channel, account, chat }: Address): boolean {
  return one.channel === channel && one.account === account && one.chat === chat
}

/** The conversation an address lies in: what deliveries are ordered by. Topics of one chat are ordered apart. */
export function conversationOf(address: Address): string {
  return formatAddress(address)
}
