import type { Address } from './address.ts'
import { type Channels, foldId, type IdTraits, OWN_CHANNELS } from './channel-traits.ts'
import type { Route } from './dispatch.ts'
import { type AccountId, type AgentId, type ChannelId, type PersonId, toAgentId } from './ids.ts'
import type { InboundEvent, Sender } from './message.ts'
import type { SessionScope } from './session.ts'

/** The data that a session's aliases are made from. */
export interface AliasFacts {
  readonly route: Pick<Route, 'agent' | 'scope' | 'scopeKey' | 'kind' | 'displayKey' | 'apart'>
  readonly event: Pick<InboundEvent, 'address' | 'sender'>
  readonly person: PersonId | undefined
}

/**
 * The further names a routed session answers to (K45), in lower case and in the order in which
 * promotion looks at them (K27). Only the main session carries the main alias, and carries no other (K45):
 * what is said in it belongs to no one chat. A session whose key its caller gave has that key as its only name.
 */
export function sessionAliases(
  { traits }: Pick<Channels, 'traits'>,
  { route, event, person }: AliasFacts,
): readonly string[] {
  const { agent, scope, scopeKey, kind, displayKey, apart = false } = route
  if (kind === 'main') return [mainAlias(agent)]
  if (kind === 'cron' || scopeKey === displayKey) return [normalName(displayKey)]
  if (scope.dimensions.length === 0) return []
  const { ids } = traits(event.address.channel)
  if (event.address.chatType === 'direct') return [...new Set(directAliases(agent, { ...event, ids, person }))]
  return apart ? [] : placeAliases(scope)
}

export function mainAlias(agent: AgentId): string {
  return `agent:${agent}:main`
}

/** The agent that a readable key names; undefined for a key of another form. */
export function agentOfKey(key: string): AgentId | undefined {
  const [, agent] = /^agent:([^:]+):/.exec(normalName(key)) ?? []
  return agent === undefined ? undefined : toAgentId(agent)
}

/** Matches the part of a name before the id: agent, channel, account and type of chat. */
const HEAD = /^(?:agent:[^:]+:)?([a-z][a-z0-9_-]*)(?:@[^:]+)?:(?:(?:[a-z0-9_-]+:)?(?:direct|group|channel):)?/

/**
 * A name as it is looked up: case, outer spaces and invisible characters make no difference. In a name of a channel
 * that `keepsCase` the id behind these stays as it is: another case is another chat (K5).
 */
export function normalName(name: string, keepsCase: readonly ChannelId[] = []): string {
  const plain = name.replace(/\p{Cf}/gu, '').trim()
  const folded = plain.toLowerCase()
  if (keepsCase.length === 0) return folded
  const [head = '', channel = ''] = HEAD.exec(folded) ?? []
  return keepsCase.includes(channel) ? `${head}${plain.slice(head.length)}` : folded
}

/**
 * Three forms for each name of whoever is at the other end: their id, with their channel too, their person, the chat.
 * An id of another team carries it. Without the channel mean nobody: names of our own channels, which their users
 * choose, and ids whose case counts, as a name alone does not say whether it does.
 */
function directAliases(
  agent: AgentId,
  {
    address,
    sender,
    ids,
    person,
  }: AliasFacts['event'] & { readonly ids: IdTraits; readonly person: PersonId | undefined },
): readonly string[] {
  const { channel, account } = address
  const nameOf = (id: string): string => foldId(ids, id.replace(/\p{Cf}/gu, ''))
  const chat = nameOf(address.chat)
  const id = nameOf(isForeign(address, sender) ? `${sender.team}/${sender.id}` : sender.id)
  const peers = [...(id === '' ? [] : [id, `${channel}:${id}`]), ...(person === undefined ? [] : [person]), chat]
  const bare = (peer: string): boolean => !OWN_CHANNELS.includes(channel) && (!ids.caseSensitive || peer === person)
  const forms = peers.flatMap((peer) => [
    ...(bare(peer) ? [`agent:${agent}:direct:${peer}`] : []),
    `agent:${agent}:${channel}:direct:${peer}`,
    `agent:${agent}:${channel}:${account}:direct:${peer}`,
  ])
  return [...forms, plainName(channel, account, `direct:${chat}`)]
}

/** The same id may be another person's in the team that the chat lies in. */
function isForeign({ space }: Address, { team }: Sender): boolean {
  return space?.type === 'team' && team !== undefined && normalName(team) !== normalName(space.id)
}

/** The names of a place belong to a session that all who speak there share. */
function placeAliases({ agent, channel, account, values }: SessionScope): readonly string[] {
  const { chat, topic } = values
  if (chat === undefined) return []
  const place = topic === undefined ? chat : `${chat}/${topic.slice('topic:'.length)}`
  return [`agent:${agent}:${channel}:${place}`, plainName(channel, account, place)]
}

function plainName(channel: string, account: AccountId, place: string): string {
  return account === 'default' ? `${channel}:${place}` : `${channel}@${account}:${place}`
}
