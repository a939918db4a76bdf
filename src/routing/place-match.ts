import type { ChatType } from '../core/address.ts'
import { ParleyError } from '../core/errors.ts'
import { toAccountId } from '../core/ids.ts'
import type { PlaceMatch } from '../core/policy.ts'
import { normalised, type PlaceFacts } from './match-facts.ts'
import type { IndexKey } from './rule-index.ts'

/** The place part of any rule, compiled; undefined does not restrict. */
export interface PlaceConstraint {
  readonly channel: string | undefined
  readonly account: string | undefined
  readonly chatType: ChatType | undefined
  readonly chat: string | undefined
  readonly topic: string | undefined
  readonly space: string | undefined
  readonly spaceType: string | undefined
}

/**
 * `chat` is `<id>` or `<type>:<id>`, `topic` is `<id>` or `topic:<id>`, `space` is `<id>` or `<type>:<id>` (K9, K18).
 * `path` is the place of the match in the configuration.
 */
export function compilePlace(match: PlaceMatch, path: string): PlaceConstraint {
  const account = constraint(match.account, `${path}.account`)
  const chat = constraint(match.chat, `${path}.chat`)
  const typedChat = /^(direct|group|channel):(.+)$/.exec(chat ?? '')
  const space = constraint(match.space, `${path}.space`)
  const typedSpace = /^([^:]+):(.+)$/.exec(space ?? '')
  return {
    channel: constraint(match.channel, `${path}.channel`),
    account: account && toAccountId(account),
    chatType: typedChat?.[1] as ChatType | undefined,
    chat: typedChat?.[2] ?? chat,
    topic: constraint(match.topic, `${path}.topic`)?.replace(/^topic:/, ''),
    space: typedSpace?.[2] ?? space,
    spaceType: typedSpace?.[1],
  }
}

/**
 * One field of a match, normalised. Throws `config` for a blank one: it is what an unset variable leaves behind, and
 * reading it as "any" would widen the rule (RELIABILITY S5).
 */
export function constraint(raw: string | undefined, path: string): string | undefined {
  if (raw === undefined) return undefined
  const value = normalised(raw)
  if (value === undefined) throw new ParleyError('config', `${path} is empty; give an id or leave the field out`)
  return value
}

export function matchesPlace(wanted: PlaceConstraint, place: PlaceFacts): boolean {
  return (
    allowsChat(wanted.chat, place) &&
    allows(wanted.channel, place.channel) &&
    allows(wanted.account, place.account) &&
    allows(wanted.chatType, place.chatType) &&
    allows(wanted.topic, place.topic) &&
    allows(wanted.space, place.space) &&
    allows(wanted.spaceType, place.spaceType)
  )
}

function allowsChat(wanted: string | undefined, { chat, formerChat }: PlaceFacts): boolean {
  return allows(wanted, chat) || (formerChat !== undefined && wanted === formerChat)
}

/** An unset constraint allows anything, a set one only its own value. */
export function allows<T>(wanted: T | undefined, value: T | undefined): boolean {
  return wanted === undefined || wanted === value
}

/** The most selective constrained field, or none. */
export function placeKeys(wanted: PlaceConstraint): readonly IndexKey[] {
  for (const field of ['chat', 'topic', 'space', 'account', 'channel'] as const) {
    const value = wanted[field]
    if (value !== undefined) return [{ field, value }]
  }
  return []
}
