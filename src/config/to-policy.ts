import type { TraitsByChannel } from '../core/channel-traits.ts'
import { type AgentId, toPersonId } from '../core/ids.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import type { ConfigFile } from './schema.ts'

/** The part of the file that routing decides by. The order of its lists is kept: traces name rules by their index. */
export function toPolicy(file: ConfigFile, agents: readonly AgentId[], traits: TraitsByChannel): RoutingPolicy {
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
    channelDimensions: channelDimensions(file, traits),
    direct: session.direct,
    traits,
  }
}

/** Those of the channel's block, else those its platform has by itself: threads are kept apart (K12). */
function channelDimensions({ channels }: ConfigFile, traits: TraitsByChannel): RoutingPolicy['channelDimensions'] {
  return Object.fromEntries(
    Object.entries(traits).flatMap(([channel, { dimensions: usual }]) => {
      const dimensions = channels[channel]?.dimensions ?? usual
      return dimensions === undefined ? [] : [[channel, dimensions] as const]
    }),
  )
}
