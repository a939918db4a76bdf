import type { Channels } from '../core/channel-traits.ts'
import {
  type Audience,
  type BotPolicy,
  botsUnless,
  type GroupRule,
  type PersonPolicy,
  type RoutingPolicy,
  type SendPolicy,
} from '../core/policy.ts'
import type { Role } from '../core/session.ts'
import {
  bothWays,
  compareRanked,
  createRuleList,
  describeSite,
  type KnownSenders,
  knownSenders,
  type PolicyChange,
  type RuleList,
  regionsOf,
  type Site,
  sitesOfGroup,
} from './compare-rules.ts'
import { compareSessions, joinsChats, UNTOLD } from './compare-sessions.ts'
import { idKeys, type Link, mayNameOne, parseLink, writtenLink } from './identity-links.ts'
import { normalised } from './match-facts.ts'
import { push } from './rule-index.ts'

/**
 * The effect of a changed policy, a sentence a line. Every change that lets more people in, answers more, joins more or
 * sends more is in `wider` (F-H14).
 */
export interface AccessChanges {
  readonly wider: readonly string[]
  readonly narrower: readonly string[]
  /** Changed, and neither of the two. */
  readonly other: readonly string[]
}

export function compareAccess(
  before: RoutingPolicy,
  after: RoutingPolicy,
  known: Known = NOTHING_KNOWN,
): AccessChanges {
  const senders = knownSenders(before, after)
  const { channels } = senders
  const settings = [
    [...comparePeople(before, after, channels), ...compareClaim(before, after, known)],
    compareAudience('routing.access.direct', before.access.direct, after.access.direct),
    compareGroups(before, after, senders),
    compareCommon('routing.', [before, after], asksForMention({ before, after })),
    compareBudget(before.botBudget, after.botBudget),
    compareSessions(before, after, senders),
    compareSending(before.sendPolicy, after.sendPolicy),
  ]
  return {
    wider: settings.flatMap((changes) => linesOf(changes.filter(({ by }) => by > 0))),
    narrower: settings.flatMap((changes) => linesOf(changes.filter(({ by }) => by < 0))),
    other: otherChanges(before, after, settings.flat()),
  }
}

/** The part of the store that the comparison reads beside the policy. */
interface Known {
  /** Somebody is the owner by a claim, so there is no claim link, whoever the policy names. */
  readonly claimed: boolean
}

const NOTHING_KNOWN: Known = { claimed: false }

/** Limits the lines about one setting, for the reader and for the log. */
const LINES = 100

function linesOf(changes: readonly PolicyChange[]): string[] {
  const lines = [...new Set(changes.map(({ line }) => line))]
  const more = lines.length - LINES
  const [first = ''] = lines
  return more > 0 ? [...lines.slice(0, LINES), `${first.slice(0, first.indexOf(':'))}: ${more} more changes`] : lines
}

const ROLES: readonly Role[] = ['guest', 'member', 'owner']

/** By person, because linked ids have the role of theirs, and by id. An id of another person reads as they. */
function comparePeople(before: RoutingPolicy, after: RoutingPolicy, channels: Channels): PolicyChange[] {
  const [was, is] = [holdersOf(before, channels), holdersOf(after, channels)]
  const names = [...new Set([...was.keys(), ...is.keys()])].filter((name) => {
    const [from, to] = [was.get(name), is.get(name)]
    return from?.id !== to?.id || from?.role !== to?.role
  })
  const isNamed = readNames(after, channels)
  const joining = joinsChats(after)
  return names.flatMap((name) => {
    const [from, to] = [was.get(name), is.get(name)]
    const roles = { before: from?.role ?? 'guest', after: to?.role ?? 'guest' }
    const lines = [
      ...(joining ? [`people: ${name}: speaks in a session that joins chats`] : []),
      ...(from && to && from.id !== to.id ? [`people: ${name}: ${to.id} (was ${from.id})`] : []),
      ...(from && from.id !== to?.id && isNamed(from) ? [`people: ${name}: free of the rules for ${from.id}`] : []),
      ...(from?.role === 'member' && !to && name.startsWith('id ') && before.access.direct === 'owner'
        ? [`people: ${name}: open to whom /admit lets in (was a member, whom routing.access.direct leaves out)`]
        : []),
    ]
    return [...compareRanked(`people: ${name}`, ROLES, roles), ...lines.map((line) => ({ by: 1, line }))]
  })
}

function compareClaim(before: RoutingPolicy, after: RoutingPolicy, { claimed }: Known): PolicyChange[] {
  const unowned = { before: isUnowned(before.people), after: isUnowned(after.people) }
  return claimed ? [] : compareRanked('people: open to whoever has the claim link', [false, true], unowned)
}

/** Tells whether a rule restricts or sends elsewhere what a person says, by name or by one of their ids. */
function readNames({ dispatch, sendPolicy }: RoutingPolicy, channels: Channels): (person: PersonPolicy) => boolean {
  const names = [...dispatch.map(({ match }) => match.sender), ...sendPolicy.rules.map(({ match }) => match.person)]
  const known = new Set(names.map(normalised))
  const links = new Map<string, Link[]>()
  for (const name of names) {
    const link = parseLink(channels, name ?? '')
    for (const key of idKeys(link)) push(links, key, link)
  }
  const isKnown = (one: Link): boolean =>
    idKeys(one).some((key) => links.get(key)?.some((link) => mayNameOne(one, link)))
  return ({ id, ids }) => known.has(id) || ids.some((one) => isKnown(parseLink(channels, one)))
}

function isUnowned(people: readonly PersonPolicy[]): boolean {
  return people.every(({ role }) => role !== 'owner')
}

function holdersOf({ people }: RoutingPolicy, channels: Channels): ReadonlyMap<string, PersonPolicy> {
  return new Map(
    people.flatMap((person) => [
      [`${person.id}`, person] as const,
      ...person.ids.map((one) => [`id ${writtenLink(channels, one)}`, person] as const),
    ]),
  )
}

const AUDIENCES: readonly Audience[] = ['owner', 'allowlist', 'public']

function compareAudience(where: string, before: Audience, after: Audience): PolicyChange[] {
  return compareRanked(where, AUDIENCES, { before, after })
}

function compareGroups(before: RoutingPolicy, after: RoutingPolicy, senders: KnownSenders): PolicyChange[] {
  const { channels } = senders
  const regions = regionsOf({ before: groupsOf(before, channels), after: groupsOf(after, channels) }, senders)
  if (regions === undefined) return [{ by: 1, line: `routing.access.groups: ${UNTOLD}` }]
  return regions.flatMap(({ site, was, is }) =>
    compareGroup(site, { channels, before, after, was: was.rule, is: is.rule }),
  )
}

function groupsOf({ access: { groups } }: RoutingPolicy, channels: Channels): RuleList<GroupRule | undefined> {
  const sited = groups.flatMap((rule) => sitesOfGroup(rule, channels).map((site) => ({ rule, site })))
  return createRuleList<GroupRule | undefined>(sited, undefined)
}

/** The policies with the rule that decides at a site in each; without one, people ask to be let in. */
interface Rules {
  readonly channels: Channels
  readonly before: RoutingPolicy
  readonly after: RoutingPolicy
  readonly was: GroupRule | undefined
  readonly is: GroupRule | undefined
}

function compareGroup(site: Site, rules: Rules): PolicyChange[] {
  const { was, is } = rules
  const where = `routing.access.groups: ${describeSite(site, 'any other group')}`
  const trigger = { before: was?.trigger ?? 'mention', after: is?.trigger ?? 'mention' }
  const follows = { before: was?.followThreads ?? false, after: is?.followThreads ?? false }
  return [
    ...compareAudience(where, was?.who ?? 'owner', is?.who ?? 'owner'),
    ...compareAsking(where, was?.who, is?.who),
    ...compareRanked(`${where}: trigger`, ['never', 'mention', 'always'], trigger),
    ...bothWays(compareRanked(`${where}: followThreads`, [false, true], follows), asksForMention(rules)),
    ...compareBots(where, rules),
    ...compareCommon(`${where}: `, commonOf(rules), asksForMention(rules)),
  ]
}

/** `/admit` lets a group in only where no rule names it; a rule with `owner` or a list prevents that. */
function compareAsking(where: string, before: Audience | undefined, after: Audience | undefined): PolicyChange[] {
  if (before !== undefined && after !== undefined) return []
  const asks = (who: Audience | undefined): boolean => who === undefined || who === 'public'
  return compareRanked(`${where}: open to whom /admit lets in`, [false, true], {
    before: asks(before),
    after: asks(after),
  })
}

/**
 * The words of a bot that is not listed are known wherever those of bots are not ignored. Where no rule mentions bots,
 * that follows from whose words are known there, which has a line of its own.
 */
function compareBots(where: string, { channels, was: before, is: after }: Rules): PolicyChange[] {
  const [was, is] = [botsOf(channels, before), botsOf(channels, after)]
  const listed = [...new Set([...was.listed, ...is.listed])]
  const unlisted = before?.bots !== undefined || after?.bots !== undefined ? [undefined] : []
  return [...unlisted, ...listed].flatMap((id) => {
    const bot = id === undefined ? 'bots that are not listed' : `bot ${id}`
    return compareRanked(`${where}: ${bot}`, ['ignore', 'context', 'mentioned', 'allow'], {
      before: policyFor(was, id),
      after: policyFor(is, id),
    })
  })
}

interface Bots {
  readonly policy: BotPolicy
  readonly listed: ReadonlySet<string>
}

function botsOf(channels: Channels, { who, bots, botIds = [] }: Partial<GroupRule> = {}): Bots {
  return {
    policy: bots ?? botsUnless(who),
    listed: new Set(botIds.map((id) => writtenLink(channels, id))),
  }
}

function policyFor({ policy, listed }: Bots, id: string | undefined): BotPolicy {
  return policy === 'ignore' || (id !== undefined && listed.has(id)) ? policy : 'context'
}

type Common = Pick<RoutingPolicy, 'ownerAlwaysTriggers' | 'wakeWords' | 'edits' | 'deletions'>
const COMMON = ['ownerAlwaysTriggers', 'wakeWords', 'edits', 'deletions'] as const

/**
 * Returns true if a dispatch rule asks for a mention: then a change of what counts as one also changes the session and
 * the agent.
 */
function asksForMention({ before, after }: Pick<Rules, 'before' | 'after'>): boolean {
  return [...before.dispatch, ...after.dispatch].some(({ match }) => match.mentioned !== undefined)
}

function compareCommon(path: string, [before, after]: readonly [Common, Common], reroutes: boolean): PolicyChange[] {
  const pair = <Key extends keyof Common>(key: Key) => ({ before: before[key], after: after[key] })
  return [
    ...compareRanked(`${path}ownerAlwaysTriggers`, [false, true], pair('ownerAlwaysTriggers')),
    ...bothWays(compareWords(`${path}wakeWords`, pair('wakeWords')), reroutes),
    ...compareRanked(`${path}edits`, ['ignore', 'update', 'rerun'], pair('edits')),
    ...compareRanked(`${path}deletions`, ['redact', 'ignore'], pair('deletions')),
  ]
}

/** The settings in force under the rules of a site; what both inherit is compared once, for everywhere. */
function commonOf({ before, after, was, is }: Rules): readonly [Common, Common] {
  const inherited = COMMON.filter((key) => was?.[key] === undefined && is?.[key] === undefined)
  const shared = Object.fromEntries(inherited.map((key) => [key, before[key]]))
  return [
    { ...before, ...ownOf(was), ...shared },
    { ...after, ...ownOf(is), ...shared },
  ]
}

function ownOf(rule: GroupRule | undefined): Partial<Common> {
  const own = COMMON.flatMap((key) => (rule?.[key] === undefined ? [] : [[key, rule[key]] as const]))
  return Object.fromEntries(own)
}

function compareWords(path: string, { before, after }: Record<'before' | 'after', readonly string[]>): PolicyChange[] {
  const folded = (words: readonly string[]): string[] => words.map((word) => word.trim().toLowerCase())
  const [was, is] = [folded(before), folded(after)]
  const line = (word: string, what: string): string => `${path}: "${word}": ${what}`
  return [
    ...was.flatMap((word) => (is.includes(word) ? [] : [{ by: -1, line: line(word, 'taken out') }])),
    ...is.flatMap((word) => (was.includes(word) ? [] : [{ by: 1, line: line(word, 'added') }])),
  ]
}

function compareBudget(before: RoutingPolicy['botBudget'], after: RoutingPolicy['botBudget']): PolicyChange[] {
  return (['turns', 'tokens', 'quietMinutes'] as const).flatMap((key) => {
    const more = after[key] - before[key]
    const line = `routing.botBudget.${key}: ${after[key]} (was ${before[key]})`
    // A budget is renewed after so many minutes: the fewer, the more often.
    return more === 0 ? [] : [{ by: key === 'quietMinutes' ? -more : more, line }]
  })
}

/** Fewer denials or more permissions let more be sent. */
function compareSending(before: SendPolicy, after: SendPolicy): PolicyChange[] {
  const [was, is] = [sendRules(before), sendRules(after)]
  const gone = was
    .filter((rule) => !is.includes(rule))
    .map((rule) => ({ by: weight(rule) * -1, line: `${rule}: taken out` }))
  const added = is.filter((rule) => !was.includes(rule)).map((rule) => ({ by: weight(rule), line: `${rule}: added` }))
  return [...gone, ...added]
}

function sendRules({ rules, default: byDefault }: SendPolicy): readonly string[] {
  const listed = rules.map(({ match, action }) => `session.sendPolicy: ${action ?? 'allow'} ${JSON.stringify(match)}`)
  return [...listed, `session.sendPolicy: ${byDefault} by default`]
}

function weight(rule: string): number {
  return rule.startsWith('session.sendPolicy: allow') ? 1 : -1
}

/** The path of each setting of the policy. A new one has to be compared above, or it shows as other. */
const PATHS: Readonly<Record<keyof RoutingPolicy, string>> = {
  people: 'people',
  agents: 'agents',
  access: 'routing.access',
  ownerAlwaysTriggers: 'routing.ownerAlwaysTriggers',
  wakeWords: 'routing.wakeWords',
  edits: 'routing.edits',
  deletions: 'routing.deletions',
  botBudget: 'routing.botBudget',
  dispatch: 'routing.dispatch',
  sendPolicy: 'session.sendPolicy',
  scope: 'session.scope',
  dimensions: 'session.dimensions',
  channelDimensions: 'channels.',
  direct: 'session.direct',
  traits: 'channels.',
}

function otherChanges(before: RoutingPolicy, after: RoutingPolicy, changes: readonly PolicyChange[]): string[] {
  return (Object.keys(PATHS) as (keyof RoutingPolicy)[])
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .filter((key) => !changes.some(({ line }) => line.startsWith(PATHS[key])))
    .map((key) => `${PATHS[key].replace(/\.$/, '')}: changed`)
}
