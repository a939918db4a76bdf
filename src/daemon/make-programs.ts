import type { ChannelHub } from '../channels/hub.ts'
import type { Config } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import type { Measures } from '../core/measures.ts'
import type { HealthOperator } from '../core/operate-health.ts'
import type { InboundHooks } from '../core/operate-hooks.ts'
import type { Nodes } from '../core/operate-nodes.ts'
import type { LiveHub } from '../sessions/service/live-events.ts'
import type { Store } from '../store/store.ts'
import { makeHealth } from './make-health.ts'
import { makeInboundHooks } from './make-hooks.ts'
import type { Stages } from './stages.ts'

/** The services that only programs ask for, over the API. */
export interface ForPrograms {
  readonly inboundHooks: InboundHooks
  readonly nodes: Nodes
  readonly health: HealthOperator
  readonly agents: Config['agents']
}

export interface ForProgramsDeps {
  readonly config: Pick<Config, 'http' | 'agents'>
  readonly store: Store
  readonly clock: Clock
  readonly measures: Measures
  readonly hub: ChannelHub
  readonly live: Pick<LiveHub, 'readers'>
  readonly stages: Pick<Stages, 'externalRuns' | 'nodesOf' | 'sessions'>
}

export function makeForPrograms({ config, store, clock, stages, ...parts }: ForProgramsDeps): ForPrograms {
  return {
    inboundHooks: makeInboundHooks(config, { store, clock, runs: stages.externalRuns }),
    agents: config.agents,
    nodes: stages.nodesOf(stages.sessions),
    health: makeHealth({ ...parts, store, clock }),
  }
}
