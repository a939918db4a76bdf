import type { AgentId } from '../../core/ids.ts'
import type { Session } from '../../core/session.ts'
import type { SessionCaller } from '../../core/session-tools.ts'

/** Decides what a caller may see; everything else is not there for them (S20). */
export interface Reach {
  /** Agents whose sessions the caller may reach; undefined: of every agent (T32). */
  agentsOf(caller: SessionCaller): readonly AgentId[] | undefined
  reaches(session: Session, caller: SessionCaller): Promise<boolean>
}

export interface ReachDeps {
  /** Agents that reach each other's sessions. */
  readonly agents: readonly AgentId[]
  /** Whether whoever is behind the turn takes part in the session. */
  takesPart(session: Session, caller: SessionCaller): Promise<boolean>
}

/** Names of the peers' catch-all sessions, which no tool shows or takes (T5). */
const HIDDEN: readonly string[] = ['global', 'unknown']

export function createReach({ agents, takesPart }: ReachDeps): Reach {
  const agentsOf = ({ turn }: SessionCaller): readonly AgentId[] | undefined => {
    if (turn === undefined) return undefined
    return agents.includes(turn.agentId) ? agents : [turn.agentId]
  }
  return {
    agentsOf,
    async reaches(session, caller) {
      if (HIDDEN.includes(session.displayKey)) return false
      if (agentsOf(caller)?.includes(session.agentId) === false) return false
      if (caller.principal.role === 'owner' || session.id === caller.turn?.sessionId) return true
      return takesPart(session, caller)
    },
  }
}
