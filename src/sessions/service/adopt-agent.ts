import { createHash } from 'node:crypto'
import type { AgentProfile } from '../../core/agent-profile.ts'
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

/** A short text that is another one as soon as the agent is configured differently: `model=1f… tools=9c…`. */
type AgentVersion = string

/** Returns the version of an agent. The fields that differ can be read from two of them. */
function agentVersion(agent: AgentProfile): AgentVersion {
  const fields = Object.entries(agent).filter(([name, value]) => name !== 'id' && value !== undefined)
  const digests = fields.map(([name, value]) => `${name}=${digestOf(value)}`)
  return digests.sort().join(' ')
}

/** Returns the names of the fields in which two versions of an agent differ, sorted. */
function changedFields(before: AgentVersion, after: AgentVersion): readonly string[] {
  const [had, has] = [before.split(' '), after.split(' ')]
  const differing = [...had.filter((field) => !has.includes(field)), ...has.filter((field) => !had.includes(field))]
  return [...new Set(differing.map((field) => field.slice(0, field.indexOf('='))))].sort()
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12)
}
