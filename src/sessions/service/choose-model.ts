import type { AgentProfile } from '../../core/agent-profile.ts'
import { ParleyError } from '../../core/errors.ts'
import { NO_MODEL } from '../../core/model.ts'
import {
  keyRemedy,
  namesKind,
  type ServersByName,
  serverOf,
  splitModel,
  tableName,
  windowOf,
} from '../../core/model-server.ts'
import type { SessionDraft, SessionIdentity } from '../../core/session.ts'
import { SESSION_SETTINGS } from '../../core/session-settings.ts'
import type { OverridesCache } from '../lookups/overrides-cache.ts'

/** The rules for which models a session may be set to. */
export interface ModelRules {
  /** The agents; what is shown of a session whose agent left the configuration is that of the first one. */
  readonly agents: readonly AgentProfile[]
  /** The servers; those without a key that they need can be asked nothing. */
  readonly servers: ServersByName
  /** The models of workspaces, by name; one without goes by its agent's. */
  readonly workspaces?: ReadonlyMap<string, string>
  /** The groups of tools there are; absent: those that the agents name. */
  readonly toolGroups?: readonly string[]
}

/**
 * Returns why an agent may not answer with a model, in words for the asker; undefined if it may. An agent that lists
 * its models allows no other; one that lists none allows any of a server that can be asked (T37).
 */
export function refusedModel({ agents, servers }: ModelRules, agentId: string, model: string): string | undefined {
  const agent = agents.find(({ id }) => id === agentId) ?? agents[0]
  if (!agent || (model === agent.model && model !== NO_MODEL)) return undefined
  const isNamed = SESSION_SETTINGS.model.value.read(model) !== undefined
  if (agent.models) {
    const known = [...new Set([agent.model, ...agent.models])].filter((one) => one !== NO_MODEL)
    if (agent.models.includes(model)) return undefined
    return `${isNamed ? '' : SHAPE}${agent.id} may use ${known.join(', ')}; agents[].models lists them.`
  }
  const names = Object.entries(servers).flatMap(([name, { keyAbsent }]) => (keyAbsent === undefined ? [name] : []))
  const choice = `write one of ${[...names.map((name) => `${name}/<model>`), ECHO].join(', ')}.`
  if (!isNamed) return `${SHAPE}${choice.replace('write', 'Write')}`
  const [server] = splitModel(model)
  // A script is a file of this machine, which nobody may name from a chat.
  if (model === ECHO || names.includes(server)) return undefined
  return serverOf(servers, server) !== undefined || namesKind(server)
    ? `models.${server} has no key: ${keyRemedy(server)}. Or ${choice}`
    : `There is no server ${server} that I may ask; ${choice}`
}

const SHAPE = 'A model is written <server>/<model>. '

/**
 * Returns the agent of a session, as it was at its start or is now, with its thinking and the first model of these: the
 * one asked for with the message, the session's, the agent's (R11). One that the configuration no longer allows is
 * ignored. A session whose agent is gone from the configuration gets the default one for lists; no model is asked for
 * it (R10).
 */
export function chooseAgent(
  rules: ModelRules,
  overrides: Pick<OverridesCache, 'of'>,
): (session: SessionIdentity, asked?: string) => AgentProfile {
  const agents = rules.agents.map((agent) => withWindow(agent, rules.servers))
  const byId = new Map<string, AgentProfile>(agents.map((agent) => [agent.id, agent]))
  return ({ id, agentId, agentProfile }, asked) => {
    const agent = agentProfile === undefined ? (byId.get(agentId) ?? agents[0]) : kept(agentProfile, rules)
    if (!agent) throw new ParleyError('config', 'agents: there is no agent.')
    const { model: own, thinkingLevel } = overrides.of(id)
    if (asked === undefined && own === undefined && thinkingLevel === undefined) return agent
    const thinking = thinkingLevel === undefined ? {} : { thinking: thinkingLevel }
    const model = [asked, own].find((one) => one !== undefined && refusedModel(rules, agent.id, one) === undefined)
    return { ...(model === undefined ? agent : withModel(agent, model, rules.servers)), ...thinking }
  }
}

/**
 * Returns the failure of a session whose agent is not in the configuration, in words for the operator (R10); undefined
 * where it is, and for a session that keeps the agent of its start (C1).
 */
export function refusedAgent(
  agents: readonly Pick<AgentProfile, 'id'>[],
  { agentId, agentProfile }: Pick<SessionDraft, 'agentId' | 'agentProfile'>,
): ParleyError | undefined {
  if (agentProfile !== undefined || agents.some(({ id }) => id === agentId)) return undefined
  const present = agents.map(({ id }) => id).join(', ')
  const remedy = 'Put it back under agents and start the daemon again, or begin a new session.'
  return new ParleyError(
    'agent_gone',
    `The agent "${agentId}" of this session is not in the configuration; there is ${present}. ${remedy}`,
  )
}

/**
 * Returns the agent that a session keeps, without tools that the daemon no longer has: it could not run with them. One
 * that began without a model has that of the configuration.
 */
function kept(agent: AgentProfile, { agents, toolGroups, servers }: ModelRules): AgentProfile {
  const tools = toolGroups === undefined ? agent.tools : agent.tools.filter((group) => toolGroups.includes(group))
  const now = agents.find(({ id }) => id === agent.id) ?? agents[0]
  const model = agent.model === NO_MODEL ? (now?.model ?? NO_MODEL) : agent.model
  return withWindow({ ...agent, model, tools }, servers)
}

/** Returns the agent with the window of its model, where it sets none and the model is known. */
function withWindow(agent: AgentProfile, servers: ServersByName): AgentProfile {
  const contextTokens = agent.contextTokens ?? windowOf(tableName(agent.model, servers))
  return contextTokens === undefined ? agent : { ...agent, contextTokens }
}

/** Returns the agent with another model; its own window is that of its own model. */
function withModel({ contextTokens, ...agent }: AgentProfile, model: string, servers: ServersByName): AgentProfile {
  if (model === agent.model) return contextTokens === undefined ? agent : { ...agent, contextTokens }
  return withWindow({ ...agent, model }, servers)
}

const ECHO = 'scripted/echo'
