import type { ApiMessage } from './api-types.ts'

/** A message as it is now, with its earlier texts. */
export interface StoredMessage {
  message: ApiMessage
  /** True if the app's bot wrote it. */
  readonly own: boolean
  deleted: boolean
  /** Every text it had, the present one last. */
  readonly history: string[]
  /** Names of emoji that the bot has put on it. */
  readonly reactions: Set<string>
}

export interface MessageFilter {
  /** The ts of a thread's root; null for the channel itself only; all if absent. */
  thread?: string | null
  by?: 'bot' | 'person'
  deleted?: boolean
}

/** The messages of one conversation, deleted ones kept for the record. */
export class MessageStore {
  readonly #byTs = new Map<string, StoredMessage>()

  add(message: ApiMessage, own: boolean): void {
    this.#byTs.set(message.ts, { message, own, deleted: false, history: [message.text], reactions: new Set() })
  }

  /** Returns a message that exists (deleted ones do not). */
  find(ts: string | undefined): StoredMessage | undefined {
    const stored = ts === undefined ? undefined : this.#byTs.get(ts)
    return stored?.deleted === true ? undefined : stored
  }

  replace(stored: StoredMessage, message: ApiMessage): void {
    stored.message = message
    stored.history.push(message.text)
  }

  /** Returns the messages, oldest first. */
  list(filter: MessageFilter = {}): StoredMessage[] {
    return [...this.#byTs.values()].filter(({ message, own, deleted }) => {
      if (deleted !== (filter.deleted ?? false)) return false
      if (filter.thread !== undefined && threadOf(message) !== filter.thread) return false
      return filter.by === undefined || (own ? 'bot' : 'person') === filter.by
    })
  }
}

/** Returns the thread in which a message is a reply; null for a root, also one that has replies. */
export function threadOf(message: ApiMessage): string | null {
  return message.thread_ts === undefined || message.thread_ts === message.ts ? null : message.thread_ts
}
