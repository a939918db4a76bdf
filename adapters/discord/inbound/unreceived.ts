import { isNewer, isSnowflake } from '../address.ts'
import type { DiscordClient } from '../connection/client.ts'
import type { GatewayConnection } from '../connection/gateway.ts'
import { type ChannelPositions, directsOf } from './positions.ts'
import { idsOf } from './read-event.ts'

interface Ports {
  readonly client: DiscordClient
  readonly positions: ChannelPositions
  connection(): GatewayConnection | undefined
}

interface Place {
  readonly id: string
  /** The newest message that arrived, or was read back. */
  readonly known: string
}

/** Something is said next where something was said last. */
const PLACES = 5
const DEADLINE_MS = 15_000

/** Looks over REST for messages that the gateway did not bring. */
export class Unreceived {
  readonly #ports: Ports
  /** Places whose messages we may not read. */
  readonly #closed = new Set<string>()

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Returns whether one of the places that spoke last shows a message newer than we know of. */
  async look(signal: AbortSignal): Promise<boolean> {
    const places = this.#places().filter(({ id }) => !this.#closed.has(id))
    places.sort((a, b) => (isNewer(a.known, b.known) ? -1 : 1))
    const found = await Promise.all(places.slice(0, PLACES).map((place) => this.#isBehind(place, signal)))
    return found.includes(true)
  }

  async #isBehind({ id }: Place, signal: AbortSignal): Promise<boolean> {
    const path = `/channels/${id}/messages` as const
    const call = { verb: 'GET', path, query: { limit: '1' } } as const
    const outcome = await this.#ports.client.call(call, { signal, deadlineMs: DEADLINE_MS })
    if (outcome.kind === 'refused' && outcome.retryAfterMs === undefined) this.#closed.add(id)
    const newest = outcome.kind === 'answered' && Array.isArray(outcome.result) && idsOf(outcome.result[0])?.id
    if (typeof newest !== 'string') return false
    // Read now: it may have arrived while we asked.
    const known = this.#places().find((place) => place.id === id)?.known
    return known !== undefined && isNewer(newest, known)
  }

  /**
   * Returns the channels that the gateway shows, with the newest message received in each, and every known direct chat.
   */
  #places(): Place[] {
    const { positions, connection } = this.#ports
    const newest = new Map<string, string | null>()
    for (const { id } of directsOf(positions)) newest.set(id, null)
    for (const { id, lastMessageId } of connection()?.channels() ?? []) newest.set(id, lastMessageId)
    return [...newest].flatMap(([id, last]) => {
      const read = positions.of(id)
      if (last === null || !isSnowflake(last)) return read === undefined ? [] : [{ id, known: read }]
      return [{ id, known: read !== undefined && isNewer(read, last) ? read : last }]
    })
  }
}
