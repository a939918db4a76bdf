import type { SessionEvent, UserMessageData } from '../../core/event.ts'
import type { SessionId } from '../../core/ids.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Returns the messages that an event brought into a log. */
export function messagesIn(event: SessionEvent): readonly UserMessageData[] {
  if (event.type === 'thread_read') return event.data.messages
  return event.type === 'user_message' || event.type === 'message_edited' ? [event.data] : []
}

/** Returns whether the last words of a session, which lists show, are among these events. */
export async function isShown(tx: StoreWriter, id: SessionId, found: readonly SessionEvent[]): Promise<boolean> {
  const [last] = await tx.events.latestOf(id, ['user_message', 'assistant_message', 'assistant_posted'], 1)
  return last !== undefined && last.seq <= (found.at(-1)?.seq ?? 0)
}
