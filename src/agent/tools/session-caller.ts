import type { SessionCaller } from '../../core/session-tools.ts'
import type { ToolContext } from '../../core/turn.ts'

/** Authority comes from the turn, never from the arguments. */
export function callerOf({ turnId, sessionId, agentId }: ToolContext): SessionCaller {
  return { turn: { id: turnId, sessionId, agentId } }
}
