import { furtherKeys } from '../core/chat-move.ts'
import { toScheduleId, toSessionId } from '../core/ids.ts'
import type { Session, SessionIdentity } from '../core/session.ts'
import type { StoreReader } from '../store/store.ts'

type Placed = Pick<SessionIdentity, 'displayKey' | 'parent' | 'source' | 'metadata'>

/**
 * Returns the display keys by which rules may name the place of a session: its present key, and the key from before its
 * chat got a new id, which the configuration and rules given in chats may still name.
 */
export async function namesOfPlace(
  read: Pick<StoreReader, 'sessions' | 'schedules' | 'chatMoves'>,
  session: Placed,
): Promise<readonly string[]> {
  const place = await placeOf(read, session)
  return [place, ...furtherKeys(place, await read.chatMoves.all())]
}

/**
 * Returns the display key by which rules name the place of a session. A task is where the conversation is that began
 * it, and what somebody in a chat had scheduled is in that chat: what is denied there is denied in it (R36).
 */
async function placeOf(read: Pick<StoreReader, 'sessions' | 'schedules'>, { parent, ...own }: Placed): Promise<string> {
  const above: Placed | undefined = parent === undefined ? undefined : await read.sessions.get(parent)
  const { displayKey, source, metadata } = above ?? own
  const { deliver_to: chat, made_in: maker } = metadata
  if (source.kind !== 'schedule' || source.triggerId === undefined || chat === undefined) return displayKey
  // Rather than by the address, which names neither agent nor sender: a chat may have a session for each.
  const made: Session | undefined = maker === undefined ? undefined : await read.sessions.get(toSessionId(maker))
  if (made !== undefined) return made.displayKey
  // A schedule that was cancelled while it runs has no row any more.
  const schedule = await read.schedules.get(toScheduleId(source.triggerId))
  if (schedule?.source === 'config') return displayKey
  const there: Session | undefined = await read.sessions.resolve(chat)
  return there?.displayKey ?? chat
}
