import type { SessionCaller } from '../../core/session-tools.ts'
import type { ToolContext } from '../../core/turn.ts'

/** Authority comes from the turn, never from the arguments (DESIGN decision 11). */
export function callerOf({ principal, turnId, sessionId, agentId }: ToolContext): SessionCaller {
  return { principal, turn: { id: turnId, sessionId, agentId } }
}
