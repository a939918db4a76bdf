import type { ChannelId } from '../core/ids.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import { DIMENSIONS, type Dimension } from '../core/session.ts'

/** A list of dimensions with the path that would change it. */
export interface DimensionList {
  readonly dimensions: readonly Dimension[]
  readonly path: string
}

export type DimensionLists = Readonly<Record<ChannelId, DimensionList>>

/** Every channel's own list: its block's, else the global one (BEHAVIOUR 2 row 29). */
export function compileDimensions(policy: Pick<RoutingPolicy, 'dimensions' | 'channelDimensions'>): DimensionLists {
  const shared: DimensionList = { dimensions: knownDimensions(policy.dimensions), path: 'session.dimensions' }
  const listOf = (channel: ChannelId): DimensionList => {
    const own = policy.channelDimensions[channel]
    return own ? { dimensions: knownDimensions(own), path: `channels.${channel}.dimensions` } : shared
  }
  return {
    telegram: listOf('telegram'),
    discord: listOf('discord'),
    slack: listOf('slack'),
    web: listOf('web'),
    cli: listOf('cli'),
    api: listOf('api'),
  }
}

/** Only the four count, once each, in the order given (K6, K7). */
export function knownDimensions(names: readonly string[]): readonly Dimension[] {
  const known = names.map((name) => DIMENSIONS.find((dimension) => dimension === name.trim().toLowerCase()))
  return [...new Set(known.filter((dimension) => dimension !== undefined))]
}
