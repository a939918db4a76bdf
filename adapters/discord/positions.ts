import type { ChannelCursor, ChannelState } from '../../src/channels/adapter.ts'
import { isSnowflake } from './address.ts'
import { isFields } from './fields.ts'

/** A channel we know of: where reading it began, and whose direct chat it is. */
export interface KnownChannel {
  readonly id: string
  /** Nothing up to this message is ours to answer. */
  readonly after: string
  readonly person?: string
}

/** Everything known, under one key: the small memory of an account has no list. */
const STATE_KEY = 'channels'
const SEEN_KEY = 'seen'

/**
 * How far each channel has been read. The position itself is committed with each message (`cursorFor`); here lies where
 * a channel was first met, so that one without messages of ours starts at its newest and replays nothing.
 */
export class Positions {
  readonly #state: ChannelState
  readonly #known = new Map<string, KnownChannel>()
  #unwritten = false
  #seenAt: number | undefined
  #heardAt = 0

  constructor(state: ChannelState) {
    this.#state = state
  }

  async load(): Promise<void> {
    const seen = await this.#state.get(SEEN_KEY)
    if (seen !== undefined) this.#seenAt = Number(seen)
    const text = await this.#state.get(STATE_KEY)
    if (text === undefined) return
    const value: unknown = JSON.parse(text)
    for (const entry of Array.isArray(value) ? value.map(readEntry) : []) if (entry) this.#known.set(entry.id, entry)
  }

  /** Adds channels met for the first time; the rest is left as it is. Rejects when it could not be stored. */
  async note(channels: readonly KnownChannel[]): Promise<void> {
    const fresh = channels.filter(({ id }) => !this.#known.has(id))
    if (fresh.length === 0 && !this.#unwritten) return
    for (const channel of fresh) this.#known.set(channel.id, channel)
    this.#unwritten = true
    await this.#state.set(STATE_KEY, JSON.stringify([...this.#known.values()]))
    this.#unwritten = false
  }

  /** When the gateway was last known to tell us everything, ms since the epoch; undefined before the first time. */
  get seenAt(): number | undefined {
    return this.#seenAt
  }

  async saw(at: number): Promise<void> {
    this.#seenAt = at
    await this.#state.set(SEEN_KEY, String(at))
  }

  /** The session told something at this time; nothing is stored of it yet. */
  heard(at: number): void {
    this.#heardAt = at
  }

  /** Stores when the session last told something, if that is news. */
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
    return [...this.#known.values()].filter(({ person }) => person !== undefined)
  }

  /** The last message of a channel that was dealt with, or undefined for a channel never met. */
  async read(id: string): Promise<string | undefined> {
    const stored = await this.#state.get(keyOf(id))
    return isSnowflake(stored) ? stored : this.#known.get(id)?.after
  }

  /** Moves a position past messages that were none of ours. */
  async pass(id: string, messageId: string): Promise<void> {
    await this.#state.set(keyOf(id), messageId)
  }
}

const LATEST = 50

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
    if (cursor !== undefined && !this.#read.has(channelId)) this.#read.set(channelId, cursor)
    return cursor
  }

  moved(channelId: string, messageId: string): void {
    this.#read.delete(channelId)
    this.#read.set(channelId, messageId)
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
