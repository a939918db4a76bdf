import { LRUCache } from 'lru-cache'
import { formatAddress } from '../../../src/core/address.ts'
import type { InboundEvent, InboundMessage } from '../../../src/core/message.ts'
import { type Fields, isFields } from '../../shared/fields.ts'

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
    const long = isLong(update)
    const of = album === undefined ? this.#textOf(event, before, long) : `album:${album}`
    if (of === undefined) {
      if (before !== undefined) this.#begun.delete(place)
      return event
    }
    const continues = before?.of === of
    const mentioned = event.mentioned || (continues && before.mentioned)
    const more = album !== undefined || long
    this.#begun.set(place, { of, sentAt: event.sentAt, mentioned, more })
    // Numbers of messages are of one chat, and a session may join several.
    return { ...event, mentioned, piece: { of: `${of} ${place}`, more, ...(continues ? { begun: true } : {}) } }
  }

  #textOf(event: InboundMessage, before: Begun | undefined, long: boolean): string | undefined {
    if (event.attachments.length > 0) return undefined
    const continues = before?.more === true && before.of.startsWith('text:')
    if (continues && event.sentAt - before.sentAt <= LONGEST_GAP_MS) return before.of
    return long ? `text:${event.messageId}` : undefined
  }
}

/** The text as it was sent counts: addresses and marks that stand in it for whoever reads it make it longer. */
function isLong(update: unknown): boolean {
  const { text } = messageIn(update)
  return typeof text === 'string' && text.length >= LONG_TEXT
}

function messageIn(update: unknown): Fields {
  const message = isFields(update) ? (update.message ?? update.channel_post) : undefined
  return isFields(message) ? message : {}
}

function albumOf(update: unknown): string | undefined {
  const { media_group_id: id } = messageIn(update)
  return typeof id === 'string' && id.length <= 64 ? id : undefined
}
