import { type Address, parseAddress } from '../../core/address.ts'
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
  /** Absent where that session is gone. */
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
  const heldIn = holders.flatMap((holder) => (holder && !joins(holder) ? [addressOf(holder)] : []))
  for (const event of await events.latestOf(session.id, ['history_taken_over'], MOST_COPIES)) {
    if (event.type !== 'history_taken_over') continue
    const from = await sessions.get(event.data.from)
    const origin = { upTo: event.seq, session: event.data.from, heldIn }
    origins.push({ ...origin, ...(from ? placeOf(from) : { joined: true }) })
  }
  return [...origins, { upTo: Number.MAX_SAFE_INTEGER, session: session.id, heldIn, ...placeOf(session) }]
}

/** Returns true for an imported session: it has a key of its own, also once a chat has taken it over. */
export function isImported({ scopeKey, displayKey }: Session): boolean {
  return scopeKey === displayKey
}

function joins({ scope }: Session): boolean {
  return !scope.dimensions.includes('chat')
}

function placeOf(session: Session): Pick<LogOrigin, 'address' | 'joined'> {
  return { address: addressOf(session), joined: joins(session) }
}

export function originAt(origins: readonly LogOrigin[], { seq }: Pick<SessionEvent, 'seq'>): LogOrigin {
  return origins.find(({ upTo }) => seq <= upTo) ?? (origins.at(-1) as LogOrigin)
}

/** Returns whether an address lies in the place; the account of the bot counts only where the place names one. */
export function liesIn(place: ForgottenPlace, { channel, account, chat, topic }: Address): boolean {
  if (channel !== place.channel || chat !== place.chat) return false
  return (
    (place.account === undefined || account === place.account) && (place.topic === undefined || topic === place.topic)
  )
}

/** Returns true where all of a conversation is meant, and the session is of it. */
export function isWhollyIn(target: ForgetTarget, { id, scope, metadata, chatType }: Session): boolean {
  if (target.kind === 'session') return target.since === undefined && target.session === id
  if (target.kind !== 'chat' || target.since !== undefined || scope.values.chat === undefined) return false
  const { channel = scope.channel, chat_id: chat = '', topic_id: topic } = metadata
  const at = { channel, account: scope.account, chat, chatType }
  return liesIn(target.place, topic === undefined ? at : { ...at, topic })
}

/**
 * Returns whether something was said in the place, or stands in the log of the place since that was continued there. A
 * message that names its chat says so itself.
 */
export function isSaidIn(place: ForgottenPlace, { address, joined, heldIn }: LogOrigin, chat?: string): boolean {
  if (heldIn.some((held) => liesIn(place, held))) return true
  if (chat !== undefined) return isNamed(place, chat)
  return address !== undefined && !joined && liesIn(place, address)
}

/** Messages of a session that joins chats name the chat and no topic. */
function isNamed({ topic: _topic, ...chat }: ForgottenPlace, named: string): boolean {
  return liesIn(chat, parseAddress(named))
}

/** The sessions of a chat to which another one's answers are delivered. */
const MOST_THERE = 50

/** Returns the sessions that a target names: one of no chat with those of the chat that has its answers on record. */
export async function sessionsNamed(
  { sessions }: Pick<StoreReader, 'sessions'>,
  target: ForgetTarget,
): Promise<readonly SessionId[]> {
  if (target.kind === 'chat' && target.session !== undefined) return [target.session]
  if (target.kind !== 'session') return []
  const to = (await sessions.get(target.session))?.metadata.deliver_to
  if (to === undefined) return [target.session]
  const [named, under] = [await sessions.resolve(to), await sessions.under(to, MOST_THERE)]
  return [target.session, ...(named ? [named.id] : []), ...under.map(({ id }) => id)]
}
