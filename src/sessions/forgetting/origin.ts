import { type Address, parseAddress } from '../../core/address.ts'
import type { SessionEvent } from '../../core/event.ts'
import type { ForgottenPlace } from '../../core/forgetting.ts'
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
}

const MOST_COPIES = 50

/** Returns where the parts of a log come from, in order; the last is the session itself. */
export async function originsOf(
  { events, sessions }: Pick<StoreReader, 'events' | 'sessions'>,
  session: Session,
): Promise<readonly LogOrigin[]> {
  const origins: LogOrigin[] = []
  for (const event of await events.latestOf(session.id, ['history_taken_over'], MOST_COPIES)) {
    if (event.type !== 'history_taken_over') continue
    const from = await sessions.get(event.data.from)
    origins.push({ upTo: event.seq, session: event.data.from, ...(from ? placeOf(from) : { joined: true }) })
  }
  return [...origins, { upTo: Number.MAX_SAFE_INTEGER, session: session.id, ...placeOf(session) }]
}

function placeOf(session: Session): Pick<LogOrigin, 'address' | 'joined'> {
  return { address: addressOf(session), joined: !session.scope.dimensions.includes('chat') }
}

export function originAt(origins: readonly LogOrigin[], { seq }: Pick<SessionEvent, 'seq'>): LogOrigin {
  return origins.find(({ upTo }) => seq <= upTo) ?? (origins.at(-1) as LogOrigin)
}

/** Returns whether an address lies in the place; the bot counts where the place names it. */
export function liesIn(place: ForgottenPlace, { channel, account, chat, topic }: Address): boolean {
  if (channel !== place.channel || chat !== place.chat) return false
  return (
    (place.account === undefined || account === place.account) && (place.topic === undefined || topic === place.topic)
  )
}

/** Returns whether something was said in the place: a message that names its chat says so itself. */
export function isSaidIn(place: ForgottenPlace, { address, joined }: LogOrigin, chat?: string): boolean {
  if (chat !== undefined) return isNamed(place, chat)
  return address !== undefined && !joined && liesIn(place, address)
}

/** Messages of a session that joins chats name the chat and no topic. */
function isNamed({ topic: _topic, ...chat }: ForgottenPlace, named: string): boolean {
  return liesIn(chat, parseAddress(named))
}
