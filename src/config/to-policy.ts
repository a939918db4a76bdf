import { type AgentId, CHANNEL_IDS, toPersonId } from '../core/ids.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import type { Dimension } from '../core/session.ts'
import type { ConfigFile } from './schema.ts'

/** Threads are topics there, and kept apart unless the block says otherwise (DESIGN decision 6). */
const CHANNEL_DIMENSIONS: RoutingPolicy['channelDimensions'] = { slack: ['chat', 'topic'], discord: ['chat', 'topic'] }

/** The part of the file that routing decides by. The order of its lists is kept: traces name rules by their index. */
export function toPolicy(file: ConfigFile, agents: readonly AgentId[]): RoutingPolicy {
  const { routing, session } = file
  return {
    people: Object.entries(file.people).map(([name, { role, ids }]) => ({ id: toPersonId(name), role, ids })),
    agents,
    access: routing.access,
    ownerAlwaysTriggers: routing.ownerAlwaysTriggers,
    wakeWords: routing.wakeWords,
    edits: routing.edits,
    deletions: routing.deletions,
    botBudget: routing.botBudget,
    dispatch: routing.dispatch.map(({ shadow: _shadow, ...rule }) => rule),
    sendPolicy: session.sendPolicy,
    scope: session.scope,
    dimensions: session.dimensions,
    channelDimensions: { ...CHANNEL_DIMENSIONS, ...ownDimensions(file) },
    direct: session.direct,
  }
}

function ownDimensions({ channels }: ConfigFile): RoutingPolicy['channelDimensions'] {
  const own: Partial<Record<(typeof CHANNEL_IDS)[number], readonly Dimension[]>> = {}
  for (const id of CHANNEL_IDS) {
    const dimensions = channels[id]?.dimensions
    if (dimensions !== undefined) own[id] = dimensions
  }
  return own
}
