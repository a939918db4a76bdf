import { setImmediate } from 'node:timers/promises'
import { type Address, addressNamed, formatAddress } from '../../core/address.ts'
import type { SessionEvent, UserMessageData } from '../../core/event.ts'
import type { AgeLimit } from '../../core/retention.ts'
import { isScheduled, type Session } from '../../core/session.ts'
import type { StoreReader } from '../../store/store.ts'
import { addressOf } from '../service/address-of.ts'
import { joins } from './origin.ts'

/** The age limits of the configuration. */
export interface KnownLimits {
  readonly all: readonly AgeLimit[]
  /** The limits of some places differ from that of all others. */
  readonly differ: boolean
  /** Some of these places are topics. */
  readonly byTopic: boolean
  of(address: Address): AgeLimit | undefined
}

/** Events that are read at once. */
const PAGE = 200

/**
 * Returns the limit of a session; undefined: it is kept. Where it joins chats the gentlest of theirs counts, whoever
 * has spoken last: a log is emptied from its beginning on, and what is to be kept would go with the rest.
 */
export async function limitOfSession(
  read: LimitReader,
  limits: KnownLimits,
  session: Session,
): Promise<AgeLimit | undefined> {
  const own = addressOf(session)
  if (!limits.differ || !joins(session) || isScheduled(session)) return limits.of(own)
  let gentlest = limits.of(own)
  for await (const place of placesIn(read, session, { own, byTopic: limits.byTopic })) {
    if (gentlest === undefined) return undefined
    if (place === undefined) continue
    const limit = limits.of(place)
    if (limit === undefined || limit.days > gentlest.days) gentlest = limit
  }
  return gentlest
}

type LimitReader = Pick<StoreReader, 'events' | 'inbox'>

/**
 * Yields the chats in which something was said that a log has, `byTopic` with the topic of each message, and undefined
 * for a message that is of none. A log names the chat alone; the record of what was received has the whole address.
 */
async function* placesIn(
  { events, inbox }: LimitReader,
  { id }: Session,
  { own, byTopic }: { readonly own: Address; readonly byTopic: boolean },
): AsyncGenerator<Address | undefined> {
  const seen = new Set<string>()
  for (let after = 0; ; ) {
    // Thousands of logs are read one after another, and everybody else would wait meanwhile.
    await setImmediate()
    const page = await events.since(id, after, PAGE)
    for (const { chat, messageId } of page.flatMap(messagesOf)) {
      if (chat === undefined || (seen.has(chat) && !byTopic)) continue
      seen.add(chat)
      const rows = messageId === undefined ? [] : await inbox.inSession(id, messageId)
      const received = rows.map(({ dispatch: { event } }) => event.address).find((one) => chatNamed(one) === chat)
      yield received ?? placeOf(chat, own)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = last.seq
  }
}

function messagesOf({ type, data }: SessionEvent): readonly UserMessageData[] {
  if (type === 'thread_read') return data.messages
  return type === 'user_message' || type === 'message_edited' ? [data] : []
}

function chatNamed({ topic: _topic, ...chat }: Address): string {
  return formatAddress(chat)
}

/** The guild or workspace of the account's last chat stands for that of a chat with nothing received on record. */
function placeOf(chat: string, own: Address): Address | undefined {
  if (chatNamed(own) === chat) return own
  const address = addressNamed(chat)
  if (address === undefined) return undefined
  const isBeside = address.channel === own.channel && address.account === own.account && address.chatType !== 'direct'
  return isBeside && own.space !== undefined ? { ...address, space: own.space } : address
}
