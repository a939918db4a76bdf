import type { Address, Space } from '../../src/core/address.ts'
import type { AccountId } from '../../src/core/ids.ts'
import type { Titles } from '../../src/core/message.ts'
import { presentTitles, titleOf } from '../../src/core/titles.ts'
import { fieldsOf, Malformed } from '../shared/fields.ts'

/**
 * The facts about a channel of the platform. Forums, categories and stages are left out, because nobody can write in
 * them.
 */
export interface ChannelFacts {
  readonly id: string
  readonly kind: 'direct' | 'group' | 'channel' | 'thread'
  readonly guildId?: string
  /** The channel that a thread belongs to. */
  readonly parentId?: string
  readonly name?: string
}

/** The target of a message: a channel by its id, or the direct chat of a person, which has to be opened. */
export type ApiTarget =
  | { readonly kind: 'channel'; readonly id: string }
  | { readonly kind: 'person'; readonly id: string }

const KINDS: Readonly<Record<number, ChannelFacts['kind']>> = {
  0: 'channel',
  1: 'direct',
  2: 'channel',
  3: 'group',
  5: 'channel',
  10: 'thread',
  11: 'thread',
  12: 'thread',
  13: 'channel',
}

/** The seam's word for the platform's channel type; undefined for one that holds no messages or is not known. */
export function toKind(type: unknown): ChannelFacts['kind'] | undefined {
  return typeof type === 'number' ? KINDS[type] : undefined
}

/**
 * Reads a channel as the platform describes it: over the gateway, over the API and in an interaction, where `guildId`
 * is given beside it. Returns undefined for one that holds no messages. @throws Malformed
 */
export function readChannel(value: unknown, guildId?: unknown): ChannelFacts | undefined {
  const { id, type, guild_id, parent_id: parentId, name: given } = fieldsOf(value)
  const kind = toKind(type)
  if (kind === undefined) return undefined
  const guild = guildId ?? guild_id
  const name = titleOf(given)
  return {
    id: idOf(id),
    kind,
    ...(isSnowflake(guild) ? { guildId: guild } : {}),
    ...(kind === 'thread' && isSnowflake(parentId) ? { parentId } : {}),
    ...(name === undefined ? {} : { name }),
  }
}

/**
 * A thread is a topic of its parent, so that it takes after the parent's rules. A direct chat is named by the
 * person: its channel id is nothing anybody could write into a configuration.
 */
export function toAddress(account: AccountId, place: ChannelFacts, person: string): Address | null {
  const { id, kind, guildId, parentId } = place
  const common = { channel: 'discord', account, ...spaceOf(guildId) } as const
  if (kind === 'direct') return { ...common, chatType: 'direct', chat: person }
  if (kind === 'group') return { ...common, chatType: 'group', chat: id }
  if (kind === 'channel') return { ...common, chatType: 'channel', chat: id }
  return parentId === undefined ? null : { ...common, chatType: 'channel', chat: parentId, topic: id }
}

/** Returns the names of a place, as the platform last described it; `parent` names the channel a thread belongs to. */
export function titlesOf({ kind, name }: ChannelFacts, parent: string | undefined): { readonly titles?: Titles } {
  if (kind !== 'thread') return presentTitles({ chat: name, topic: undefined, topicBegan: undefined })
  return presentTitles({ chat: parent, topic: name, topicBegan: undefined })
}

/** The inverse. Null when the address names no Discord place. */
export function toApiTarget({ channel, chatType, chat, topic }: Address): ApiTarget | null {
  const id = topic ?? chat
  if (channel !== 'discord' || !isSnowflake(id) || !isSnowflake(chat)) return null
  return chatType === 'direct' ? { kind: 'person', id: chat } : { kind: 'channel', id }
}

function spaceOf(guildId: string | undefined): { readonly space?: Space } {
  return guildId === undefined ? {} : { space: { type: 'guild', id: guildId } }
}

/** Ids are 64-bit numbers as text, and stay text. */
export function isSnowflake(id: unknown): id is string {
  return typeof id === 'string' && /^\d{1,20}$/.test(id)
}

/** 2015-01-01T00:00:00Z, where the platform's ids begin. */
const EPOCH = 1_420_070_400_000

/** The smallest id of a moment (ms since the epoch): what `after` takes to mean a time. */
export function snowflakeAt(ms: number): string {
  return String(BigInt(Math.max(0, Math.floor(ms) - EPOCH)) << 22n)
}

/** The moment an id was made, ms since the epoch. */
export function timeOfSnowflake(id: string): number {
  return Number(BigInt(id) >> 22n) + EPOCH
}

export function isNewer(id: string, than: string): boolean {
  return BigInt(id) > BigInt(than)
}

/** The id right before this one. */
export function before(id: string): string {
  const previous = BigInt(id) - 1n
  return String(previous < 0n ? 0n : previous)
}

/** Reads an id of the platform. @throws Malformed when it is missing */
export function idOf(value: unknown): string {
  if (!isSnowflake(value)) throw new Malformed('an id is missing')
  return value
}
