import { type AgentId, toAgentId, toPersonId } from '../../src/core/ids.ts'
import type { PersonPolicy, RoutingPolicy } from '../../src/core/policy.ts'
import { compileRouting, type Routing } from '../../src/routing/compile-routing.ts'
import { TRAITS } from './channels.ts'

/** Nothing configured: one agent, nobody known, everything at its default. */
export function policy(changes: Partial<RoutingPolicy> = {}): RoutingPolicy {
  return {
    people: [],
    agents: agents('main'),
    access: { direct: 'owner', groups: [] },
    ownerAlwaysTriggers: true,
    wakeWords: [],
    edits: 'update',
    deletions: 'redact',
    botBudget: { turns: 20, tokens: 200_000, quietMinutes: 30 },
    dispatch: [],
    sendPolicy: { rules: [], default: 'allow' },
    scope: 'routed',
    dimensions: ['chat'],
    channelDimensions: { slack: ['chat', 'topic'], discord: ['chat', 'topic'] },
    direct: 'chat',
    traits: TRAITS,
    ...changes,
  }
}

export function agents(...names: readonly string[]): readonly AgentId[] {
  return names.map((name) => toAgentId(name))
}

export function owner(name: string, ...ids: readonly string[]): PersonPolicy {
  return { id: toPersonId(name), role: 'owner', ids }
}

export function member(name: string, ...ids: readonly string[]): PersonPolicy {
  return { id: toPersonId(name), role: 'member', ids }
}

/** Ada owns the agent, Bob is a member, the groups are open to all who address it. */
export function household(changes: Partial<RoutingPolicy> = {}): RoutingPolicy {
  return policy({
    people: [owner('ada', 'telegram:111', 'discord:222', 'slack:T01/U333'), member('bob', 'telegram:444')],
    access: { direct: 'allowlist', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    ...changes,
  })
}

export function routingOf(of: RoutingPolicy): Routing {
  return compileRouting(of).routing
}
