import type { TraceStep } from '../core/dispatch.ts'
import { type AgentId, toAgentId, toPersonId } from '../core/ids.ts'
import type { DispatchRule } from '../core/policy.ts'
import { type DimensionList, knownDimensions } from './dimensions.ts'
import { type ConfiguredPeople, idKeys, type Link, matchesLink, parseLink } from './identity-links.ts'
import { type MatchFacts, normalised } from './match-facts.ts'
import { compilePlace, matchesPlace, matchesValue, type PlaceConstraint, placeKeys, trimmed } from './place-match.ts'
import { createRuleIndex, firstMatch, type IndexKey, type Ranked, type RuleIndex } from './rule-index.ts'
import { pass } from './trace.ts'

export interface DispatchRuleEntry extends Ranked {
  readonly place: PlaceConstraint
  readonly sender: SenderConstraint | undefined
  readonly mentioned: boolean | undefined
  /** The default agent where the rule names none or one that does not exist (K21). */
  readonly agent: AgentId
  /** Replace the channel's own list for this message (K20). */
  readonly dimensions: DimensionList | undefined
  /** `dispatch.rule` or `dispatch.rule:<name>` (K22). */
  readonly matchedBy: string
  /** The trace step for a dispatch that the rule matched. */
  readonly step: TraceStep
}

/** A person's canonical name, or an id. The name of a configured person is never read as somebody's id. */
interface SenderConstraint {
  readonly person: string
  readonly link: Link | undefined
}

export type DispatchRules = RuleIndex<DispatchRuleEntry>

export interface Known {
  /** The first is the default. */
  readonly agents: readonly AgentId[]
  readonly people: ConfiguredPeople
}

/** Rules without a constraint are left out, for they never match (K19). */
export function compileDispatchRules(
  rules: readonly DispatchRule[],
  known: Known,
): { dispatch: DispatchRules; warnings: string[] } {
  const warnings: string[] = []
  const entries = rules.map((rule, rank) => compileRule(rule, rank, known))
  for (const [rank, rule] of rules.entries()) warnings.push(...warningsOf(rule, `routing.dispatch[${rank}]`, known))
  const constrained = entries.filter((entry) => isConstrained(entry))
  return { dispatch: createRuleIndex(constrained, ruleKeys), warnings }
}

/** The first rule that matches (K17). It never sees the forum suffix of a session key. */
export function findDispatchRule(rules: DispatchRules, facts: MatchFacts): DispatchRuleEntry | undefined {
  return firstMatch(
    rules,
    facts,
    ({ place, sender, mentioned }) =>
      matchesPlace(place, facts) && matchesSender(sender, facts) && matchesValue(mentioned, facts.mentioned),
  )
}

function compileRule(rule: DispatchRule, rank: number, { agents, people }: Known): DispatchRuleEntry {
  const path = `routing.dispatch[${rank}]`
  const name = normalised(rule.name) && rule.name?.trim()
  const wanted = rule.agent === undefined ? undefined : toAgentId(rule.agent)
  const agent = agents.find((id) => id === wanted) ?? defaultAgent(agents)
  const matchedBy = name === undefined ? 'dispatch.rule' : `dispatch.rule:${name}`
  return {
    rank,
    place: compilePlace(rule.match, `${path}.match`, people.channels),
    sender: compileSender(trimmed(rule.match.sender, `${path}.match.sender`), people),
    mentioned: rule.match.mentioned,
    agent,
    dimensions: compileDimensionList(rule.dimensions, path),
    matchedBy,
    step: pass('dispatch', `${matchedBy}: agent ${agent}`, path),
  }
}

/** The first listed agent; without any, `main`. */
export function defaultAgent(agents: readonly AgentId[]): AgentId {
  return agents[0] ?? toAgentId('main')
}

function compileSender(text: string | undefined, people: ConfiguredPeople): SenderConstraint | undefined {
  if (text === undefined) return undefined
  const person = toPersonId(text)
  return { person, link: people.roles.has(person) ? undefined : parseLink(people.channels, text) }
}

/** A list in which nothing is known changes nothing: joining all chats must be said with an empty list. */
function compileDimensionList(names: readonly string[] | undefined, path: string): DimensionList | undefined {
  if (names === undefined) return undefined
  const dimensions = knownDimensions(names)
  return names.length > 0 && dimensions.length === 0 ? undefined : { dimensions, path: `${path}.dimensions` }
}

function matchesSender(wanted: SenderConstraint | undefined, facts: MatchFacts): boolean {
  if (wanted === undefined || wanted.person === facts.person) return true
  return wanted.link !== undefined && matchesLink(wanted.link, facts)
}

function isConstrained({ place, sender, mentioned }: DispatchRuleEntry): boolean {
  return sender !== undefined || mentioned !== undefined || Object.values(place).some((value) => value !== undefined)
}

function ruleKeys({ place, sender }: DispatchRuleEntry): readonly IndexKey[] {
  if (place.chat !== undefined || sender === undefined) return placeKeys(place)
  const byPerson: IndexKey = { field: 'person', value: sender.person }
  return sender.link === undefined
    ? [byPerson]
    : [byPerson, ...idKeys(sender.link).map((value): IndexKey => ({ field: 'senderId', value }))]
}

function warningsOf(rule: DispatchRule, path: string, { agents }: Known): string[] {
  const warnings: string[] = []
  if (rule.agent !== undefined && !agents.includes(toAgentId(rule.agent))) {
    warnings.push(`${path}.agent: there is no agent "${rule.agent}"; the default agent answers`)
  }
  const unknown = (rule.dimensions ?? []).filter((name) => knownDimensions([name]).length === 0)
  for (const name of unknown) warnings.push(`${path}.dimensions: "${name}" is none of space, chat, topic, sender`)
  return warnings
}
