import { LRUCache } from 'lru-cache'
import { type Fields, fieldsOf, listOf, Malformed } from '../../shared/fields.ts'
import { type ChannelFacts, idOf, isNewer, isSnowflake, readChannel, toKind } from '../address.ts'

export interface VisibleChannel extends ChannelFacts {
  readonly lastMessageId: string | null
  /** When the bot joined the guild, ms since the epoch; absent where the platform does not say. */
  readonly joinedAt?: number
}

/** More than an account remembers (`shared/known-chats.ts`); of one that is forgotten the platform is asked. */
const MOST_CHANNELS = 10_000
/** More guilds than one connection may serve. */
const MOST_GUILDS = 5_000

const KEPT = new Set(['CHANNEL_CREATE', 'CHANNEL_UPDATE', 'THREAD_CREATE', 'THREAD_UPDATE'])
const GONE = new Set(['CHANNEL_DELETE', 'THREAD_DELETE'])

/**
 * Owns what is known from one session of the channels and open threads of its guilds, and of the direct chats in which
 * something was said: what they are, and their newest message. Beyond `most` the one longest without a word is
 * forgotten.
 */
export class VisibleChannels {
  readonly #channels: LRUCache<string, VisibleChannel>
  readonly #joinedAt = new Map<string, number>()

  constructor(most = MOST_CHANNELS) {
    this.#channels = new LRUCache({ max: most })
  }

  get(id: string): VisibleChannel | undefined {
    return this.#channels.peek(id)
  }

  all(): readonly VisibleChannel[] {
    return [...this.#channels.rvalues()].filter((channel) => channel !== undefined)
  }

  /** Returns those of a guild. */
  of(guildId: unknown): readonly VisibleChannel[] {
    return this.all().filter((channel) => channel.guildId === guildId)
  }

  /** Takes in a dispatch. Returns false where some of it could not be read; the rest is known all the same. */
  take(type: string, data: Fields): boolean {
    try {
      this.#take(type, data)
      return true
    } catch (error) {
      if (error instanceof Malformed) return false
      throw error
    }
  }

  #take(type: string, data: Fields): void {
    if (type === 'GUILD_CREATE') this.#takeGuild(data)
    else if (type === 'GUILD_DELETE') this.#dropGuild(data)
    else if (type === 'THREAD_LIST_SYNC') this.#keepAll(data.threads, data.guild_id)
    else if (type === 'MESSAGE_CREATE') this.#noteMessage(data)
    else if (KEPT.has(type)) this.#keep(data)
    else if (GONE.has(type)) this.#dropChannel(idOf(data.id))
  }

  #takeGuild({ id, unavailable, joined_at, channels, threads }: Fields): void {
    // Its channels arrive once it is available again.
    if (unavailable === true) return
    this.#join(idOf(id), joined_at)
    eachOf([channels, threads], (list) => this.#keepAll(list, id))
  }

  #join(guildId: string, joinedAt: unknown): void {
    const ms = typeof joinedAt === 'string' ? Date.parse(joinedAt) : Number.NaN
    if (ms > 0 && (this.#joinedAt.size < MOST_GUILDS || this.#joinedAt.has(guildId))) this.#joinedAt.set(guildId, ms)
  }

  /** A guild that is out of order for a while is ours all the same. */
  #dropGuild({ id, unavailable }: Fields): void {
    if (unavailable === true) return
    this.#joinedAt.delete(idOf(id))
    this.#drop(({ guildId }) => guildId === id)
  }

  /** Its threads go with it, without an event of their own. */
  #dropChannel(gone: string): void {
    this.#drop(({ id, parentId }) => id === gone || parentId === gone)
  }

  #drop(isGone: (channel: VisibleChannel) => boolean): void {
    for (const channel of this.all()) if (isGone(channel)) this.#channels.delete(channel.id)
  }

  #keepAll(channels: unknown, guildId: unknown): void {
    eachOf(listOf(channels), (channel) => this.#keep(fieldsOf(channel), guildId))
  }

  #keep(channel: Fields, guildId?: unknown): void {
    const facts = readChannel(channel, guildId)
    if (facts === undefined) return
    const joinedAt = facts.guildId === undefined ? undefined : this.#joinedAt.get(facts.guildId)
    const known = this.#channels.peek(facts.id)
    const last = newest(channel.last_message_id, known?.lastMessageId)
    this.#put({ ...facts, lastMessageId: last, ...(joinedAt === undefined ? {} : { joinedAt }) })
  }

  /** A direct chat is in no list: it is known once something is said there. */
  #noteMessage({ id, channel_id: channelId, channel_type: type }: Fields): void {
    const kind = toKind(type)
    const isDirect = kind === 'direct' || kind === 'group'
    const channel = this.#channels.peek(idOf(channelId)) ?? (isDirect ? { id: idOf(channelId), kind } : undefined)
    if (channel === undefined) return
    const known = 'lastMessageId' in channel ? channel.lastMessageId : null
    this.#put({ ...channel, lastMessageId: newest(idOf(id), known) })
  }

  #put(channel: VisibleChannel): void {
    this.#channels.set(channel.id, channel)
  }
}

function newest(given: unknown, known: string | null | undefined): string | null {
  if (!isSnowflake(given)) return known ?? null
  return known === undefined || known === null || isNewer(given, known) ? given : known
}

/** Does all of it, and throws afterwards what the first one that could not be read threw. */
function eachOf(items: readonly unknown[], act: (item: unknown) => void): void {
  let odd: Malformed | undefined
  for (const item of items) {
    try {
      act(item)
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      odd ??= error
    }
  }
  if (odd !== undefined) throw odd
}
