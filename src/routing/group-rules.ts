import type { Address } from '../core/address.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { ContextReason, Identity, Origin, RunReason, TraceStep } from '../core/dispatch.ts'
import type { InboundText } from '../core/message.ts'
import type { Audience, GroupRule } from '../core/policy.ts'
import type { Precheck } from '../core/precheck.ts'
import type { Addressing } from './addressing.ts'
import { type BotRule, compileBots } from './bots.ts'
import { type ChatSettings, ruleSettings } from './chat-settings.ts'
import { matchFacts, type PlaceFacts } from './match-facts.ts'
import { compilePlace, matchesPlace, type PlaceConstraint, placeKeys } from './place-match.ts'
import { createRuleIndex, firstMatch, type Ranked, type RuleIndex } from './rule-index.ts'
import { pass, stop } from './trace.ts'

export interface GroupRuleEntry extends Ranked {
  readonly place: PlaceConstraint
  readonly who: Audience
  readonly trigger: GroupRule['trigger']
  readonly precheck: Precheck | undefined
  /** The trace step for a sender that the rule admits. */
  readonly admitted: TraceStep
  readonly settings: ChatSettings
  readonly bots: BotRule
  /** The path of the rule in the configuration. */
  readonly path: string
}

export type GroupRules = RuleIndex<GroupRuleEntry>

export function compileGroupRules(rules: readonly GroupRule[], common: ChatSettings, channels: Channels): GroupRules {
  const entries = rules.map((rule, rank): GroupRuleEntry => {
    const { match, who, trigger, precheck } = rule
    const path = `routing.access.groups[${rank}]`
    return {
      rank,
      place: compilePlace(match, `${path}.match`, channels),
      who,
      trigger,
      precheck,
      admitted: pass('access', `who: ${who}`, `${path}.who`),
      settings: ruleSettings(rule, path, common),
      bots: compileBots(rule, path, channels),
      path,
    }
  })
  return createRuleIndex(entries, ({ place }) => placeKeys(place))
}

/** The first rule for this place. */
export function findGroupRule(rules: GroupRules, place: PlaceFacts): GroupRuleEntry | undefined {
  return firstMatch(rules, place, (rule) => matchesPlace(rule.place, place))
}

/** Returns the path of the rule that decides about a whole chat, whatever was admitted; undefined where none does. */
export function ruleOfChat(rules: GroupRules, address: Address, channels: Channels): string | undefined {
  const traits = channels.traits(address.channel)
  const known = { person: undefined, mentioned: false }
  const facts = matchFacts({ address, traits }, { senderId: undefined, senderTeam: undefined }, known)
  return findGroupRule(rules, facts)?.path
}

export type TriggerVerdict =
  | {
      readonly kind: 'run'
      readonly reason: RunReason
      readonly step: TraceStep
      readonly precheck?: Precheck | undefined
    }
  | { readonly kind: 'context'; readonly reason: ContextReason; readonly step: TraceStep }

export interface Utterance {
  readonly origin: Origin
  readonly event: InboundText
  readonly identity: Identity
  readonly direct: boolean
  readonly addressing: Addressing
}

const DIRECT: TriggerVerdict = { kind: 'run', reason: 'direct', step: pass('group-rule', 'a direct chat') }
const CALLED: TriggerVerdict = { kind: 'run', reason: 'mentioned', step: pass('group-rule', 'asked for by its caller') }
const ADDRESSED: TriggerVerdict = {
  kind: 'run',
  reason: 'mentioned',
  step: pass('group-rule', 'the bot was addressed'),
}
const OTHERS: TriggerVerdict = {
  kind: 'context',
  reason: 'others_mentioned',
  step: stop('group-rule', 'others were mentioned and not the bot'),
}

/** Decides whether an admitted text owes a turn (S24, S25). `trigger: never` silences owners too. */
export function decideTrigger(
  utterance: Utterance,
  rule: GroupRuleEntry | undefined,
  { ownerTriggers }: ChatSettings,
): TriggerVerdict {
  const { event, identity, addressing } = utterance
  if (utterance.direct) return DIRECT
  if (utterance.origin !== 'platform') return CALLED
  if (rule?.trigger === 'never') {
    return { kind: 'context', reason: 'trigger_never', step: stop('group-rule', 'trigger: never', triggerPath(rule)) }
  }
  if (addressing.kind === 'named') return ADDRESSED
  if (addressing.kind !== 'none') return { kind: 'run', reason: addressing.kind, step: addressing.step }
  const owner = identity.role === 'owner'
  if (owner && ownerTriggers.on) return { kind: 'run', reason: 'owner', step: ownerTriggers.step }
  if (event.mentionsOthers && !owner) return OTHERS
  if (rule?.trigger === 'always') {
    const step = pass('group-rule', 'trigger: always', triggerPath(rule))
    return { kind: 'run', reason: 'trigger_always', step, precheck: rule.precheck }
  }
  const config = owner ? ownerTriggers.path : rule ? triggerPath(rule) : 'routing.access.groups'
  return { kind: 'context', reason: 'not_addressed', step: stop('group-rule', 'the bot was not addressed', config) }
}

function triggerPath(rule: GroupRuleEntry): string {
  return `${rule.path}.trigger`
}
