import type { ChannelCursor, ChannelState } from '../../../src/channels/adapter.ts'
import type { ChatType } from '../../../src/core/address.ts'
import { KnownChats } from '../../shared/known-chats.ts'
import { isStamp } from '../address.ts'

/** A conversation whose latest messages may have been missed. */
export interface Gap {
  readonly chat: string
  readonly chatType: ChatType
  /** The last message that was dealt with. */
  readonly after: string
}

interface KnownChat {
  readonly id: string
  readonly chatType: ChatType
  /** The newest message stored; absent: none yet. */
  newest?: string
}

/**
 * How far each conversation has been read, threads included. The position is committed with each message; while a
 * conversation is being read back it stays where it was, so that a crash then loses nothing.
 */
export class Positions {
  readonly #state: ChannelState
  readonly #chats: KnownChats<KnownChat>
  readonly #behind = new Map<string, Gap>()

  constructor(state: ChannelState) {
    this.#state = state
    this.#chats = new KnownChats(state, {
      key: 'chats',
      positionKey: keyOf,
      write: ({ id, chatType }) => [id, chatType],
      read: (stored) => readChat(state, stored),
    })
  }

  load(): Promise<void> {
    return this.#chats.load()
  }

  /**
   * Adds a conversation met for the first time; it is read from here on. One too many takes the place of the conversation
   * longest without a message that is not being read back.
   */
  meet(chat: string, chatType: ChatType): void {
    if (this.#chats.has(chat)) this.#chats.heard(chat)
    else this.#chats.add({ id: chat, chatType }, (id) => this.#behind.has(id))
  }

  /** Keeps what was met. Rejects when it could not be stored; it is then tried again. */
  write(): Promise<void> {
    return this.#chats.write()
  }

  /** To be committed with a message; undefined where the position is not to move. */
  cursorFor(chat: string, ts: string): ChannelCursor | undefined {
    const known = this.#chats.get(chat)
    if (known === undefined || this.#behind.has(chat)) return undefined
    const moves = known.newest === undefined || ts > known.newest
    return moves ? { key: keyOf(chat), value: ts } : undefined
  }

  /** A message was stored. */
  moved(chat: string, ts: string): void {
    const known = this.#chats.get(chat)
    if (known !== undefined && (known.newest === undefined || ts > known.newest)) known.newest = ts
  }

  /** Nothing was heard for a while: every conversation that was ever read has to be read back. */
  fallBehind(): readonly Gap[] {
    for (const { id: chat, chatType, newest: after } of this.#chats.values()) {
      if (after !== undefined && !this.#behind.has(chat)) this.#behind.set(chat, { chat, chatType, after })
    }
    return [...this.#behind.values()]
  }

  async caughtUp(chat: string): Promise<void> {
    const newest = this.#chats.get(chat)?.newest
    if (newest !== undefined) await this.#state.set(keyOf(chat), newest)
    this.#behind.delete(chat)
  }
}

function keyOf(chat: string): string {
  return `read:${chat}`
}

async function readChat(state: ChannelState, stored: unknown) {
  if (!Array.isArray(stored)) return undefined
  const [id, chatType]: unknown[] = stored
  if (typeof id !== 'string' || !isChatType(chatType)) return undefined
  const newest = await state.get(keyOf(id))
  const chat: KnownChat = isStamp(newest) ? { id, chatType, newest } : { id, chatType }
  return { chat, heardAt: Number(chat.newest ?? 0) }
}

function isChatType(value: unknown): value is ChatType {
  return value === 'direct' || value === 'group' || value === 'channel'
}
