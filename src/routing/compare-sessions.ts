import type { ChannelTraits } from '../core/channel-traits.ts'
import { type AgentId, toAgentId } from '../core/ids.ts'
import type { DispatchRule, RoutingPolicy } from '../core/policy.ts'
import type { Dimension } from '../core/session.ts'
import { findJoins, type Keyed } from './compare-joins.ts'
import {
  bothWays,
  compareRanked,
  createRuleList,
  describeSite,
  isOn,
  type KnownSenders,
  type PolicyChange,
  type Region,
  type RuleList,
  type RuleLists,
  regionsOf,
  sitesOfDispatch,
  type TraitedChannel,
} from './compare-rules.ts'
import { compileDimensions, type DimensionLists, knownDimensions } from './dimensions.ts'
import { defaultAgent } from './dispatch-rules.ts'

/** The sentence for two lists whose rules meet in too many places. */
export const UNTOLD = 'too many rules have changed places to compare them; take it that they let more be seen or done'

/** A rule's answer for a message; without a list of its own the channel's applies. */
interface Answer {
  readonly agent: AgentId
  readonly own: readonly Dimension[] | undefined
}

/** Which agent answers where, and which chats share a session. People who begin to share one read each other. */
export function compareSessions(before: RoutingPolicy, after: RoutingPolicy, senders: KnownSenders): PolicyChange[] {
  return [
    ...compareRules(before, after, senders),
    ...bothWays(
      compareRanked('session.scope', ['routed', 'global'], { before: before.scope, after: after.scope }),
      joinsChats(after),
    ),
    ...compareDirect(before, after),
  ]
}

function compareRules(before: RoutingPolicy, after: RoutingPolicy, senders: KnownSenders): PolicyChange[] {
  const lists = { before: answersOf(before, senders), after: answersOf(after, senders) }
  const regions = regionsOf(lists, senders)
  if (regions === undefined) return [{ by: 1, line: `routing.dispatch: ${UNTOLD}` }]
  const usual = { before: compileDimensions(before), after: compileDimensions(after) }
  return [
    ...regions.flatMap(compareAgents),
    ...senders.channels.ids.flatMap((channel) =>
      compareDimensions({ lists, regions, usual }, { channel, traits: senders.channels.traits(channel) }),
    ),
  ]
}

/** A rule without a constraint never matches. */
function answersOf({ dispatch, agents }: RoutingPolicy, senders: KnownSenders): RuleList<Answer> {
  const constrained = dispatch.filter(({ match }) => Object.values(match).some((value) => value !== undefined))
  const byDefault = defaultAgent(agents)
  const sited = constrained.flatMap((rule) => {
    const agent = agents.find((id) => rule.agent !== undefined && id === toAgentId(rule.agent)) ?? byDefault
    const answer: Answer = { agent, own: ownDimensions(rule) }
    return sitesOfDispatch(rule, senders).map((site) => ({ site, rule: answer }))
  })
  return createRuleList<Answer>(sited, { agent: byDefault, own: undefined })
}

/** Returns the dimensions of a rule, as `dispatch-rules.ts` reads them; undefined: none, or none known. */
function ownDimensions({ dimensions: names }: DispatchRule): readonly Dimension[] | undefined {
  const known = names && knownDimensions(names)
  return known?.length === 0 && names?.length !== 0 ? undefined : known
}

/** Another agent has other tools and other sessions: whoever speaks there may do what they could not before. */
function compareAgents({ site, was, is }: Region<Answer>): PolicyChange[] {
  const [before, after] = [was.rule.agent, is.rule.agent]
  if (before === after) return []
  return [{ by: 1, line: `routing.dispatch: ${describeSite(site, 'any other place')}: agent ${after} (was ${before})` }]
}

/** The path of the list that every channel without one of its own has. */
const SHARED = 'session.dimensions'

interface Compared {
  readonly lists: RuleLists<Answer>
  readonly regions: readonly Region<Answer>[]
  readonly usual: { readonly before: DimensionLists; readonly after: DimensionLists }
}

function compareDimensions({ lists, regions, usual }: Compared, ground: TraitedChannel): PolicyChange[] {
  const { channel, traits } = ground
  const [common, commonAfter] = [usual.before.of(channel), usual.after.of(channel)]
  const there = regions.filter(({ site }) => isOn(site, ground))
  const keyed = there.map((region): Keyed<Answer> => {
    const [before, after] = [region.was.rule.own ?? common.dimensions, region.is.rule.own ?? commonAfter.dimensions]
    return { region, agent: region.is.rule.agent, before, after }
  })
  const usualPath = [common, commonAfter].map(({ path }) => path).find((path) => path !== SHARED) ?? SHARED
  const lineOf = ({ region: { site, was, is }, before, after }: Keyed<Answer>): string => {
    const own = was.rule.own ?? is.rule.own
    const path = own ? `routing.dispatch: ${describeSite(site, 'any other place')}: sessions by` : usualPath
    return `${path}: ${listed(after)} (was ${listed(before)})`
  }
  const joined = findJoins(lists, keyed, ground).map(({ one, other }) => {
    // A list that keeps as much apart as before joins only with sessions of the other list, so the line names those.
    const shared = gained({ before: one.after, after: one.before }, traits)
      ? ''
      : `, shared with ${describeSite(other.region.site, 'any other place')}`
    return { by: 1, line: `${lineOf(one)}${shared}` }
  })
  const split = keyed.filter((one) => gained(one, traits)).map((one) => ({ by: -1, line: lineOf(one) }))
  return [...joined, ...split]
}

/** Returns true if a list separates sessions by a dimension that the other list does not have. */
function gained({ before, after }: Pick<Keyed<unknown>, 'before' | 'after'>, traits: ChannelTraits): boolean {
  const separated = separatedBy(before, traits)
  return separatedBy(after, traits).some((dimension) => !separated.includes(dimension))
}

/**
 * Returns the facts by which a list separates sessions: where topics are rooms the chat stands for its topic as well.
 */
function separatedBy(dimensions: readonly Dimension[], { topics }: ChannelTraits): readonly Dimension[] {
  return topics === 'rooms' && dimensions.includes('chat') ? [...dimensions, 'topic'] : dimensions
}

function listed(dimensions: readonly Dimension[]): string {
  return dimensions.length === 0 ? 'nothing, all chats of an account are one session' : dimensions.join(', ')
}

/** Compares how far direct chats are joined; with one session for all of them the setting has no effect. */
function compareDirect(before: RoutingPolicy, after: RoutingPolicy): PolicyChange[] {
  if (before.scope === 'global' && after.scope === 'global') return []
  const values = ['chat', 'person', 'main'] as const
  const changes = compareRanked('session.direct', values, { before: before.direct, after: after.direct })
  // Owners are apart from each other again, members find their chats joined; and the other way round.
  const swapped = before.direct !== 'chat' && after.direct !== 'chat'
  return bothWays(changes, swapped || joinsChats(after))
}

/** Returns true if a direct chat without a session by `scope` or `direct` shares one with other chats somewhere. */
export function joinsChats({ dimensions, channelDimensions, dispatch }: RoutingPolicy): boolean {
  const own = dispatch.map((rule) => rule.dimensions ?? ['chat'])
  return [dimensions, ...Object.values(channelDimensions), ...own].some((list) => !list.includes('chat'))
}
