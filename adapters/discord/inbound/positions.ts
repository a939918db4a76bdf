import type { ChannelCursor, ChannelState } from '../../../src/channels/adapter.ts'
import { KnownChats } from '../../shared/known-chats.ts'
import { isNewer, isSnowflake, timeOfSnowflake } from '../address.ts'
import { isFields } from './fields.ts'

/** A channel we know of: where reading it began, and whose direct chat it is. */
export interface KnownChannel {
  readonly id: string
  /** Nothing up to this message is ours to answer. */
  readonly after: string
  readonly person?: string
}

const SEEN_KEY = 'seen'

/**
 * How far each channel has been read. The position itself is committed with each message (`cursorFor`); here lies where
 * a channel was first met, so that one without messages of ours starts at its newest and replays nothing.
 */
export class Positions {
  readonly #state: ChannelState
  readonly #known: KnownChats<KnownChannel>
  #seenAt: number | undefined
  #heardAt = 0

  constructor(state: ChannelState) {
    this.#state = state
    this.#known = new KnownChats(state, {
      key: 'channels',
      positionKey: keyOf,
      write: (channel) => channel,
      read: async (stored) => {
        const chat = readEntry(stored)
        return chat && { chat, heardAt: timeOfSnowflake(latest(chat, await state.get(keyOf(chat.id)))) }
      },
    })
  }

  async load(): Promise<void> {
    const seen = await this.#state.get(SEEN_KEY)
    if (seen !== undefined) this.#seenAt = Number(seen)
    await this.#known.load()
  }

  /**
   * Adds channels met for the first time; the rest is left as it is. One too many takes the place of the channel longest
   * without a message for which `waits` does not hold. Rejects when it could not be stored.
   */
  async note(channels: readonly KnownChannel[], waits: (id: string) => boolean): Promise<void> {
    this.add(channels, waits)
    await this.#known.write()
  }

  /** Does as `note` and stores nothing yet: each can be read from at once. */
  add(channels: readonly KnownChannel[], waits: (id: string) => boolean): void {
    for (const channel of channels) this.#known.add(channel, waits)
  }

  /** Called with each message; returns whether its channel is known and stored. */
  met(id: string): boolean {
    this.#known.heard(id)
    return this.#known.has(id) && this.#known.stored
  }

  /** When the gateway was last known to tell us everything, ms since the epoch; undefined before the first time. */
  get seenAt(): number | undefined {
    return this.#seenAt
  }

  /** Stores that everything up to `at` was told, after the channels that were added by then. */
  async saw(at: number): Promise<void> {
    this.#seenAt = at
    await this.#known.write()
    await this.#state.set(SEEN_KEY, String(at))
  }

  /** Everything up to this time was told; nothing is stored of it yet. */
  heard(at: number): void {
    this.#heardAt = at
  }

  /** Stores up to when everything was told, if that is news. */
  async keepHeard(): Promise<void> {
    if (this.#heardAt > (this.#seenAt ?? 0)) await this.saw(this.#heardAt)
  }

  isKnown(id: string): boolean {
    return this.#known.has(id)
  }

  /** The person of a direct chat. */
  personOf(id: string): string | undefined {
    return this.#known.get(id)?.person
  }

  directs(): readonly KnownChannel[] {
    return this.#known.values().filter(({ person }) => person !== undefined)
  }

  /** The last message of a channel that was dealt with, or undefined for a channel never met. */
  async read(id: string): Promise<string | undefined> {
    const known = this.#known.get(id)
    return known && latest(known, await this.#state.get(keyOf(id)))
  }

  /** Moves a position past messages that were none of ours. */
  async pass(id: string, messageId: string): Promise<void> {
    if (this.#known.has(id)) await this.#state.set(keyOf(id), messageId)
  }
}

/** Returns the position of a channel. One stored before the channel was met is left from when it was known before. */
function latest({ after }: KnownChannel, stored: string | undefined): string {
  return isSnowflake(stored) && isNewer(stored, after) ? stored : after
}

const LATEST = 50
/** Beyond it the position of the channel read longest ago is looked up again. */
const MOST_CURSORS = 5000

/** The position of each channel read in this process. */
export class Cursors {
  readonly #positions: Positions
  /** The channel read last is at the end. */
  readonly #read = new Map<string, string>()

  constructor(positions: Positions) {
    this.#positions = positions
  }

  async of(channelId: string): Promise<string | undefined> {
    const cursor = this.#read.get(channelId) ?? (await this.#positions.read(channelId))
    if (cursor !== undefined && !this.#read.has(channelId)) this.moved(channelId, cursor)
    return cursor
  }

  moved(channelId: string, messageId: string): void {
    this.#read.delete(channelId)
    this.#read.set(channelId, messageId)
    const oldest = this.#read.size > MOST_CURSORS ? this.#read.keys().next().value : undefined
    if (oldest !== undefined) this.#read.delete(oldest)
  }

  /** The channels read last. What a resume leaves out is left out in busy ones. */
  latest(): readonly string[] {
    return [...this.#read.keys()].slice(-LATEST)
  }
}

/** Committed with the message. */
export function cursorFor(channelId: string, messageId: string): ChannelCursor {
  return { key: keyOf(channelId), value: messageId }
}

function keyOf(channelId: string): string {
  return `channel:${channelId}`
}

function readEntry(value: unknown): KnownChannel | undefined {
  if (!isFields(value)) return undefined
  const { id, after, person } = value
  if (!isSnowflake(id) || !isSnowflake(after)) return undefined
  return isSnowflake(person) ? { id, after, person } : { id, after }
}
