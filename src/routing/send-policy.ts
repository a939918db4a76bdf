import type { Address, ChatType } from '../core/address.ts'
import type { Channels } from '../core/channel-traits.ts'
import { type PersonId, type ScopeKey, toPersonId } from '../core/ids.ts'
import type { SendPolicy, SendRule } from '../core/policy.ts'
import { type ConfiguredPeople, idKeys, type Link, matchesLink, overlaps, parseLink } from './identity-links.ts'
import { type MatchFacts, matchFacts, NO_SENDER } from './match-facts.ts'
import {
  compilePlace,
  constraint,
  matchesPlace,
  matchesValue,
  type PlaceConstraint,
  placeKeys,
  trimmed,
} from './place-match.ts'
import type { RouteFacts } from './route-facts.ts'
import { createRuleIndex, firstMatch, type IndexKey, type Ranked, type RuleIndex } from './rule-index.ts'

interface SendRuleEntry extends Ranked {
  readonly place: PlaceConstraint
  readonly chatType: ChatType | undefined
  readonly person: PersonConstraint | undefined
  readonly keyPrefix: string | undefined
  /** The prefix in its own case, for channels whose keys have one. */
  readonly writtenPrefix: string | undefined
}

/** A person's canonical name, or one of their ids. The name of a configured person is never read as somebody's id. */
interface PersonConstraint {
  /** The canonical name; of an id, whoever the configuration gives it to. */
  readonly names: readonly string[]
  readonly link: Link | undefined
}

export interface SendRules {
  readonly denies: RuleIndex<SendRuleEntry>
  readonly allows: RuleIndex<SendRuleEntry>
  readonly byDefault: SendVerdict
}

/** The session a send would go to. */
export interface SendTarget {
  readonly scopeKey: ScopeKey
  readonly displayKey: string
}

export interface SendVerdict {
  readonly allowed: boolean
  /** The deciding value. */
  readonly because: string
  /** The path of the setting that decided; absent for an override set by `/send`. */
  readonly config?: string
}

export function compileSendPolicy(policy: SendPolicy, people: ConfiguredPeople): SendRules {
  const entries = policy.rules.map((rule, rank) => compileRule(rule, rank, people))
  const of = (action: SendRule['action']): RuleIndex<SendRuleEntry> =>
    createRuleIndex(
      entries.filter(({ rank }) => (policy.rules[rank]?.action ?? 'allow') === action),
      ruleKeys,
    )
  const byDefault: SendVerdict = {
    allowed: policy.default !== 'deny',
    because: `default: ${policy.default}`,
    config: 'session.sendPolicy.default',
  }
  return { denies: of('deny'), allows: of('allow'), byDefault }
}

/**
 * Decides whether a session may be run and sent to: at the entrance, and again at the one exit. The session's override
 * decides, else any matching deny, else any matching allow, else the default (T24-T26). Answers to control commands are
 * not checked.
 */
export function sendAllowed(
  routing: { readonly sendPolicy: SendRules; readonly channels: Channels },
  facts: Pick<RouteFacts, 'sendOverride' | 'formerChat' | 'personOf'>,
  target: SendTarget & { readonly address: Address; readonly person?: PersonId | undefined },
): SendVerdict {
  const { address, person } = target
  const formerChat = facts.formerChat(address.channel, address.chat)
  const place = matchFacts({ address, traits: routing.channels.traits(address.channel) }, NO_SENDER, {
    person,
    mentioned: false,
    formerChat,
  })
  return decideSend(routing.sendPolicy, facts, { scopeKey: target.scopeKey, displayKey: target.displayKey, place })
}

/** Decides like `sendAllowed`, for a place that is already computed. */
export function decideSend(
  rules: SendRules,
  facts: Pick<RouteFacts, 'sendOverride' | 'personOf'>,
  target: SendTarget & { readonly place: MatchFacts },
): SendVerdict {
  const override = facts.sendOverride(target.scopeKey)
  if (override) return { allowed: override === 'allow', because: `the session's override: ${override}` }
  const denied = findRule(rules.denies, target, facts)
  if (denied) return byRule(denied, 'denies')
  const allowed = findRule(rules.allows, target, facts)
  if (allowed) return byRule(allowed, 'allows')
  return rules.byDefault
}

function compileRule({ match }: SendRule, rank: number, people: ConfiguredPeople): SendRuleEntry {
  const path = `session.sendPolicy.rules[${rank}].match`
  return {
    rank,
    place: compilePlace(match, path, people.channels),
    chatType: constraint(match.chatType, `${path}.chatType`) as ChatType | undefined,
    person: compilePerson(trimmed(match.person, `${path}.person`), people),
    keyPrefix: constraint(match.keyPrefix, `${path}.keyPrefix`),
    writtenPrefix: match.keyPrefix?.trim(),
  }
}

function compilePerson(text: string | undefined, people: ConfiguredPeople): PersonConstraint | undefined {
  if (text === undefined) return undefined
  const name = toPersonId(text)
  if (people.roles.has(name)) return { names: [name], link: undefined }
  const link = parseLink(people.channels, text)
  const holders = idKeys(link)
    .flatMap((id) => people.links.get(id) ?? [])
    .filter((other) => overlaps(link, other))
  return { names: [name, ...holders.flatMap(({ identity }) => identity.person ?? [])], link }
}

/** The store's links are not known here, so a rule for an id that is in no configured person is always checked. */
function ruleKeys({ place, person }: SendRuleEntry): readonly IndexKey[] {
  if (person === undefined || place.chat !== undefined) return placeKeys(place)
  if (person.link && person.names.length === 1) return []
  const byName = person.names.map((value): IndexKey => ({ field: 'person', value }))
  return person.link
    ? [...byName, ...idKeys(person.link).map((value): IndexKey => ({ field: 'senderId', value }))]
    : byName
}

function findRule(
  index: RuleIndex<SendRuleEntry>,
  { place, displayKey }: SendTarget & { readonly place: MatchFacts },
  facts: Pick<RouteFacts, 'personOf'>,
): SendRuleEntry | undefined {
  return firstMatch(
    index,
    place,
    (rule) =>
      matchesPlace(rule.place, place) &&
      matchesValue(rule.chatType, place.chatType) &&
      matchesPerson(rule.person, place, facts) &&
      hasKeyPrefix(rule, displayKey, place),
  )
}

/** The person of a session is known by name when something is sent there, and by id as well when somebody speaks. */
function matchesPerson(
  wanted: PersonConstraint | undefined,
  place: MatchFacts,
  { personOf }: Pick<RouteFacts, 'personOf'>,
): boolean {
  if (wanted === undefined) return true
  const { names, link } = wanted
  if (place.person !== undefined && names.includes(place.person)) return true
  if (link === undefined) return false
  if (matchesLink(link, place)) return true
  if (link.channel === undefined || place.person === undefined) return false
  return personOf(link.channel, link.id, link.team)?.person === place.person
}

function hasKeyPrefix({ keyPrefix, writtenPrefix }: SendRuleEntry, key: string, place: MatchFacts): boolean {
  return place.traits.ids.caseSensitive
    ? hasPrefix(writtenPrefix, key, place)
    : hasPrefix(keyPrefix, key.toLowerCase(), place)
}

/** A prefix that names the id a chat had before means the chat too. */
function hasPrefix(prefix: string | undefined, key: string, { chat, formerChat }: MatchFacts): boolean {
  if (prefix === undefined || key.startsWith(prefix)) return true
  return chat !== undefined && formerChat !== undefined && key.replace(chat, formerChat).startsWith(prefix)
}

function byRule({ rank }: SendRuleEntry, verb: 'denies' | 'allows'): SendVerdict {
  const config = `session.sendPolicy.rules[${rank}]`
  return { allowed: verb === 'allows', because: `rule ${rank + 1} ${verb}`, config }
}
