import { LRUCache } from 'lru-cache'
import { isFields } from '../../shared/fields.ts'
import type { ApiTarget } from '../address.ts'
import { isSnowflake } from '../address.ts'
import type { CallOptions, CallOutcome, DiscordClient } from '../connection/client.ts'

/** More people than ever write to one bot at a time; beyond it the one written to longest ago is asked for again. */
const MOST_KEPT = 10_000

export type Located = { readonly id: string } | { readonly outcome: CallOutcome }

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
    const body = { recipient_id: target.id }
    const outcome = await this.#client.call({ verb: 'POST', path: '/users/@me/channels', body }, options)
    const id = outcome.kind === 'answered' && isFields(outcome.result) ? outcome.result.id : undefined
    if (!isSnowflake(id))
      return { outcome: outcome.kind === 'failed' ? { ...outcome, bytesMayHaveLeft: false } : outcome }
    this.learn(target.id, id)
    return { id }
  }
}
