import type { ChannelState } from '../../../src/channels/adapter.ts'
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

/** When the gateway was last known to tell us everything, ms since the epoch. */
export class Seen {
  readonly #state: ChannelState
  #at: number | undefined
  #heardAt = 0

  constructor(state: ChannelState) {
    this.#state = state
  }

  async load(): Promise<void> {
    const seen = await this.#state.get(SEEN_KEY)
    if (seen !== undefined) this.#at = Number(seen)
  }

  /** Undefined before the first time. */
  get at(): number | undefined {
    return this.#at
  }

  /** Stores that everything up to `at` was told; call after the channels added by then were stored. */
  async saw(at: number): Promise<void> {
    this.#at = at
    await this.#state.set(SEEN_KEY, String(at))
  }

  /** Everything up to this time was told; nothing is stored of it yet. */
  heard(at: number): void {
    this.#heardAt = at
  }

  /** Stores up to when everything was told, if that is news. */
  async keepHeard(): Promise<void> {
    if (this.#heardAt > (this.#at ?? 0)) await this.saw(this.#heardAt)
  }
}
