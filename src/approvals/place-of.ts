import type { Session } from '../core/session.ts'
import type { SessionReader } from '../store/session-port.ts'

/**
 * Returns the display key by which rules name the place of a session. A task is where the conversation is that began
 * it: what is denied there is denied in it (R36).
 */
export async function placeOf(
  sessions: Pick<SessionReader, 'get'>,
  { displayKey, parent }: Pick<Session, 'displayKey' | 'parent'>,
): Promise<string> {
  const above = parent === undefined ? undefined : await sessions.get(parent)
  return above?.displayKey ?? displayKey
}
