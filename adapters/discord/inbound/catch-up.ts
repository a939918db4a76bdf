import pLimit from 'p-limit'
import type { ChannelSink } from '../../../src/channels/adapter.ts'
import { answeredAmong, type Budget, readBack, reportUnread } from '../../shared/read-back.ts'
import { isNewer } from '../address.ts'
import type { DiscordClient } from '../connection/client.ts'
import { MOST_PER_CHANNEL, pagesOf } from './back-fill.ts'
import type { ChannelPositions } from './positions.ts'
import { answeredBy } from './read-event.ts'

export interface ReadBack {
  readonly message: unknown
  /** An answer of ours to it was read back too. */
  readonly answered: boolean
}

interface Ports {
  readonly botId: string
  readonly client: DiscordClient
  readonly signal: AbortSignal
  readonly positions: ChannelPositions
  readonly sink: Pick<ChannelSink, 'unknown' | 'notifyOwners'>
  /** The receiver of live messages; moves the position. Rejects when it could not be stored. */
  take(channelId: string, messageId: string, read: ReadBack): Promise<void>
}

/** Channels read back at a time: the platform takes 50 requests a second, and answers have to leave too. */
const AT_ONCE = 5

/** Reads a channel back from its position. */
export class CatchUp {
  readonly #ports: Ports
  readonly #slots = pLimit(AT_ONCE)

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** `newest`: its newest message, where that is known. Rejects when it is to be done again. */
  async run(channelId: string, budget: Budget, newest?: string): Promise<void> {
    const { botId, signal, positions, sink, take } = this.#ports
    const position = positions.of(channelId)
    if (position === undefined || (newest !== undefined && !isNewer(newest, position))) return
    const bound = { most: MOST_PER_CHANNEL, budget }
    const { messages, left } = await this.#slots(() => readBack(pagesOf(this.#ports, channelId), position, bound))
    const answered = answeredAmong(messages, (message) => answeredBy(message, botId))
    for (const { id, message } of messages) await take(channelId, id, { message, answered: answered.has(id) })
    const last = messages.at(-1)?.id
    signal.throwIfAborted()
    // The last message was not for us, such as our own answer, and need not be read again.
    if (last !== undefined) await positions.pass(channelId, last)
    reportUnread(sink, { left, platform: 'Discord', most: MOST_PER_CHANNEL })
  }
}
