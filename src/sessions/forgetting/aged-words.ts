import type { SessionEvent } from '../../core/event.ts'
import type { SessionId } from '../../core/ids.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Returns whether the last words of a session, which lists show, are among these events. */
export async function isShown(tx: StoreWriter, id: SessionId, found: readonly SessionEvent[]): Promise<boolean> {
  const [last] = await tx.events.latestOf(id, ['user_message', 'assistant_message', 'assistant_posted'], 1)
  return last !== undefined && last.seq <= (found.at(-1)?.seq ?? 0)
}
