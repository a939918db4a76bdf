import type { AgentProfile } from '../../core/agent-profile.ts'
import { agentVersion, changedFields } from '../../core/agent-version.ts'
import type { SessionIdentity } from '../../core/session.ts'
import type { Adopts } from '../turns/record-turn.ts'

/**
 * Returns the rule for which agent a session records when a turn begins (C1). Sessions of the API keep the agent of
 * their start; all others follow the configuration, and the event `agent_updated` names what changed.
 */
export function adoptAgents(agents: readonly AgentProfile[], isForeign: IsForeign = () => false): Adopts {
  const adopts = adoptConfigured(agents)
  return (session) => (isForeign(session) ? { ...adopts(session), foreign: true } : adopts(session))
}

/** Returns true for a session whose agent has tools that are described in nobody's words. */
export type IsForeign = (session: SessionIdentity) => boolean

function adoptConfigured(agents: readonly AgentProfile[]): Adopts {
  const byId = new Map(agents.map((agent) => [agent.id, { agent, version: agentVersion(agent) }]))
  return ({ agentId, agentVersion: before, agentProfile, source }) => {
    const now = byId.get(agentId)
    if (now === undefined || agentProfile !== undefined || before === now.version) return undefined
    const { version, agent } = now
    if (source.kind === 'api') return { version, profile: agent }
    return before === undefined ? { version } : { version, changed: changedFields(before, version) }
  }
}
