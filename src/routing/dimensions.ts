import type { ChannelId } from '../core/ids.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import { DIMENSIONS, type Dimension } from '../core/session.ts'

/** A list of dimensions with the path that would change it. */
export interface DimensionList {
  readonly dimensions: readonly Dimension[]
  readonly path: string
}

/** Every channel's own list: its block's, else the global one (K12). */
export interface DimensionLists {
  of(this: void, channel: ChannelId): DimensionList
}

export function compileDimensions(policy: Pick<RoutingPolicy, 'dimensions' | 'channelDimensions'>): DimensionLists {
  const shared: DimensionList = { dimensions: knownDimensions(policy.dimensions), path: 'session.dimensions' }
  const own = new Map(
    Object.entries(policy.channelDimensions).map(([channel, names]): [ChannelId, DimensionList] => [
      channel,
      { dimensions: knownDimensions(names), path: `channels.${channel}.dimensions` },
    ]),
  )
  return { of: (channel) => own.get(channel) ?? shared }
}

/** Only the four count, once each, in the order given (K6, K7). */
export function knownDimensions(names: readonly string[]): readonly Dimension[] {
  const known = names.map((name) => DIMENSIONS.find((dimension) => dimension === name.trim().toLowerCase()))
  return [...new Set(known.filter((dimension) => dimension !== undefined))]
}

/** Returns what lists without the chat join, a sentence each that begins with its path. */
export function joinedChats(policy: Pick<RoutingPolicy, 'dimensions' | 'channelDimensions' | 'dispatch'>): string[] {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['session.dimensions', policy.dimensions],
    ...Object.entries(policy.channelDimensions).map(
      ([channel, own]) => [`channels.${channel}.dimensions`, own] as const,
    ),
    ...policy.dispatch.flatMap(({ dimensions }, index) =>
      dimensions === undefined ? [] : ([[`routing.dispatch[${index}].dimensions`, dimensions]] as const),
    ),
  ]
  return lists.flatMap(([path, names]) => {
    const known = knownDimensions(names)
    if (known.includes('chat') || (known.length === 0 && names.length > 0)) return []
    return [`${path}: ${whatIsJoined(known)}; add chat to keep them apart`]
  })
}

function whatIsJoined(dimensions: readonly Dimension[]): string {
  if (dimensions.length === 0) return 'all chats of an account are one session, and read each other there'
  return dimensions.includes('sender')
    ? 'the chats of one sender are one session: what was said in a direct chat is read where others listen'
    : 'several chats are one session, and read each other there'
}
