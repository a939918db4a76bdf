import type { ChannelSink } from '../../../src/channels/adapter.ts'
import type { ChatType } from '../../../src/core/address.ts'
import { KeyedQueue } from '../../shared/keyed-queue.ts'
import { answeredAmong, readBack, reportUnread } from '../../shared/read-back.ts'
import type { RetryPorts } from '../../shared/until-done.ts'
import type { SlackClient } from '../connection/client.ts'
import { backFill, MOST_PER_CHAT } from './back-fill.ts'
import type { Accept } from './event-receiver.ts'
import type { ChatPositions, KnownChat } from './positions.ts'
import { answeredBy } from './read-message.ts'
import type { OwnBot } from './reading.ts'

interface Ports extends RetryPorts {
  readonly client: SlackClient
  readonly positions: ChatPositions
  readonly bot: OwnBot
  /** The receiver of live events. Rejects when it could not be stored. */
  readonly accept: Accept
  readonly sink: Pick<ChannelSink, 'unknown' | 'notifyOwners'>
}

const WORDS: Readonly<Record<ChatType, string>> = { direct: 'im', group: 'mpim', channel: 'channel' }
/** One conversation after another: what the platform lets be asked is counted for all of them. */
const ALL = 'all'

/** Reads back what was missed, one conversation after another, beside what is said live. Never rejects. */
export class CatchUp {
  readonly #ports: Ports
  readonly #queue: KeyedQueue

  constructor(ports: Ports) {
    this.#ports = ports
    const { clock, signal } = ports
    const random = () => ports.random()
    // Every conversation known may wait, and none is dropped.
    const mostWaiting = Number.POSITIVE_INFINITY
    const makeUp = () => () => Promise.resolve()
    this.#queue = new KeyedQueue({ clock, signal, random, mostWaiting, makeUp, failed: () => {} })
  }

  /** At a start, and after an interruption in which the platform may have given up. */
  begin(): void {
    for (const chat of this.#ports.positions.holdAll()) this.#queue.push(ALL, () => this.#readBack(chat))
  }

  /** Messages that were read before a failure repeat the next time. */
  async #readBack({ id: channel, chatType }: KnownChat): Promise<void> {
    const { accept, bot, sink, positions } = this.#ports
    const position = positions.of(channel)
    if (position === undefined) return
    const reader = { read: (after: string) => backFill(this.#ports, channel, after) }
    const bound = { most: MOST_PER_CHAT, budget: { left: MOST_PER_CHAT } }
    const { messages, left } = await readBack(reader, position, bound)
    const answered = answeredAmong(messages, (message) => answeredBy(message, bot))
    for (const { id, message } of messages) {
      const event = { ...message, channel, channel_type: WORDS[chatType] }
      await accept({ type: 'event_callback', event }, { answered: answered.has(id) })
    }
    await positions.release(channel)
    reportUnread(sink, { left, platform: 'Slack', most: MOST_PER_CHAT })
  }
}
