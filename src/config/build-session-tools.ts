import { type AgentId, toAgentId } from '../core/ids.ts'
import type { SessionToolSettings } from './config.ts'
import { suggestion } from './describe-issue.ts'
import type { Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

/** Builds the settings of the session tools. Each agent named must be one that there is. */
export function buildSessionTools(
  { tools }: ConfigFile,
  known: readonly AgentId[],
): { readonly sessionTools: SessionToolSettings; readonly mistakes: readonly Mistake[] } {
  const agents = tools.sessions.agents.map(toAgentId)
  const mistakes = agents.flatMap((agent, index): Mistake[] => {
    if (known.includes(agent)) return []
    const message = `tools.sessions.agents[${index}]: there is no agent ${agent}; known: ${known.join(', ')}`
    return [{ path: ['tools', 'sessions', 'agents', index], message: `${message}${suggestion(agent, known)}` }]
  })
  return { mistakes, sessionTools: { agents, inGroups: tools.sessions.inGroups } }
}
