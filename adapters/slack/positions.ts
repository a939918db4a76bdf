import type { ChannelCursor, ChannelState } from '../../src/channels/adapter.ts'
import type { ChatType } from '../../src/core/address.ts'
import { isStamp } from './address.ts'
import { isFields } from './fields.ts'

/** A conversation whose latest messages may have been missed. */
export interface Gap {
  readonly chat: string
  readonly chatType: ChatType
  /** The last message that was dealt with. */
  readonly after: string
}

interface KnownChat {
  readonly chatType: ChatType
  /** The newest message stored; absent: none yet. */
  newest?: string
}

/** Everything known, under one key: the small memory of an account has no list. */
const STATE_KEY = 'chats'

/**
 * How far each conversation has been read, threads included. The position is committed with each message; while a
 * conversation is being read back it stays where it was, so that a crash then loses nothing.
 */
export class Positions {
  readonly #state: ChannelState
  readonly #chats = new Map<string, KnownChat>()
  readonly #behind = new Map<string, Gap>()
  #unwritten = false

  constructor(state: ChannelState) {
    this.#state = state
  }

  async load(): Promise<void> {
    const text = await this.#state.get(STATE_KEY)
    const entries: unknown = text === undefined ? {} : JSON.parse(text)
    for (const [chat, chatType] of isFields(entries) ? Object.entries(entries) : []) {
      if (!isChatType(chatType)) continue
      const newest = await this.#state.get(keyOf(chat))
      this.#chats.set(chat, isStamp(newest) ? { chatType, newest } : { chatType })
    }
  }

  /** Adds a conversation met for the first time; it is read from here on. */
  meet(chat: string, chatType: ChatType): void {
    if (this.#chats.has(chat)) return
    this.#chats.set(chat, { chatType })
    this.#unwritten = true
  }

  /** Keeps what was met. Rejects when it could not be stored; it is then tried again. */
  async write(): Promise<void> {
    if (!this.#unwritten) return
    this.#unwritten = false
    const all = [...this.#chats].map(([id, known]) => [id, known.chatType])
    try {
      await this.#state.set(STATE_KEY, JSON.stringify(Object.fromEntries(all)))
    } catch (error) {
      this.#unwritten = true
      throw error
    }
  }

  /** To be committed with a message; undefined where the position is not to move. */
  cursorFor(chat: string, ts: string): ChannelCursor | undefined {
    const newest = this.#chats.get(chat)?.newest
    const moves = !this.#behind.has(chat) && (newest === undefined || ts > newest)
    return moves ? { key: keyOf(chat), value: ts } : undefined
  }

  /** A message was stored. */
  moved(chat: string, ts: string): void {
    const known = this.#chats.get(chat)
    if (known !== undefined && (known.newest === undefined || ts > known.newest)) known.newest = ts
  }

  /** Nothing was heard for a while: every conversation that was ever read has to be read back. */
  fallBehind(): readonly Gap[] {
    for (const [chat, { chatType, newest: after }] of this.#chats) {
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

function isChatType(value: unknown): value is ChatType {
  return value === 'direct' || value === 'group' || value === 'channel'
}
