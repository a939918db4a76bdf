import { LRUCache } from 'lru-cache'
import { type Fields, isFields } from '../../shared/fields.ts'
import { isStamp } from '../address.ts'
import type { SlackClient } from '../connection/client.ts'
import type { ChatPositions, KnownChat } from './positions.ts'
import { innerEvent } from './read-event.ts'
import type { OwnBot } from './reading.ts'

interface Ports {
  readonly client: SlackClient
  readonly positions: ChatPositions
  readonly bot: OwnBot
}

const DEADLINE_MS = 15_000
const MOST_KEPT = 5000
/** Enough to look past our own answers. */
const LIMIT = 15

/**
 * Looks in the history for messages that should have come as events and did not. What comes depends on what the app is
 * subscribed to, which it cannot ask: a direct chat comes whole, a channel where a message of it came in this run, and
 * elsewhere what mentions us.
 */
export class Unreceived {
  readonly #ports: Ports
  /** The newest message that came of each channel that comes whole. */
  readonly #came = new LRUCache<string, string>({ max: MOST_KEPT })

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Called with each body that came by an event. */
  received(body: unknown): void {
    const event = innerEvent(body)
    if (event?.type !== 'message' || typeof event.channel !== 'string' || !isStamp(event.ts)) return
    const { channel, ts } = event
    if (ts > (this.#came.peek(channel) ?? '')) this.#came.set(channel, ts)
  }

  /** Returns whether the conversation that spoke last shows a message that did not come. */
  async look(signal: AbortSignal): Promise<boolean> {
    const chat = this.#ports.positions.values().at(-1)
    if (chat === undefined) return false
    const args = { channel: chat.id, limit: LIMIT }
    const outcome = await this.#ports.client.call('conversations.history', args, { signal, deadlineMs: DEADLINE_MS })
    const messages = outcome.kind === 'answered' ? outcome.result.messages : undefined
    return Array.isArray(messages) && messages.some((message) => isFields(message) && this.#isUntold(message, chat))
  }

  #isUntold({ ts, user, text, subtype, bot_id: writtenBy }: Fields, { id, chatType }: KnownChat): boolean {
    const { positions, bot } = this.#ports
    const came = this.#came.peek(id)
    const known = [positions.of(id) ?? '', came ?? ''].sort().at(-1) ?? ''
    if (!isStamp(ts) || ts <= known) return false
    if (subtype !== undefined || writtenBy !== undefined || user === bot.userId) return false
    const comesWhole = chatType === 'direct' || came !== undefined
    return comesWhole || (typeof text === 'string' && text.includes(`<@${bot.userId}>`))
  }
}
