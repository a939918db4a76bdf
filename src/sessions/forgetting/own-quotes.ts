import type { Address } from '../../core/address.ts'
import { type Channels, countsByBot } from '../../core/channel-traits.ts'
import { addressThen, type TimedMove } from '../../core/chat-move.ts'
import type { PostedData, SessionEvent, UserMessageData } from '../../core/event.ts'
import { quotesOtherBot, type Sender } from '../../core/message.ts'
import { isWithin, sendingSpan, type TimeSpan } from '../../core/sending-span.ts'
import type { SentRow } from '../../store/forget-port.ts'

/** The chat in which something was said. */
type Chat = Pick<Address, 'channel' | 'account' | 'chat'>

/** A quotation, and in which chat it was said when: ms since the epoch. */
interface SaidQuote {
  readonly quoted: UserMessageData['quoted']
  readonly attachments?: UserMessageData['attachments']
  readonly chat: Address | undefined
  readonly at: number
}

interface Noted {
  readonly messageId: string
  readonly chat: Address
  readonly at: number
  /** It may be of another bot of ours: the platform calls its writer a bot, and no more. */
  readonly other: boolean
  /** When the quoted message was sent, ms since the epoch, where the platform has said it. */
  readonly sentAt: number | undefined
}

/** Texts of ours that go, by which it is known what quotes them. */
export class OwnTexts {
  readonly #channels: Pick<Channels, 'traits'>
  /** Their names in their chats, with the account of the bot and without. */
  readonly #names = new Set<string>()
  readonly #byAnyBot = new Set<string>()
  /** When they were sent to groups in which each bot counts messages by itself. */
  readonly #spans = new Map<string, TimeSpan[]>()

  constructor(channels: Pick<Channels, 'traits'>) {
    this.#channels = channels
  }

  add({ address, messageId, at, startedAt }: Pick<SentRow, 'address' | 'messageId' | 'at' | 'startedAt'>): void {
    if (messageId === undefined) return
    const name = ownName(address, messageId)
    this.#names.add(name)
    if (!countsByBot(this.#channels, address)) this.#byAnyBot.add(byAnyBot(name))
    else this.#addSpan(groupOf(address), sendingSpan(at, startedAt))
  }

  /** Texts come in order, so that those of a talk have one span: a long one is looked through for each quotation. */
  #addSpan(group: string, span: TimeSpan): void {
    const spans = this.#spans.get(group) ?? []
    const last = spans.at(-1)
    if (last === undefined || !isWithin(last, span.from)) spans.push(span)
    else spans[spans.length - 1] = { from: last.from, to: Math.max(last.to, span.to) }
    this.#spans.set(group, spans)
  }

  isOneOf(name: string): boolean {
    return this.#names.has(name)
  }

  /** Returns true for the name that one has for another bot; none where each bot counts messages by itself. */
  isOneByAnyBot(name: string): boolean {
    return this.#byAnyBot.has(byAnyBot(name))
  }

  /** Returns true where another bot may quote one; an older log does not say when what is quoted was sent. */
  mayBeOneOf(chat: Address, { messageId, sentAt, at }: Pick<Noted, 'messageId' | 'sentAt' | 'at'>): boolean {
    if (!countsByBot(this.#channels, chat)) return this.isOneByAnyBot(ownName(chat, messageId))
    return this.#sentTo(chat).some((span) => (sentAt === undefined ? span.from <= at : isWithin(span, sentAt)))
  }

  #sentTo(chat: Address): readonly TimeSpan[] {
    return this.#spans.get(groupOf(chat)) ?? []
  }
}

/** Remembers what quotes messages of ours, until it is known which of these go. */
export class OwnQuotes<Key> {
  readonly #of = new Map<Key, Noted>()

  note(key: Key, { quoted, attachments = [], chat, at }: SaidQuote): void {
    const other = quotesOtherBot(quoted, chat)
    if (quoted === undefined || (quoted.text === undefined && !attachments.some((file) => file.quoted))) return
    if (chat && (quoted.own || other))
      this.#of.set(key, { messageId: quoted.messageId, sentAt: quoted.sentAt, chat, at, other })
  }

  /** Returns what quotes one of these, in chats some of which got a new id. */
  among(own: OwnTexts, moves: readonly TimedMove[]): readonly Key[] {
    const isOne = (one: Noted): boolean => {
      const then = addressThen(one.chat, moves, one.at)
      return one.other ? own.mayBeOneOf(then, one) : own.isOneOf(ownName(then, one.messageId))
    }
    return [...this.#of].filter(([, one]) => isOne(one)).map(([key]) => key)
  }
}

/** Remembers messages of bots in groups, until it is known which of them are ours that go, as another bot has them. */
export class CopiesOfOurs<Key> {
  readonly #of = new Map<Key, string>()

  note(key: Key, messageId: string | undefined, { kind }: Sender, chat: Address | undefined): void {
    if (kind === 'bot' && messageId !== undefined && chat !== undefined && chat.chatType !== 'direct')
      this.#of.set(key, ownName(chat, messageId))
  }

  among(own: OwnTexts): readonly Key[] {
    return [...this.#of].filter(([, name]) => own.isOneByAnyBot(name)).map(([key]) => key)
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

function groupOf({ channel, chat }: Address): string {
  return `${channel}:${chat}`
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
