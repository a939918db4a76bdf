import { type Channels, type ChannelTraits, createChannels } from '../core/channel-traits.ts'
import { type ChannelId, toAgentId } from '../core/ids.ts'
import type { DispatchRule, RoutingPolicy } from '../core/policy.ts'
import type { Dimension } from '../core/session.ts'
import {
  bothWays,
  type Change,
  compareRanked,
  describeSite,
  ruleAt,
  type Site,
  type Sited,
  siteOfDispatch,
  sitesToCompare,
} from './compare-rules.ts'
import { knownDimensions } from './dimensions.ts'
import { defaultAgent } from './dispatch-rules.ts'

interface Routes {
  readonly channels: Channels
  readonly policy: RoutingPolicy
  readonly rules: readonly Sited<DispatchRule>[]
}

/** Which agent answers where, and which chats share a session. People who begin to share one read each other. */
export function compareSessions(before: RoutingPolicy, after: RoutingPolicy): Change[] {
  const [was, is] = [routesOf(before), routesOf(after)]
  const [people, others] = [before, after].map(({ people }) => new Set<string>(people.map(({ id }) => id)))
  const sites = sitesToCompare(was.rules, is.rules, {
    channels: is.channels,
    isPerson: (name) => people?.has(name) === true && others?.has(name) === true,
  })
  return [
    ...sites.flatMap((site) => [...compareAgents(was, is, site), ...compareDimensions(was, is, site)]),
    ...bothWays(
      compareRanked('session.scope', ['routed', 'global'], { before: before.scope, after: after.scope }),
      joinsChats(after),
    ),
    ...compareDirect(before, after),
  ]
}

/** A rule without a constraint never matches. */
function routesOf(policy: RoutingPolicy): Routes {
  const constrained = policy.dispatch.filter(({ match }) => Object.values(match).some((value) => value !== undefined))
  const channels = createChannels(policy.traits)
  return { channels, policy, rules: constrained.map((rule) => siteOfDispatch(rule, channels)) }
}

/** Another agent has other tools and other sessions: whoever speaks there may do what they could not before. */
function compareAgents(was: Routes, is: Routes, site: Site): Change[] {
  const [before, after] = [was, is].map(({ rules, policy: { agents } }) => {
    const wanted = ruleAt(rules, site)?.agent
    return agents.find((agent) => wanted !== undefined && agent === toAgentId(wanted)) ?? defaultAgent(agents)
  })
  if (before === after) return []
  return [{ by: 1, line: `routing.dispatch: ${describeSite(site, 'any other place')}: agent ${after} (was ${before})` }]
}

function compareDimensions(was: Routes, is: Routes, site: Site): Change[] {
  const channels = is.channels.ids.filter((channel) => site.channel === undefined || site.channel === channel)
  // A session of one rule may be that of another: with rules of their own, lists that tell more apart join some as well.
  const mixed = [was, is].some(({ rules }) => rules.some(({ rule }) => rule.dimensions !== undefined))
  return channels.flatMap((channel) => {
    const [before, after] = [dimensionsAt(was, site, channel), dimensionsAt(is, site, channel)]
    const line = `${pathOf([was, is], site, channel)}: ${listed(after)} (was ${listed(before)})`
    const [told, tells] = [
      toldApart(before, is.channels.traits(channel)),
      toldApart(after, is.channels.traits(channel)),
    ]
    const [joins, splits] = [!told.every((fact) => tells.includes(fact)), !tells.every((fact) => told.includes(fact))]
    return [...(joins || (splits && mixed) ? [{ by: 1, line }] : []), ...(splits ? [{ by: -1, line }] : [])]
  })
}

/** Returns the dimensions of the rule at a site, as `dispatch-rules.ts` reads them; undefined: none, or none known. */
function ownDimensions({ rules }: Routes, site: Site): readonly Dimension[] | undefined {
  const names = ruleAt(rules, site)?.dimensions
  const known = names && knownDimensions(names)
  return known?.length === 0 && names?.length !== 0 ? undefined : known
}

function dimensionsAt(routes: Routes, site: Site, channel: ChannelId): readonly Dimension[] {
  const { dimensions, channelDimensions } = routes.policy
  return ownDimensions(routes, site) ?? knownDimensions(channelDimensions[channel] ?? dimensions)
}

/** Returns the facts a list tells sessions apart by: where topics are rooms the chat stands for its topic as well. */
function toldApart(dimensions: readonly Dimension[], { topics }: ChannelTraits): readonly Dimension[] {
  return topics === 'rooms' && dimensions.includes('chat') ? [...dimensions, 'topic'] : dimensions
}

function listed(dimensions: readonly Dimension[]): string {
  return dimensions.length === 0 ? 'nothing, all chats of an account are one session' : dimensions.join(', ')
}

/** The setting that decides, or decided. */
function pathOf(both: readonly Routes[], site: Site, channel: ChannelId): string {
  if (both.some((routes) => ownDimensions(routes, site) !== undefined))
    return `routing.dispatch: ${describeSite(site, 'any other place')}: sessions by`
  const own = both.some(({ policy }) => policy.channelDimensions[channel] !== undefined)
  return own ? `channels.${channel}.dimensions` : 'session.dimensions'
}

/** How far direct chats are joined; with one session for all of them the setting says nothing. */
function compareDirect(before: RoutingPolicy, after: RoutingPolicy): Change[] {
  if (before.scope === 'global' && after.scope === 'global') return []
  const values = ['chat', 'person', 'main'] as const
  const changes = compareRanked('session.direct', values, { before: before.direct, after: after.direct })
  // Owners are apart from each other again, members find their chats joined; and the other way round.
  const swapped = before.direct !== 'chat' && after.direct !== 'chat'
  return bothWays(changes, swapped || joinsChats(after))
}

/** Whether a direct chat that has no session by `scope` or `direct` shares one with other chats somewhere. */
export function joinsChats({ dimensions, channelDimensions, dispatch }: RoutingPolicy): boolean {
  const own = dispatch.map((rule) => rule.dimensions ?? ['chat'])
  return [dimensions, ...Object.values(channelDimensions), ...own].some((list) => !list.includes('chat'))
}
