import { text } from './rows.ts'
import type { SqlRow } from './sql.ts'

/**
 * The condition for a session that joins chats of several channels, as `joinsChannels` says. Ids of older versions
 * begin with one of these channels, whose namespace does not hold it all the same (S42). An index has them.
 */
export const JOINED = `(kind = 'main' OR SUBSTR(display_key, 1, 7) = 'direct:'
  OR SUBSTR(display_key, 1, LENGTH(agent_id) + 14) = 'agent:' || agent_id || ':direct:')`

/** Returns whether the condition holds for a row, without what may be unreadable in it. */
export function isJoined(row: SqlRow): boolean {
  const [key, agent] = [text(row, 'display_key'), text(row, 'agent_id')]
  return row.kind === 'main' || key.startsWith('direct:') || key.startsWith(`agent:${agent}:direct:`)
}
