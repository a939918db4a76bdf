import type { AgentProfile } from '../../core/agent-profile.ts'
import { ParleyError } from '../../core/errors.ts'
import type { AgentId } from '../../core/ids.ts'
import type { StartRequest } from '../../core/operate-sessions.ts'
import { readContext, type SessionContext } from '../../core/session-context.ts'
import { readWorkplace, type Workplace } from '../../core/workplace.ts'
import { type ModelRules, refusedModel } from './choose-model.ts'

/** The fields of a session that its client gives at the start. */
export interface SessionStart {
  /** The agent that the session keeps (C1). */
  readonly profile: AgentProfile
  readonly context?: SessionContext
  readonly workspace?: string
  readonly workplace: Workplace
}

/** The rules for what a client gives at the start of a session. */
export interface StartRules extends ModelRules {
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
}

const WORKSPACE = /^[a-z0-9][a-z0-9._-]{0,63}$/i

/** Returns the agent that a client names; undefined where it names none. Throws `invalid` for one there is not (R1). */
export function namedAgent({ agents }: ModelRules, asked: string | undefined): AgentId | undefined {
  if (asked === undefined) return undefined
  const agent = agents.find(({ id }) => id === asked)
  if (agent) return agent.id
  throw new ParleyError('invalid', `There is no agent "${asked}"; there is ${agents.map(({ id }) => id).join(', ')}.`)
}

/**
 * Returns the start that a client asks for, with the model it names, else that of the workspace, else the agent's
 * (R11). Throws `invalid` for a tool that the agent has not: a session narrows its agent's tools (C28).
 */
export function readStart({ redact, ...rules }: StartRules, id: AgentId, asked: StartRequest): SessionStart {
  const agent = rules.agents.find((one) => one.id === id) ?? rules.agents[0]
  if (!agent) throw new ParleyError('config', 'agents: there is no agent.')
  const { workspace, context, tools, workplace = {} } = asked
  if (workspace !== undefined && !WORKSPACE.test(workspace))
    throw new ParleyError('invalid', 'workspace must be 1 to 64 letters, digits, ".", "_" or "-".')
  const model = asked.model ?? (workspace === undefined ? undefined : rules.workspaces?.get(workspace))
  const refused = model === undefined ? undefined : refusedModel(rules, agent.id, model)
  if (refused !== undefined) throw new ParleyError('invalid', refused)
  const { contextTokens, ...further } = agent
  const window = contextTokens === undefined || (model !== undefined && model !== agent.model) ? {} : { contextTokens }
  return {
    profile: {
      ...{ ...further, ...window },
      ...(model === undefined ? {} : { model }),
      ...(tools === undefined ? {} : { tools: narrowed(agent, tools) }),
    },
    ...(context === undefined ? {} : { context: redacted(readContext(context), redact) }),
    ...(workspace === undefined ? {} : { workspace }),
    workplace: readWorkplace(workplace, redact),
  }
}

function redacted(context: SessionContext, redact: StartRules['redact']): SessionContext {
  return Object.fromEntries(Object.entries(context).map(([name, value]) => [name, redact(value)]))
}

function narrowed({ id, tools }: AgentProfile, asked: readonly string[]): readonly string[] {
  const further = asked.find((name) => !tools.includes(name))
  if (further === undefined) return [...new Set(asked)]
  const known = tools.length === 0 ? 'none' : tools.join(', ')
  throw new ParleyError('invalid', `${id} has no tools "${further}", and a session may only have fewer: ${known}.`)
}
