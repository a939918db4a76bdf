import type { ChannelCursor, ChannelState } from '../../src/channels/adapter.ts'
import { KnownChats } from './known-chats.ts'

/** A conversation as an account remembers it. */
export interface KnownConversation {
  readonly id: string
  /** Nothing up to this message is ours to answer; absent where a conversation begins with its first message stored. */
  readonly after?: string
}

/** Defines how a platform stores conversations and orders messages. */
export interface PositionForm<T extends KnownConversation> {
  /** The first part of the keys under which conversations are stored. */
  readonly listKey: string
  positionKey(id: string): string
  isMessageId(value: unknown): value is string
  /** Returns true if a message came later than another of the same conversation. */
  isNewer(id: string, than: string): boolean
  timeOf(id: string): number
  /** Returns undefined for what cannot be read. */
  read(stored: unknown): T | undefined
  write(chat: T): unknown
}

/**
 * Remembers how far each conversation has been read. A position is committed with the message that moves it
 * (`cursorFor`, then `moved`), and moves only over received messages: while a conversation is held it stays, because
 * missing messages are read back from there. 5,000 conversations are remembered; see `KnownChats`.
 */
export class Positions<T extends KnownConversation> {
  readonly #state: ChannelState
  readonly #form: PositionForm<T>
  readonly #chats: KnownChats<T>
  /** The newest message dealt with; goes when the conversation is forgotten. */
  readonly #newest = new WeakMap<T, string>()
  /** The position of each held conversation when it was held. */
  readonly #held = new Map<string, string | undefined>()

  constructor(state: ChannelState, form: PositionForm<T>) {
    this.#state = state
    this.#form = form
    this.#chats = new KnownChats(state, {
      key: form.listKey,
      positionKey: (id) => form.positionKey(id),
      write: (chat) => form.write(chat),
      read: (stored) => this.#read(stored),
    })
  }

  load(): Promise<void> {
    return this.#chats.load()
  }

  get(id: string): T | undefined {
    return this.#chats.get(id)
  }

  /** All that are remembered; the one that spoke last is the last. */
  values(): readonly T[] {
    return this.#chats.values()
  }

  /**
   * Adds conversations met for the first time; the rest is left as it is. One too many takes the place of the one
   * longest without a message for which `waits` does not hold. `write` stores them.
   */
  meet(chats: readonly T[], waits: (id: string) => boolean): void {
    for (const chat of chats) this.#chats.add(chat, (id) => this.#held.has(id) || waits(id))
  }

  /** Called with each message; returns whether its conversation is known and stored. */
  received(id: string): boolean {
    this.#chats.received(id)
    return this.#chats.has(id) && this.#chats.stored
  }

  /** Stores what was met. Rejects when it could not be stored; it is then tried again with the next. */
  write(): Promise<void> {
    return this.#chats.write()
  }

  /** The message up to which everything was seen: reading back begins there. Undefined: it was never read. */
  of(id: string): string | undefined {
    return this.#held.has(id) ? this.#held.get(id) : this.#latest(id)
  }

  /** Returns what is to be committed with a message; undefined where the position is not to move. */
  cursorFor(id: string, messageId: string): ChannelCursor | undefined {
    if (this.#held.has(id) || !this.#isNews(id, messageId)) return undefined
    return { key: this.#form.positionKey(id), value: messageId }
  }

  /** Called once a message is committed, also while its conversation is held: `release` then stores it. */
  moved(id: string, messageId: string): void {
    const chat = this.#chats.get(id)
    if (chat !== undefined && this.#isNews(id, messageId)) this.#newest.set(chat, messageId)
  }

  /** Moves a position over messages that were seen and are none of ours, and stores it. */
  async pass(id: string, messageId: string): Promise<void> {
    const cursor = this.cursorFor(id, messageId)
    if (cursor === undefined) return
    await this.#state.set(cursor.key, cursor.value)
    this.moved(id, messageId)
  }

  /** Something of the conversation may be missing: from here on its stored position stays where it is. */
  hold(id: string): void {
    if (!this.#held.has(id)) this.#held.set(id, this.#latest(id))
  }

  /** Holds every conversation that was ever read, and returns all that are held. */
  holdAll(): readonly T[] {
    for (const { id } of this.values()) if (this.#latest(id) !== undefined) this.hold(id)
    return this.values().filter(({ id }) => this.#held.has(id))
  }

  /** Everything up to the newest message was seen: the position moves there. Stays held when it could not be stored. */
  async release(id: string): Promise<void> {
    const chat = this.#chats.get(id)
    const newest = chat && this.#newest.get(chat)
    if (newest !== undefined) await this.#state.set(this.#form.positionKey(id), newest)
    this.#held.delete(id)
  }

  #latest(id: string): string | undefined {
    const chat = this.#chats.get(id)
    return chat && (this.#newest.get(chat) ?? chat.after)
  }

  #isNews(id: string, messageId: string): boolean {
    if (!this.#chats.has(id)) return false
    const position = this.#latest(id)
    return position === undefined || this.#form.isNewer(messageId, position)
  }

  async #read(stored: unknown): Promise<{ readonly chat: T; readonly receivedAt: number } | undefined> {
    const chat = this.#form.read(stored)
    if (chat === undefined) return undefined
    const newest = await this.#state.get(this.#form.positionKey(chat.id))
    // One stored before the conversation was met is left from when it was known before.
    const isOlder =
      chat.after !== undefined && this.#form.isMessageId(newest) && !this.#form.isNewer(newest, chat.after)
    if (this.#form.isMessageId(newest) && !isOlder) this.#newest.set(chat, newest)
    const position = this.#newest.get(chat) ?? chat.after
    return { chat, receivedAt: position === undefined ? 0 : this.#form.timeOf(position) }
  }
}
