import { LRUCache } from 'lru-cache'
import { isFields } from '../../shared/fields.ts'
import type { ApiTarget } from '../address.ts'
import { isSnowflake } from '../address.ts'
import type { CallOptions, CallOutcome, DiscordClient } from '../connection/client.ts'

/** More people than ever write to one bot at a time; beyond it the one written to longest ago is asked for again. */
const MOST_KEPT = 10_000

export type Located = { readonly id: string } | { readonly outcome: CallOutcome }

/** A direct chat as the platform shows it; without `lastMessageId` nothing was said in it yet. */
export type Opened = { readonly id: string; readonly lastMessageId?: string } | { readonly outcome: CallOutcome }

/** Knows the channel of each person's direct chat; asks for one it does not know, which opens it. */
export class DirectChannels {
  readonly #client: DiscordClient
  readonly #byPerson = new LRUCache<string, string>({ max: MOST_KEPT })

  constructor(client: DiscordClient) {
    this.#client = client
  }

  learn(person: string, channelId: string): void {
    this.#byPerson.set(person, channelId)
  }

  /**
   * The channel of a target, or why it could not be had. Opening a chat is harmless, so a lost answer is `not sent`.
   */
  async locate(target: ApiTarget, options: CallOptions): Promise<Located> {
    if (target.kind === 'channel') return { id: target.id }
    const known = this.#byPerson.get(target.id)
    if (known !== undefined) return { id: known }
    return this.open(target.id, options)
  }

  /** Asks for the direct chat of a person, which opens it. */
  async open(person: string, options: CallOptions): Promise<Opened> {
    const body = { recipient_id: person }
    const outcome = await this.#client.call({ verb: 'POST', path: '/users/@me/channels', body }, options)
    const channel = outcome.kind === 'answered' && isFields(outcome.result) ? outcome.result : {}
    const { id, last_message_id: last } = channel
    if (!isSnowflake(id))
      return { outcome: outcome.kind === 'failed' ? { ...outcome, bytesMayHaveLeft: false } : outcome }
    this.learn(person, id)
    return isSnowflake(last) ? { id, lastMessageId: last } : { id }
  }
}
