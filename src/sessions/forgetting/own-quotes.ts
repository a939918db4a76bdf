import type { Address } from '../../core/address.ts'
import type { PostedData, SessionEvent, UserMessageData } from '../../core/event.ts'

/** The chat in which something was said. */
type Chat = Pick<Address, 'channel' | 'account' | 'chat'>

/** Remembers what quotes messages of ours, until it is known which of these go. */
export class OwnQuotes<Key> {
  readonly #of = new Map<Key, string>()

  note(key: Key, { quoted }: Pick<UserMessageData, 'quoted'>, at: Chat | undefined): void {
    if (quoted?.own && quoted.text !== undefined && at) this.#of.set(key, ownName(at, quoted.messageId))
  }

  /** Returns what quotes one of these. */
  among(own: ReadonlySet<string>): readonly Key[] {
    return [...this.#of].filter(([, name]) => own.has(name)).map(([key]) => key)
  }
}

/** Returns the name of a text of ours by the work that it is of, for logs that do not say in which chat it was said. */
export function postName({ traceId, messageId = '' }: Pick<PostedData, 'traceId' | 'messageId'>): string {
  return `${traceId} ${messageId}`
}

/** Returns the name of a message of ours: its number is one of its chat. */
export function ownName({ channel, account, chat }: Chat, messageId: string): string {
  return `${channel}:${account}:${chat}:${messageId}`
}

/** Remembers the texts that other sessions have said in a log, until it is known which of them go. */
export class PostedTexts {
  readonly #of = new Map<string, number>()

  note({ type, seq, data }: SessionEvent): void {
    if (type === 'assistant_posted') this.#of.set(postName(data), seq)
  }

  among(names: ReadonlySet<string>): readonly number[] {
    return [...this.#of].filter(([name]) => names.has(name)).map(([, seq]) => seq)
  }
}
