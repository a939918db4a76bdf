import type { BotBudget } from '../core/bot-budget.ts'
import { type Channels, createChannels } from '../core/channel-traits.ts'
import type { Audience, RoutingPolicy } from '../core/policy.ts'
import { type ChatSettings, commonSettings } from './chat-settings.ts'
import { compileSessionRules, type SessionRules } from './choose-session.ts'
import { joinedChats } from './dimensions.ts'
import { compileDispatchRules, type DispatchRules } from './dispatch-rules.ts'
import { compileGroupRules, type GroupRules } from './group-rules.ts'
import { type ConfiguredPeople, compilePeople } from './identity-links.ts'
import { compileSendPolicy, type SendRules } from './send-policy.ts'

/** The policy, indexed. Opaque to everybody but the routing stages; never changed after compiling. */
export interface Routing {
  readonly channels: Channels
  readonly people: ConfiguredPeople
  /** The configuration names an owner. */
  readonly ownerNamed: boolean
  readonly direct: Audience
  readonly groups: GroupRules
  /** The settings of direct chats and of groups without a rule. */
  readonly common: ChatSettings
  readonly botBudget: BotBudget
  readonly dispatch: DispatchRules
  readonly sendPolicy: SendRules
  readonly sessions: SessionRules
}

/**
 * Compiles the policy once; a changed configuration compiles anew. Throws `config` naming the path where two people
 * claim one id (K16) or a match has an empty value. Warnings, each beginning with its path: links that match more than
 * one channel or workspace, unknown agents and dimensions, lists of dimensions that join chats.
 */
export function compileRouting(policy: RoutingPolicy): { routing: Routing; warnings: string[] } {
  const channels = createChannels(policy.traits)
  const { people, warnings } = compilePeople(policy.people, channels)
  const dispatch = compileDispatchRules(policy.dispatch, { agents: policy.agents, people })
  const common = commonSettings(policy)
  const routing: Routing = {
    channels,
    people,
    ownerNamed: policy.people.some(({ role }) => role === 'owner'),
    direct: policy.access.direct,
    groups: compileGroupRules(policy.access.groups, common, channels),
    common,
    botBudget: policy.botBudget,
    dispatch: dispatch.dispatch,
    sendPolicy: compileSendPolicy(policy.sendPolicy, people),
    sessions: compileSessionRules(policy, channels),
  }
  return { routing, warnings: [...warnings, ...dispatch.warnings, ...joinedChats(policy)] }
}
