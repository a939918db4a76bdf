import type { ChatType } from '../core/address.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { Dispatch, Identity, Route, TraceStep } from '../core/dispatch.ts'
import { type AgentId, type ChannelId, type PersonId, type ScopeKey, toScopeKey } from '../core/ids.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import type { SessionKind, SessionScope } from '../core/session.ts'
import { agentOfKey, mainAlias, normalName } from '../core/session-alias.ts'
import { compileDimensions, type DimensionLists } from './dimensions.ts'
import { type DispatchRuleEntry, defaultAgent } from './dispatch-rules.ts'
import type { MatchFacts } from './match-facts.ts'
import {
  cronKey,
  displayKey,
  mainKey,
  personKey,
  type ScopeOwner,
  scheduleKey,
  scopeKey,
  scopeOf,
  sourceKind,
} from './session-key.ts'
import { pass } from './trace.ts'

export interface SessionRules {
  readonly defaultAgent: AgentId
  readonly scope: RoutingPolicy['scope']
  readonly direct: RoutingPolicy['direct']
  readonly dimensions: DimensionLists
  readonly channels: Channels
  /** Keys and aliases of the main sessions, which not everybody may name, with their agents. */
  readonly mainNames: ReadonlyMap<string, AgentId>
}

/** The sender of a message and its place. */
export interface SenderAtPlace {
  readonly dispatch: Dispatch
  readonly identity: Identity
  readonly facts: MatchFacts
}

export interface Routed {
  readonly route: Route
  readonly dispatchStep: TraceStep
  readonly sessionStep: TraceStep
}

interface ChosenSession {
  readonly agent: AgentId
  readonly scope: SessionScope
  readonly scopeKey: ScopeKey
  readonly displayKey: string
  readonly kind: SessionKind
  /** Its own where it exists and was named; else that of the chat. */
  readonly chatType?: ChatType
  readonly step: TraceStep
}

const BY_DEFAULT = pass('dispatch', 'no rule matches: the default agent', 'routing.dispatch')
const GLOBAL = pass('session', 'scope: global, one session for all direct chats', 'session.scope')
const MAIN = pass('session', "direct: main, the owner's shared session", 'session.direct')
const OWN_AGENT = pass('dispatch', "the session's own agent")
const NAMED = pass('session', 'the session its caller named')
const CALLER = pass('session', 'the key its caller gave')

export function compileSessionRules(policy: RoutingPolicy, channels: Channels): SessionRules {
  return {
    channels,
    defaultAgent: defaultAgent(policy.agents),
    scope: policy.scope,
    direct: policy.direct,
    dimensions: compileDimensions(policy),
    mainNames: new Map(
      [defaultAgent(policy.agents), ...policy.agents].flatMap((agent) => [
        [mainKey(agent), agent],
        [mainAlias(agent), agent],
      ]),
    ),
  }
}

/**
 * The agent and session a dispatch belongs to; `matched` is the dispatch rule that matched, if one did. A schedule
 * names its agent itself: the rules speak of those who write in a place, not of what is delivered there.
 */
export function chooseSession(
  rules: SessionRules,
  caller: SenderAtPlace,
  matched: DispatchRuleEntry | undefined,
): Routed {
  const { schedule, posted } = caller.dispatch
  if (posted) return { route: posted.route, dispatchStep: OWN_AGENT, sessionStep: NAMED }
  const rule = schedule ? undefined : matched
  const agent = schedule?.agent ?? rule?.agent ?? rules.defaultAgent
  const { address } = caller.dispatch.event
  const owner: ScopeOwner = { agent, channel: address.channel, account: address.account }
  const session =
    scheduledSession(owner, caller) ??
    callerSession(rules, owner, caller) ??
    sharedSession(rules, owner, caller) ??
    scopedSession(rules, owner, { caller, rule })
  return {
    route: {
      agent: session.agent,
      scope: session.scope,
      scopeKey: session.scopeKey,
      displayKey: session.displayKey,
      kind: session.kind,
      chatType: session.chatType ?? (schedule ? 'direct' : address.chatType),
      matchedBy: rule?.matchedBy ?? 'default',
      ...(isApart(rules, rule, address.channel) ? { apart: true } : {}),
    },
    dispatchStep: rule?.step ?? BY_DEFAULT,
    sessionStep: session.step,
  }
}

function isApart({ dimensions }: SessionRules, rule: DispatchRuleEntry | undefined, channel: ChannelId): boolean {
  const list = rule?.dimensions ?? dimensions.of(channel)
  return list.dimensions.includes('sender') || rule?.sender !== undefined || rule?.mentioned !== undefined
}

function scheduledSession(owner: ScopeOwner, { dispatch: { schedule } }: SenderAtPlace): ChosenSession | undefined {
  if (schedule === undefined) return undefined
  return {
    agent: owner.agent,
    scope: emptyScope(owner),
    scopeKey: scheduleKey(schedule.id),
    displayKey: cronKey(schedule.id),
    kind: sourceKind('schedule', 'other'),
    step: pass('session', `the session of the schedule ${schedule.id}`),
  }
}

/**
 * A key the caller names is used unchanged if it has one of the two explicit forms and did not come from a platform
 * (K23); where it is another name of a session that exists, it means that session (K25). The main session is the
 * owner's (K46): for others its names are no keys. A readable key belongs to the agent that it names, where there is
 * one.
 */
function callerSession(rules: SessionRules, owner: ScopeOwner, caller: SenderAtPlace): ChosenSession | undefined {
  const { callerKey, origin, named } = caller.dispatch
  if (callerKey === undefined || origin === 'platform' || !/^\s*(sk_v1_|agent:)/i.test(callerKey)) return undefined
  const main = rules.mainNames.get(normalName(callerKey))
  if ((main !== undefined || named?.kind === 'main') && !mayNameMain(caller)) return undefined
  if (named)
    return { ...named, agent: named.agentId, step: pass('session', `${named.displayKey}, named by its caller`) }
  if (main !== undefined) return mainSession(rules, { ...owner, agent: main }, CALLER)
  const scopeKey = toScopeKey(callerKey)
  const agent = knownAgent(rules, agentOfKey(callerKey)) ?? owner.agent
  const scope = emptyScope({ ...owner, agent })
  return { agent, scope, scopeKey, displayKey: callerKey, kind: 'other', step: CALLER }
}

function knownAgent({ mainNames }: SessionRules, named: AgentId | undefined): AgentId | undefined {
  return named && mainNames.get(mainAlias(named))
}

function mayNameMain({ dispatch, identity }: SenderAtPlace): boolean {
  return dispatch.origin === 'schedule' || identity.role === 'owner'
}

/** Direct chats that share a session (T35, K46). */
function sharedSession(
  rules: SessionRules,
  owner: ScopeOwner,
  { identity, facts }: SenderAtPlace,
): ChosenSession | undefined {
  if (facts.chatType !== 'direct') return undefined
  if (rules.scope === 'global') return mainSession(rules, owner, GLOBAL)
  if (rules.direct === 'main' && identity.role === 'owner') return mainSession(rules, owner, MAIN)
  if (rules.direct !== 'person' || identity.person === undefined) return undefined
  return personSession(rules, owner, identity.person)
}

function mainSession(rules: SessionRules, owner: ScopeOwner, step: TraceStep): ChosenSession {
  return {
    agent: owner.agent,
    scope: emptyScope(owner),
    scopeKey: mainKey(owner.agent),
    displayKey: ofAgent(rules, owner.agent, 'main'),
    kind: 'main',
    step,
  }
}

function personSession(rules: SessionRules, owner: ScopeOwner, person: PersonId): ChosenSession {
  return {
    agent: owner.agent,
    scope: { ...emptyScope(owner), dimensions: ['sender'], values: { sender: person } },
    scopeKey: personKey(owner.agent, person),
    displayKey: ofAgent(rules, owner.agent, `direct:${person}`),
    kind: 'other',
    step: pass('session', `direct: person, all chats of ${person}`, 'session.direct'),
  }
}

function scopedSession(
  rules: SessionRules,
  owner: ScopeOwner,
  { caller, rule }: { readonly caller: SenderAtPlace; readonly rule: DispatchRuleEntry | undefined },
): ChosenSession {
  const usual = rules.dimensions.of(owner.channel)
  const list = rule?.dimensions ?? usual
  const scope = scopeOf(owner, caller.facts, list.dimensions)
  const key = displayKey(scope, usual.dimensions, caller.facts.traits.topics)
  return {
    agent: owner.agent,
    scope,
    scopeKey: scopeKey(scope),
    displayKey: ofAgent(rules, owner.agent, key),
    kind: caller.facts.chatType === 'direct' ? 'other' : 'group',
    step: pass('session', key, list.path),
  }
}

function emptyScope({ agent, channel, account }: ScopeOwner): SessionScope {
  return { version: 1, agent, channel, account, dimensions: [], values: {} }
}

/** Sessions of an agent that is not the default one say so, else two agents in one chat would show one key (T36). */
export function ofAgent(rules: SessionRules, agent: AgentId, key: string): string {
  return agent === rules.defaultAgent ? key : `agent:${agent}:${key}`
}
