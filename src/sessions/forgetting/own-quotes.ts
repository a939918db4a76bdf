import type { Address } from '../../core/address.ts'
import { addressThen, type TimedMove } from '../../core/chat-move.ts'
import type { PostedData, SessionEvent, UserMessageData } from '../../core/event.ts'
import { quotesOtherBot } from '../../core/message.ts'

/** The chat in which something was said. */
type Chat = Pick<Address, 'channel' | 'account' | 'chat'>

/** A quotation, and in which chat it was said when: ms since the epoch. */
interface SaidQuote {
  readonly quoted: UserMessageData['quoted']
  readonly chat: Address | undefined
  readonly at: number
}

interface Noted {
  readonly messageId: string
  readonly chat: Address
  readonly at: number
  /** It may be of another bot of ours: the platform calls its writer a bot, and no more. */
  readonly other: boolean
}

/** Remembers what quotes messages of ours, until it is known which of these go. */
export class OwnQuotes<Key> {
  readonly #of = new Map<Key, Noted>()

  note(key: Key, { quoted, chat, at }: SaidQuote): void {
    const other = quotesOtherBot(quoted, chat)
    if (quoted?.text !== undefined && chat && (quoted.own || other))
      this.#of.set(key, { messageId: quoted.messageId, chat, at, other })
  }

  /** Returns what quotes one of these, in chats some of which got a new id. */
  among(own: ReadonlySet<string>, moves: readonly TimedMove[]): readonly Key[] {
    const groups = new Set([...own].map(byAnyBot))
    const isOne = ({ messageId, chat, at, other }: Noted): boolean => {
      const name = ownName(addressThen(chat, moves, at), messageId)
      return other ? groups.has(byAnyBot(name)) : own.has(name)
    }
    return [...this.#of].filter(([, one]) => isOne(one)).map(([key]) => key)
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

/** Returns the name of a message of ours without the account of the bot, in which there is no colon. */
function byAnyBot(name: string): string {
  return name.replace(/^([^:]*):[^:]*/, '$1')
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
