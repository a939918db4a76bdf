import { hash } from 'node:crypto'
import type { ChannelTraits } from '../core/channel-traits.ts'
import {
  type AccountId,
  type AgentId,
  type ChannelId,
  type PersonId,
  type ScheduleId,
  type ScopeKey,
  toScopeKey,
} from '../core/ids.ts'
import type { Dimension, SessionKind, SessionScope, SessionSource } from '../core/session.ts'
import { mainAlias } from '../core/session-alias.ts'
import type { MatchFacts, PlaceFacts } from './match-facts.ts'

/** The owner of a scope, whatever its dimensions. */
export interface ScopeOwner {
  readonly agent: AgentId
  readonly channel: ChannelId
  readonly account: AccountId
}

/** The scope of a dispatch: the dimensions that have a value, in configured order (K6, K8, K9). */
export function scopeOf(owner: ScopeOwner, facts: MatchFacts, configured: readonly Dimension[]): SessionScope {
  const dimensions: Dimension[] = []
  const values: Partial<Record<Dimension, string>> = {}
  for (const dimension of configured) {
    const value = dimensionValue(dimension, facts, configured)
    if (value === undefined) continue
    dimensions.push(dimension)
    values[dimension] = value
  }
  return { version: 1, agent: owner.agent, channel: owner.channel, account: owner.account, dimensions, values }
}

/** `v=1|agent=…|channel=…|account=…` and `|<dimension>=<value>` each, not escaped (K4). */
export function scopeSignature({ agent, channel, account, dimensions, values }: SessionScope): string {
  let signature = `v=1|agent=${agent}|channel=${channel}|account=${account}`
  for (const dimension of dimensions) signature += `|${dimension}=${values[dimension]}`
  return signature
}

export function scopeKey(scope: SessionScope): ScopeKey {
  return hashed(scopeSignature(scope))
}

/** The key of an agent's main session: system messages, `direct: main`, `scope: global` (K24). */
export function mainKey(agent: AgentId): ScopeKey {
  return hashed(mainAlias(agent))
}

/** The key of a person's one session over all channels and accounts (K46), made like the main key from its alias. */
export function personKey(agent: AgentId, person: PersonId): ScopeKey {
  return hashed(`agent:${agent}:direct:${person}`)
}

/**
 * Returns the key for people and tools: `<channel>:<kind>:<chat>[/<topic>]` (T3, T36), `@<account>` where it is not the
 * default. Every other dimension that sets sessions apart follows as `|<dimension>=<value>`, so that two scopes never
 * show one key. `usual` is the channel's own list of dimensions, `topics` its trait.
 */
export function displayKey(scope: SessionScope, usual: readonly Dimension[], topics: ChannelTraits['topics']): string {
  const [first, second] = scope.dimensions
  let key = scope.account === 'default' ? scope.channel : `${scope.channel}@${scope.account}`
  let plain = 0
  if (first === 'chat' && (topics === 'threads' || treatsRoomsAsUsual(usual, scope))) {
    key += `:${scope.values.chat}`
    plain = 1
    if (second === 'topic') {
      key += `/${scope.values.topic?.slice(TOPIC.length)}`
      plain = 2
    }
  }
  for (const dimension of scope.dimensions.slice(plain)) key += `|${dimension}=${scope.values[dimension]}`
  return key
}

/** The key of a schedule's one session, whatever agent runs it and wherever it delivers to (S2). */
export function scheduleKey(id: ScheduleId): ScopeKey {
  return hashed(`schedule:${id}`)
}

export function cronKey(id: string): string {
  return `cron:${id}`
}

/** Returns the display key of a session that no chat opened; undefined if it has none of its own (T4). */
export function sourceDisplayKey({ kind, triggerId }: SessionSource): string | undefined {
  if (triggerId === undefined) return undefined
  if (kind === 'schedule') return cronKey(triggerId)
  if (kind === 'hook' || kind === 'task') return `${kind}:${triggerId}`
  return kind === 'node' ? `node-${triggerId}` : undefined
}

/** The key of a session that is known by its source alone. */
export function sourceKey(displayKey: string): ScopeKey {
  return hashed(displayKey)
}

const SOURCE_KINDS: Readonly<Record<Exclude<SessionSource['kind'], 'channel'>, SessionKind>> = {
  schedule: 'cron',
  hook: 'hook',
  node: 'node',
  task: 'other',
  cli: 'other',
  web: 'other',
  api: 'other',
}

/** Every source has a kind (T36); a channel's depends on its chat. */
export function sourceKind(kind: SessionSource['kind'], chatKind: SessionKind): SessionKind {
  return kind === 'channel' ? chatKind : SOURCE_KINDS[kind]
}

const TOPIC = 'topic:'

function dimensionValue(dimension: Dimension, facts: MatchFacts, configured: readonly Dimension[]): string | undefined {
  switch (dimension) {
    case 'space':
      return facts.space && `${facts.spaceType ?? 'space'}:${facts.space}`
    case 'chat':
      return facts.chat && `${facts.chatType}:${facts.chat}${forumSuffix(facts, configured)}`
    case 'topic':
      return facts.topic && `${TOPIC}${facts.topic}`
    case 'sender':
      return facts.person ?? senderValue(facts)
  }
}

/** Ids that are unique only inside a team carry it, else two people would share a session (K13). */
function senderValue({ senderId, senderTeam }: MatchFacts): string | undefined {
  return senderId && senderTeam ? `${senderTeam}/${senderId}` : senderId
}

/**
 * A room is a suffix of the chat or a dimension of its own. Both would read `/<topic>`, so only the channel's usual way
 * does.
 */
function treatsRoomsAsUsual(usual: readonly Dimension[], { dimensions, values }: SessionScope): boolean {
  return usual.includes('topic') ? !values.chat?.includes('/') : !dimensions.includes('topic')
}

function hashed(text: string): ScopeKey {
  return toScopeKey(`sk_v1_${hash('sha256', text, 'hex')}`)
}

/**
 * Forum isolation (K10-K12): where topics are rooms, as on Telegram, one becomes a suffix of the chat value, unless
 * `topic` is a dimension of its own. Only session keys see it; dispatch rules match the plain chat.
 */
function forumSuffix({ traits, topic }: PlaceFacts, dimensions: readonly Dimension[]): string {
  return traits.topics === 'rooms' && topic !== undefined && !dimensions.includes('topic') ? `/${topic}` : ''
}
