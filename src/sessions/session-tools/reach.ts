import type { Caller } from '../../core/caller.ts'
import type { AgentId } from '../../core/ids.ts'
import type { Session } from '../../core/session.ts'
import type { SessionCaller } from '../../core/session-tools.ts'
import type { SessionQuery } from '../../store/session-port.ts'
import { type AccessPorts, reachedBy, reaches } from '../service/session-access.ts'

/** Decides what a caller may see; everything else is not there for them (S20). */
export interface Reach {
  /** Agents whose sessions the caller may reach; undefined: of every agent (T32). */
  agentsOf(caller: SessionCaller): readonly AgentId[] | undefined
  /** What a list is asked with, so that the store leaves out what is out of reach: absent for an owner. */
  among(caller: SessionCaller): Promise<Pick<SessionQuery, 'participants'>>
  reaches(session: Session, caller: SessionCaller): Promise<boolean>
}

export interface ReachDeps {
  /** Agents that reach each other's sessions. */
  readonly agents: readonly AgentId[]
  readonly access: AccessPorts
}

/** Names of the peers' catch-all sessions, which no tool shows or takes (T5). */
const HIDDEN: readonly string[] = ['global', 'unknown']

export function createReach({ agents, access }: ReachDeps): Reach {
  const agentsOf = ({ turn }: SessionCaller): readonly AgentId[] | undefined => {
    if (turn === undefined) return undefined
    return agents.includes(turn.agentId) ? agents : [turn.agentId]
  }
  return {
    agentsOf,
    async among(caller) {
      const { participants } = await reachedBy(personOf(caller), access)
      return participants === undefined ? {} : { participants }
    },
    async reaches(session, caller) {
      if (HIDDEN.includes(session.displayKey)) return false
      if (agentsOf(caller)?.includes(session.agentId) === false) return false
      return session.id === caller.turn?.sessionId || reaches(personOf(caller), session, access)
    },
  }
}

function personOf({ principal }: SessionCaller): Caller {
  return { kind: 'person', ...principal }
}
