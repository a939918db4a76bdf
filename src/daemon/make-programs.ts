import type { ChannelHub } from '../channels/hub.ts'
import type { Config } from '../config/config.ts'
import { type McpServerReport, type McpTrouble, mcpGroup } from '../core/mcp.ts'
import type { Measures } from '../core/measures.ts'
import type { HealthOperator } from '../core/operate-health.ts'
import type { InboundHooks } from '../core/operate-hooks.ts'
import type { Nodes } from '../core/operate-nodes.ts'
import type { McpTools } from '../mcp/server-tools.ts'
import type { LiveHub } from '../sessions/service/live-events.ts'
import type { Store } from '../store/store.ts'
import { makeHealth } from './make-health.ts'
import { type HookParts, makeInboundHooks } from './make-hooks.ts'
import type { Stages } from './stages.ts'
import { textRedactor } from './text-redactor.ts'

/** The services that only programs ask for, over the API. */
export interface ForPrograms {
  readonly inboundHooks: InboundHooks
  readonly nodes: Nodes
  readonly health: HealthOperator
  readonly agents: Config['agents']
  /** Returns how each tool server does, without the secrets of the configuration. */
  toolServers(this: void): readonly McpServerReport[]
}

export interface ForProgramsDeps extends Pick<HookParts, 'clock' | 'logger'> {
  readonly config: Pick<Config, 'http' | 'agents' | 'secrets'>
  readonly store: Store
  readonly measures: Measures
  readonly hub: ChannelHub
  readonly mcp: Pick<McpTools, 'states'>
  readonly live: Pick<LiveHub, 'readers'>
  readonly stages: Pick<Stages, 'externalRuns' | 'nodesOf' | 'sessions'>
}

export function makeForPrograms({ config, store, clock, logger, stages, mcp, ...parts }: ForProgramsDeps): ForPrograms {
  return {
    inboundHooks: makeInboundHooks(config, { store, clock, logger, runs: stages.externalRuns }),
    agents: config.agents,
    toolServers: () => toolServers(config, mcp),
    nodes: stages.nodesOf(stages.sessions),
    health: makeHealth({ ...parts, store, clock }),
  }
}

function redacted({ detail, at, printed }: McpTrouble, redact: (text: string) => string): McpTrouble {
  return { detail: redact(detail), at, ...(printed === undefined ? {} : { printed: printed.map(redact) }) }
}

/** The words of a server or its program about a failure may have a secret in them. */
function toolServers(
  config: Pick<Config, 'agents' | 'secrets'>,
  { states }: Pick<McpTools, 'states'>,
): readonly McpServerReport[] {
  const redact = textRedactor(config)
  return [...states()].map(([server, { lastTrouble, ...state }]) => ({
    ...{ server, ...state },
    agents: config.agents.filter(({ tools }) => tools.includes(mcpGroup(server))).map(({ id }) => id),
    ...(lastTrouble ? { lastTrouble: redacted(lastTrouble, redact) } : {}),
  }))
}
