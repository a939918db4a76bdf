import type { Address, ChatType } from '../core/address.ts'
import type { PersonId, ScopeKey } from '../core/ids.ts'
import type { SendPolicy, SendRule } from '../core/policy.ts'
import { type MatchFacts, matchFacts, NO_SENDER } from './match-facts.ts'
import { allows, compilePlace, constraint, matchesPlace, type PlaceConstraint, placeKeys } from './place-match.ts'
import type { RouteFacts } from './route-facts.ts'
import { createRuleIndex, firstMatch, type IndexKey, type Ranked, type RuleIndex } from './rule-index.ts'

interface SendRuleEntry extends Ranked {
  readonly place: PlaceConstraint
  readonly chatType: ChatType | undefined
  readonly person: string | undefined
  readonly keyPrefix: string | undefined
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

export function compileSendPolicy(policy: SendPolicy): SendRules {
  const entries = policy.rules.map(compileRule)
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
 * Whether a session may be run and sent to: at the entrance, and again at the one exit. The session's override decides,
 * else any matching deny, else any matching allow, else the default (T24-T26). Answers to control commands never ask.
 */
export function sendAllowed(
  routing: { readonly sendPolicy: SendRules },
  facts: Pick<RouteFacts, 'sendOverride' | 'formerChat'>,
  target: SendTarget & { readonly address: Address; readonly person?: PersonId | undefined },
): SendVerdict {
  const { address, person } = target
  const formerChat = facts.formerChat(address.channel, address.chat)
  const place = matchFacts(address, NO_SENDER, { person, mentioned: false, formerChat })
  return decideSend(routing.sendPolicy, facts, { scopeKey: target.scopeKey, displayKey: target.displayKey, place })
}

/** As `sendAllowed`, for a place that is worked out already. */
export function decideSend(
  rules: SendRules,
  facts: Pick<RouteFacts, 'sendOverride'>,
  target: SendTarget & { readonly place: MatchFacts },
): SendVerdict {
  const override = facts.sendOverride(target.scopeKey)
  if (override) return { allowed: override === 'allow', because: `the session's override: ${override}` }
  const denied = findRule(rules.denies, target)
  if (denied) return byRule(denied, 'denies')
  const allowed = findRule(rules.allows, target)
  if (allowed) return byRule(allowed, 'allows')
  return rules.byDefault
}

function compileRule({ match }: SendRule, rank: number): SendRuleEntry {
  const path = `session.sendPolicy.rules[${rank}].match`
  return {
    rank,
    place: compilePlace(match, path),
    chatType: constraint(match.chatType, `${path}.chatType`) as ChatType | undefined,
    person: constraint(match.person, `${path}.person`),
    keyPrefix: constraint(match.keyPrefix, `${path}.keyPrefix`),
  }
}

function ruleKeys({ place, person }: SendRuleEntry): readonly IndexKey[] {
  return person === undefined || place.chat !== undefined ? placeKeys(place) : [{ field: 'person', value: person }]
}

function findRule(
  index: RuleIndex<SendRuleEntry>,
  { place, displayKey }: SendTarget & { readonly place: MatchFacts },
): SendRuleEntry | undefined {
  return firstMatch(
    index,
    place,
    (rule) =>
      matchesPlace(rule.place, place) &&
      allows(rule.chatType, place.chatType) &&
      allows<string>(rule.person, place.person) &&
      hasPrefix(rule.keyPrefix, displayKey.toLowerCase(), place),
  )
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
