import type { Address } from '../../core/address.ts'
import type { SessionEvent } from '../../core/event.ts'
import type { ForgetTarget, ForgottenPlace } from '../../core/forgetting.ts'
import type { SessionId } from '../../core/ids.ts'
import type { Session } from '../../core/session.ts'
import type { StoreReader } from '../../store/store.ts'
import { addressOf } from '../service/address-of.ts'

/** The session in which events of a log were written first, which may have been copied since. */
export interface LogOrigin {
  /** The last event of it in this log. */
  readonly upTo: number
  readonly session: SessionId
  /** The session whose log it is. */
  readonly log: SessionId
  /** Absent where that session is gone. Without a topic where the session is one of several. */
  readonly address?: Address
  /** Its messages name their chats, for it joins several. */
  readonly joined: boolean
  /** The conversations that have the log now, wherever it comes from; none where it joins several. */
  readonly heldIn: readonly Address[]
}

/** The newest logs that were continued in a session. */
export const MOST_COPIES = 50

/** Returns where the parts of a log come from, in order; the last is the session itself. */
export async function originsOf(
  { events, sessions, forgetting }: Pick<StoreReader, 'events' | 'sessions' | 'forgetting'>,
  session: Session,
): Promise<readonly LogOrigin[]> {
  const origins: LogOrigin[] = []
  const copies = isImported(session) ? await forgetting.copiesOf(session.id) : []
  const holders = [session, ...(await Promise.all(copies.map((id) => sessions.get(id))))]
  const heldIn = holders.flatMap((holder) => (holder && !joins(holder) ? [chatOf(holder)] : []))
  for (const event of await events.latestOf(session.id, ['history_taken_over'], MOST_COPIES)) {
    if (event.type !== 'history_taken_over') continue
    const from = await sessions.get(event.data.from)
    const origin = { upTo: event.seq, session: event.data.from, log: session.id, heldIn }
    origins.push({ ...origin, ...(from ? placeOf(from) : { joined: true }) })
  }
  const own = { upTo: Number.MAX_SAFE_INTEGER, session: session.id, log: session.id, heldIn }
  return [...origins, { ...own, ...placeOf(session) }]
}

/** Returns true for an imported session: it has a key of its own, also once a chat has taken it over. */
export function isImported({ scopeKey, displayKey }: Session): boolean {
  return scopeKey === displayKey
}

/** Returns whether a session joins several chats. */
export function joins({ scope }: Session): boolean {
  return !scope.dimensions.includes('chat')
}

function placeOf(session: Session): Pick<LogOrigin, 'address' | 'joined'> {
  return { address: chatOf(session), joined: joins(session) }
}

/**
 * Returns the chat of a session, with its topic where that sets the session apart: else the topic is that of what was
 * said last, and others have spoken elsewhere.
 */
export function chatOf(session: Session): Address {
  const { chat, topic } = session.scope.values
  const { topic: named, ...address } = addressOf(session)
  const isApart = topic !== undefined || chat?.includes('/') === true
  return isApart && named !== undefined ? { ...address, topic: named } : address
}

export function originAt(origins: readonly LogOrigin[], { seq }: Pick<SessionEvent, 'seq'>): LogOrigin {
  return origins.find(({ upTo }) => seq <= upTo) ?? (origins.at(-1) as LogOrigin)
}

/** Returns true for words of this log, and for copies of a session that is gone; others belong to that session. */
export function isOfThisLog({ session, log, address }: LogOrigin): boolean {
  return session === log || address === undefined
}

/** Returns whether an address lies in the place; the account of the bot counts only where the place names one. */
export function liesIn(place: ForgottenPlace, { channel, account, chat, topic }: Address): boolean {
  if (channel !== place.channel || chat !== place.chat) return false
  if (place.account !== undefined && account !== place.account) return false
  if (place.root) return topic === undefined
  return place.topic === undefined || topic === place.topic
}

/** Returns true where all of a conversation is meant, and the session is of it. */
export function isWhollyIn(target: ForgetTarget, session: Session): boolean {
  if (target.kind === 'session') return target.since === undefined && target.sessions.includes(session.id)
  if (target.kind !== 'chat' || target.since !== undefined || session.scope.values.chat === undefined) return false
  return liesIn(target.place, chatOf(session))
}

/** Returns whether a session is the direct chat of somebody who is forgotten as a whole: it is named after them. */
export function isNamedAfter(target: ForgetTarget, { chatType, metadata }: Session): boolean {
  if (target.kind !== 'person' || target.place !== undefined || target.since !== undefined) return false
  const { channel = '', sender_id: sender, sender_team: own, space } = metadata
  if (chatType !== 'direct' || sender === undefined) return false
  // The team of the chat is that of most ids in it, where ids belong to one.
  const team = own ?? /^team:(.+)$/.exec(space ?? '')?.[1]
  const names = [sender, ...(team === undefined ? [] : [`${team}/${sender}`])].map((id) => `${channel}:${id}`)
  // Here an id is spelled as the platform does.
  return target.ids.some((id) => names.some((name) => name.toLowerCase() === id.toLowerCase()))
}

/** Returns whether lists still call a session by words, or by the names of its place. */
export function hasNames({ description, metadata }: Session): boolean {
  return description !== '' || NAMES.some((name) => metadata[name] !== undefined)
}

const NAMES = ['chat_title', 'topic_title', 'person_name'] as const

/**
 * Returns whether something was said in the place, or stands in the log of the place since that was continued there. A
 * message that names its chat says so itself.
 */
export function isSaidIn(place: ForgottenPlace, { address, joined, heldIn }: LogOrigin, chat?: Address): boolean {
  if (heldIn.some((held) => liesIn(place, held))) return true
  // It names no topic.
  if (chat !== undefined) return !place.root && liesIn(place, chat)
  return address !== undefined && !joined && liesIn(place, address)
}

/** The sessions of a chat to which another one's answers are delivered. */
const MOST_THERE = 50

/** Returns the sessions that a target names: those of no chat with those of the chats that have their answers. */
export async function sessionsNamed(
  { sessions }: Pick<StoreReader, 'sessions'>,
  target: ForgetTarget,
): Promise<readonly SessionId[]> {
  if (target.kind === 'chat' && target.session !== undefined) return [target.session]
  if (target.kind !== 'session') return []
  const all = new Set(target.sessions)
  const found = await Promise.all(target.sessions.map((id) => sessions.get(id)))
  for (const to of new Set(found.flatMap((session) => session?.metadata.deliver_to ?? []))) {
    const named = await sessions.resolve(to)
    for (const { id } of [...(named ? [named] : []), ...(await sessions.under(to, MOST_THERE))]) all.add(id)
  }
  return [...all]
}
