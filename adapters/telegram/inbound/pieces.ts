import { LRUCache } from 'lru-cache'
import { formatAddress } from '../../../src/core/address.ts'
import type { InboundEvent, InboundMessage } from '../../../src/core/message.ts'
import { isFields } from '../../shared/fields.ts'

/** Clients cut a text that is too long for one message before its 4,096th character, mostly between words. */
const LONG_TEXT = 3_900
/** Seconds between the stamps of two pieces; they are whole seconds, and clients send at once. */
const LONGEST_GAP_MS = 2_000
const MOST_SENDERS = 1_000

interface Begun {
  readonly of: string
  readonly sentAt: number
  readonly mentioned: boolean
  readonly more: boolean
}

/**
 * Recognises what people send as one and the platform takes apart: albums, and pasted texts that are too long. A piece
 * of what addresses the bot addresses it as well. What a restart forgets comes as messages of their own.
 */
export class Pieces {
  readonly #begun = new LRUCache<string, Begun>({ max: MOST_SENDERS })

  /** Returns the event with the mark of a piece; any other as it is. */
  mark(event: InboundEvent, update: unknown): InboundEvent {
    if (event.kind !== 'message') return event
    const place = `${formatAddress(event.address)} ${event.sender.id}`
    const album = albumOf(update)
    const before = this.#begun.get(place)
    const of = album === undefined ? this.#textOf(event, before) : `album:${album}`
    if (of === undefined) {
      if (before !== undefined) this.#begun.delete(place)
      return event
    }
    const continues = before?.of === of
    const mentioned = event.mentioned || (continues && before.mentioned)
    const more = album !== undefined || isLong(event)
    this.#begun.set(place, { of, sentAt: event.sentAt, mentioned, more })
    // Numbers of messages are of one chat, and a session may join several.
    return { ...event, mentioned, piece: { of: `${of} ${place}`, more, ...(continues ? { begun: true } : {}) } }
  }

  #textOf(event: InboundMessage, before: Begun | undefined): string | undefined {
    if (event.attachments.length > 0) return undefined
    const continues = before?.more === true && before.of.startsWith('text:')
    if (continues && event.sentAt - before.sentAt <= LONGEST_GAP_MS) return before.of
    return isLong(event) ? `text:${event.messageId}` : undefined
  }
}

function isLong({ text }: InboundMessage): boolean {
  return text.length >= LONG_TEXT
}

function albumOf(update: unknown): string | undefined {
  const message = isFields(update) ? (update.message ?? update.channel_post) : undefined
  const id = isFields(message) ? message.media_group_id : undefined
  return typeof id === 'string' && id.length <= 64 ? id : undefined
}
