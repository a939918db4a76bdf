import type { ChannelState } from '../../src/channels/adapter.ts'

/** Defines how an adapter stores one conversation. */
export interface ChatForm<T> {
  /** The first part of the keys of the pages; alone, the key of the one list that earlier versions kept. */
  readonly key: string
  /** The key of the conversation's read position, which goes when the conversation does. */
  positionKey(id: string): string
  /** Returns undefined for what cannot be read. */
  read(stored: unknown): Promise<ReadChat<T> | undefined>
  write(chat: T): unknown
}

interface ReadChat<T> {
  readonly chat: T
  /** When its latest message came, in any measure that grows with the time. */
  readonly receivedAt: number
}

interface Kept<T> {
  readonly chat: T
  readonly page: number
}

/** More conversations than one bot is spoken to in by people who are not strangers. */
const MOST_CHATS = 5000
const PAGE = 20

/**
 * The conversations that an account remembers. They are stored in small pages, so that a new one costs one page however
 * many there are. Beyond `MOST_CHATS` the one longest without a message is forgotten, along with its position. A
 * cache in memory would forget them all at a restart (decision 0017).
 */
export class KnownChats<T extends { readonly id: string }> {
  readonly #state: ChannelState
  readonly #form: ChatForm<T>
  /** The one in which something was said last is at the end. */
  readonly #chats = new Map<string, Kept<T>>()
  readonly #pages: Set<string>[] = []
  readonly #changed = new Set<number>()
  /** Forgotten, with a position that is still stored. */
  readonly #dropped = new Set<string>()
  #writing: Promise<void> = Promise.resolve()
  #writes = 0

  constructor(state: ChannelState, form: ChatForm<T>) {
    this.#state = state
    this.#form = form
  }

  async load(): Promise<void> {
    const { key } = this.#form
    const found = await this.#readPages()
    const old = await this.#state.get(key)
    for (const read of old === undefined ? [] : await this.#readAll(old))
      if (!found.has(read.chat.id)) found.set(read.chat.id, read)
    const ordered = [...found.values()].sort((a, b) => a.receivedAt - b.receivedAt)
    const tooMany = ordered.splice(0, Math.max(0, ordered.length - MOST_CHATS))
    for (const { chat, page } of tooMany) this.#forget(chat.id, page)
    for (const { chat, page } of ordered) this.#keep(chat, page)
    await this.write()
    // It goes last: a crash before this leaves both, which are then put together again.
    if (old !== undefined) await this.#state.delete(key)
  }

  get(id: string): T | undefined {
    return this.#chats.get(id)?.chat
  }

  has(id: string): boolean {
    return this.#chats.has(id)
  }

  values(): readonly T[] {
    return [...this.#chats.values()].map(({ chat }) => chat)
  }

  /** True if everything is stored. */
  get stored(): boolean {
    return this.#changed.size === 0 && this.#dropped.size === 0 && this.#writes === 0
  }

  /** Called when a conversation says something: it is then the last to be forgotten. */
  received(id: string): void {
    const kept = this.#chats.get(id)
    if (kept === undefined) return
    this.#chats.delete(id)
    this.#chats.set(id, kept)
  }

  /** Remembers one met for the first time. It is not remembered where `waits` holds for all that are. */
  add(chat: T, waits: (id: string) => boolean): void {
    if (this.#chats.has(chat.id)) return
    if (this.#chats.size >= MOST_CHATS && !this.#makeRoom(waits)) return
    this.#keep(chat)
  }

  /** Stores what changed. Rejects when it could not be stored; it is then stored the next time. */
  async write(): Promise<void> {
    if (this.stored) return
    const work = this.#writing.then(() => this.#flush())
    this.#writes++
    this.#writing = work.catch(() => undefined).finally(() => this.#writes--)
    await work
  }

  #makeRoom(waits: (id: string) => boolean): boolean {
    // While nothing can be stored, what is to be removed does not pile up.
    if (this.#dropped.size >= MOST_CHATS) return false
    for (const [id, { page }] of this.#chats) {
      if (waits(id)) continue
      this.#forget(id, page)
      return true
    }
    return false
  }

  #forget(id: string, page?: number): void {
    this.#chats.delete(id)
    this.#dropped.add(id)
    if (page === undefined) return
    this.#pages[page]?.delete(id)
    this.#changed.add(page)
  }

  #keep(chat: T, stored?: number): void {
    const page = stored ?? this.#roomyPage()
    this.#chats.set(chat.id, { chat, page })
    if (stored !== undefined) return
    this.#pages[page]?.add(chat.id)
    this.#changed.add(page)
  }

  #roomyPage(): number {
    const found = this.#pages.findIndex(({ size }) => size < PAGE)
    return found === -1 ? this.#pages.push(new Set()) - 1 : found
  }

  /**
   * A position goes after the conversation it belongs to, for without it the conversation would be read from its start.
   */
  async #flush(): Promise<void> {
    const { key, positionKey } = this.#form
    for (const page of [...this.#changed].sort((a, b) => a - b))
      await done(this.#changed, page, () => this.#state.set(`${key}:${page}`, this.#textOf(page)))
    for (const id of this.#dropped) {
      await done(this.#dropped, id, async () => {
        if (!this.#chats.has(id)) await this.#state.delete(positionKey(id))
      })
    }
  }

  #textOf(page: number): string {
    const chats = [...(this.#pages[page] ?? [])].flatMap((id) => this.#chats.get(id)?.chat ?? [])
    return JSON.stringify(chats.map((chat) => this.#form.write(chat)))
  }

  async #readPages(): Promise<Map<string, ReadChat<T> & { readonly page?: number }>> {
    const found = new Map<string, ReadChat<T> & { readonly page: number }>()
    for (let page = 0; ; page++) {
      const text = await this.#state.get(`${this.#form.key}:${page}`)
      if (text === undefined) return found
      const chats = await this.#readAll(text)
      for (const read of chats) found.set(read.chat.id, { ...read, page })
      this.#pages.push(new Set(chats.map(({ chat }) => chat.id)))
    }
  }

  /** The list of an earlier version was an array of channels (Discord) or an object of chat types by chat (Slack). */
  async #readAll(text: string): Promise<ReadChat<T>[]> {
    const value: unknown = JSON.parse(text)
    const entries: unknown[] = Array.isArray(value) ? value : Object.entries(Object(value))
    const read = await Promise.all(entries.map((entry) => this.#form.read(entry)))
    return read.filter((chat) => chat !== undefined)
  }
}

/** Takes `item` off the list of what is to be done; it comes back when the work fails. */
async function done<K>(list: Set<K>, item: K, work: () => Promise<void>): Promise<void> {
  list.delete(item)
  try {
    await work()
  } catch (error) {
    list.add(item)
    throw error
  }
}
