import { type Address, formatAddress, parseAddress } from '../../core/address.ts'
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
  of(address: Address): AgeLimit | undefined
}

/** Events that are read at once. */
const PAGE = 200

/**
 * Returns the limit of a session; undefined: it is kept. Where it joins chats the gentlest of theirs counts, whoever
 * has spoken last: a log is emptied from its beginning on, and what is to be kept would go with the rest.
 */
export async function limitOfSession(
  { events }: Pick<StoreReader, 'events'>,
  limits: KnownLimits,
  session: Session,
): Promise<AgeLimit | undefined> {
  const own = addressOf(session)
  if (!limits.differ || !joins(session) || isScheduled(session)) return limits.of(own)
  let gentlest = limits.of(own)
  for (const chat of await chatsIn(events, session)) {
    if (gentlest === undefined) return undefined
    const limit = limits.of(placeOf(chat, own))
    if (limit === undefined || limit.days > gentlest.days) gentlest = limit
  }
  return gentlest
}

/** Returns the chats in which something was said that a log has, as its messages name them. */
async function chatsIn(events: StoreReader['events'], { id }: Session): Promise<ReadonlySet<string>> {
  const chats = new Set<string>()
  for (let after = 0; ; ) {
    const page = await events.since(id, after, PAGE)
    for (const { chat } of page.flatMap(messagesOf)) if (chat !== undefined) chats.add(chat)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return chats
    after = last.seq
  }
}

function messagesOf({ type, data }: SessionEvent): readonly UserMessageData[] {
  if (type === 'thread_read') return data.messages
  return type === 'user_message' || type === 'message_edited' ? [data] : []
}

/** A message does not name the guild or workspace of its chat: that of the last chat stands for it. */
function placeOf(chat: string, own: Address): Address {
  const { topic: _topic, ...last } = own
  if (formatAddress(last) === chat) return own
  const address = parseAddress(chat)
  const isBeside = own.space !== undefined && address.channel === own.channel && address.chatType !== 'direct'
  return isBeside ? { ...address, space: own.space } : address
}
