import type { ChatType } from '../core/address.ts'
import { type Channels, foldId, type IdTraits } from '../core/channel-traits.ts'
import { ParleyError } from '../core/errors.ts'
import { toAccountId } from '../core/ids.ts'
import type { PlaceMatch } from '../core/policy.ts'
import type { PlaceFacts } from './match-facts.ts'
import type { IndexKey } from './rule-index.ts'

/** The ids of a rule; undefined does not restrict. */
interface PlaceIds {
  readonly chat: string | undefined
  readonly topic: string | undefined
  readonly space: string | undefined
}

/** The place part of any rule, compiled. */
export interface PlaceConstraint extends PlaceIds {
  readonly channel: string | undefined
  readonly account: string | undefined
  readonly chatType: ChatType | undefined
  readonly spaceType: string | undefined
  /** The ids as they are written, for channels on which that makes a difference and which the rule does not name. */
  readonly written: PlaceIds | undefined
}

export const ANY_PLACE: PlaceConstraint = {
  ...{ channel: undefined, account: undefined, chatType: undefined, chat: undefined, topic: undefined },
  ...{ space: undefined, spaceType: undefined, written: undefined },
}

/**
 * `chat` is `<id>` or `<type>:<id>`, `topic` is `<id>` or `topic:<id>`, `space` is `<id>` or `<type>:<id>` (K9, K18).
 * `path` is the place of the match in the configuration.
 */
export function compilePlace(match: PlaceMatch, path: string, channels: Channels): PlaceConstraint {
  const account = constraint(match.account, `${path}.account`)
  const channel = constraint(match.channel, `${path}.channel`)
  const chat = trimmed(match.chat, `${path}.chat`)
  const typedChat = /^(direct|group|channel):(.+)$/is.exec(chat ?? '')
  const space = trimmed(match.space, `${path}.space`)
  const typedSpace = /^([a-z]+):(.+)$/is.exec(space ?? '')
  const written: PlaceIds = {
    chat: typedChat?.[2] ?? chat,
    topic: trimmed(match.topic, `${path}.topic`)?.replace(/^topic:/i, ''),
    space: typedSpace?.[2] ?? space,
  }
  const folded = foldedIds(written, channel === undefined ? NO_CASE : channels.traits(channel).ids)
  const differs = folded.chat !== written.chat || folded.topic !== written.topic || folded.space !== written.space
  return {
    channel,
    account: account && toAccountId(account),
    chatType: typedChat?.[1]?.toLowerCase() as ChatType | undefined,
    ...folded,
    spaceType: typedSpace?.[1]?.toLowerCase(),
    written: channel === undefined && differs && channels.caseSensitive.length > 0 ? written : undefined,
  }
}

const NO_CASE: Pick<IdTraits, 'caseSensitive'> = { caseSensitive: false }

function foldedIds({ chat, topic, space }: PlaceIds, ids: Pick<IdTraits, 'caseSensitive'>): PlaceIds {
  return { chat: chat && foldId(ids, chat), topic: topic && foldId(ids, topic), space: space && foldId(ids, space) }
}

/** One field of a match, normalised. Throws as `trimmed` does. */
export function constraint(raw: string | undefined, path: string): string | undefined {
  return trimmed(raw, path)?.toLowerCase()
}

/**
 * One field of a match in its own case. Throws `config` for an empty one: it is what an unset variable leaves behind,
 * and reading it as "any" would widen the rule.
 */
export function trimmed(raw: string | undefined, path: string): string | undefined {
  const value = raw?.trim()
  if (value === '') throw new ParleyError('config', `${path} is empty; give an id or leave the field out`)
  return value
}

export function matchesPlace(wanted: PlaceConstraint, place: PlaceFacts): boolean {
  const ids = wanted.written !== undefined && place.traits.ids.caseSensitive ? wanted.written : wanted
  return (
    allowsChat(ids.chat, place) &&
    matchesValue(wanted.channel, place.channel) &&
    matchesValue(wanted.account, place.account) &&
    matchesValue(wanted.chatType, place.chatType) &&
    matchesValue(ids.topic, place.topic) &&
    matchesValue(ids.space, place.space) &&
    matchesValue(wanted.spaceType, place.spaceType)
  )
}

function allowsChat(wanted: string | undefined, { chat, formerChat }: PlaceFacts): boolean {
  return matchesValue(wanted, chat) || (formerChat !== undefined && wanted === formerChat)
}

/** An unset constraint allows anything, a set one only its own value. */
export function matchesValue<T>(wanted: T | undefined, value: T | undefined): boolean {
  return wanted === undefined || wanted === value
}

/** The most selective constrained field, or none. */
export function placeKeys(wanted: PlaceConstraint): readonly IndexKey[] {
  for (const field of ['chat', 'topic', 'space', 'account', 'channel'] as const) {
    const value = wanted[field]
    if (value === undefined) continue
    const written = field === 'account' || field === 'channel' ? undefined : wanted.written?.[field]
    const values = written === undefined || written === value ? [value] : [value, written]
    return values.map((one) => ({ field, value: one }))
  }
  return []
}
