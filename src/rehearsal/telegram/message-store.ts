import type { UploadedFile } from '../uploads.ts'
import type { ApiMessage } from './api-types.ts'
import type { MessageEntry, TelegramLedger } from './ledger-entries.ts'

/** A message as it is now, with its earlier texts. */
export interface StoredMessage {
  message: ApiMessage
  /** The bot that wrote it, or null for a person. */
  readonly botId: number | null
  deleted: boolean
  /** Every text it had, the present one last; `at` in milliseconds. */
  readonly history: { readonly at: number; readonly text: string }[]
  /** The emoji that each bot has put on it. */
  readonly reactions: Map<number, string>
}

export interface MessageFilter {
  /** A thread id; null for messages in no topic; all if absent. */
  topic?: number | null
  by?: 'bot' | 'person'
  deleted?: boolean
}

/** The messages of one chat, deleted ones kept for the record. */
export class MessageStore {
  readonly #ledger: TelegramLedger
  readonly #now: () => number
  readonly #byId = new Map<number, StoredMessage>()
  #lastId = 0

  constructor(ledger: TelegramLedger, now: () => number) {
    this.#ledger = ledger
    this.#now = now
  }

  nextId(): number {
    return ++this.#lastId
  }

  /** Returns a message that exists (deleted ones do not). */
  find(messageId: number | undefined): StoredMessage | undefined {
    if (messageId === undefined) return undefined
    const stored = this.#byId.get(messageId)
    return stored?.deleted === true ? undefined : stored
  }

  list(filter: MessageFilter = {}): StoredMessage[] {
    return [...this.#byId.values()].filter((stored) => matches(stored, filter))
  }

  add(message: ApiMessage, botId: number | null, file?: UploadedFile): void {
    const at = this.#now()
    const history = [{ at, text: textOf(message) }]
    this.#byId.set(message.message_id, { message, botId, deleted: false, history, reactions: new Map() })
    this.#ledger.append({ ...entryOf(message, { at, change: 'sent', botId }), ...(file === undefined ? {} : { file }) })
  }

  replace(stored: StoredMessage, message: ApiMessage, botId: number | null): void {
    const at = this.#now()
    stored.message = message
    stored.history.push({ at, text: textOf(message) })
    this.#ledger.append(entryOf(message, { at, change: 'edited', botId }))
  }

  remove(stored: StoredMessage, botId: number | null): void {
    stored.deleted = true
    this.#ledger.append(entryOf(stored.message, { at: this.#now(), change: 'deleted', botId }))
  }
}

/** Returns the topic of a message; null for the General topic and chats without topics. */
export function topicOf(message: ApiMessage): number | null {
  return message.is_topic_message === true ? (message.message_thread_id ?? null) : null
}

function textOf({ text, caption }: ApiMessage): string {
  return text ?? caption ?? ''
}

function matches({ message, botId, deleted }: StoredMessage, filter: MessageFilter): boolean {
  if (deleted !== (filter.deleted ?? false)) return false
  if (filter.topic !== undefined && topicOf(message) !== filter.topic) return false
  return filter.by === undefined || (botId === null ? 'person' : 'bot') === filter.by
}

function entryOf(
  message: ApiMessage,
  change: { at: number; change: MessageEntry['change']; botId: number | null },
): MessageEntry {
  return {
    kind: 'message',
    at: change.at,
    change: change.change,
    botId: change.botId,
    chatId: message.chat.id,
    topic: topicOf(message),
    messageId: message.message_id,
    text: textOf(message),
    message,
  }
}
