import type { ChannelState } from '../../../src/channels/adapter.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { isFields } from '../../shared/fields.ts'
import { Positions } from '../../shared/positions.ts'
import { isNewer, isSnowflake, timeOfSnowflake } from '../address.ts'

/** A channel we know of: where reading it began, and whose direct chat it is. */
export interface KnownChannel {
  readonly id: string
  /** Nothing up to this message is ours to answer: a channel without messages of ours replays nothing. */
  readonly after: string
  readonly person?: string
}

export type ChannelPositions = Positions<KnownChannel>

export function createPositions(state: ChannelState): ChannelPositions {
  return new Positions<KnownChannel>(state, {
    listKey: 'channels',
    positionKey: (id) => `channel:${id}`,
    isMessageId: isSnowflake,
    isNewer,
    timeOf: timeOfSnowflake,
    write: (channel) => channel,
    read: readEntry,
  })
}

/** Returns the direct chats among the channels known. */
export function directsOf(positions: ChannelPositions): readonly KnownChannel[] {
  return positions.values().filter(({ person }) => person !== undefined)
}

function readEntry(value: unknown): KnownChannel | undefined {
  if (!isFields(value)) return undefined
  const { id, after, person } = value
  if (!isSnowflake(id) || !isSnowflake(after)) return undefined
  return isSnowflake(person) ? { id, after, person } : { id, after }
}

const SEEN_KEY = 'seen'

/**
 * The time at which the gateway was last known to bring everything, ms since the epoch by the platform's clock: ours
 * may be set. The ids of messages contain that time, and between two of them the clock that nobody sets.
 */
export class Seen {
  readonly #state: ChannelState
  readonly #clock: Clock
  /** The platform's time when it was known last. */
  #known: { readonly at: number; readonly elapsed: number } | undefined
  #at: number | undefined
  #receivedAt: number | undefined

  constructor(state: ChannelState, clock: Clock) {
    this.#state = state
    this.#clock = clock
  }

  /** The platform's time now, or a little less; our own before the first message. */
  now(): number {
    const known = this.#known
    return known === undefined ? this.#clock.now() : known.at + this.#clock.elapsed() - known.elapsed
  }

  /** A message of this time came in. */
  proveUpTo(at: number): void {
    if (this.#known === undefined || at > this.now()) this.#known = { at, elapsed: this.#clock.elapsed() }
  }

  async load(): Promise<void> {
    const seen = await this.#state.get(SEEN_KEY)
    if (seen !== undefined) this.#at = Number(seen)
  }

  /** Undefined before the first time; never a time yet to come, which a clock that was wrong may have left. */
  get at(): number | undefined {
    return this.#at === undefined ? undefined : Math.min(this.#at, this.now())
  }

  /** Stores that everything up to `at` arrived; call after the channels added by then were stored. */
  async saw(at: number): Promise<void> {
    this.#at = at
    await this.#state.set(SEEN_KEY, String(at))
  }

  /** Notes that everything up to now arrived; nothing is stored of it yet. */
  received(): void {
    this.#receivedAt = this.now()
  }

  /** Stores up to when everything arrived, if that is news. */
  async storeReceived(): Promise<void> {
    if (this.#receivedAt !== undefined && this.#receivedAt !== this.#at) await this.saw(this.#receivedAt)
  }
}
