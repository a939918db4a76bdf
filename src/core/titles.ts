import { type Address, type ChatType, formatAddress } from './address.ts'

/**
 * The names of a place, as people read them there: text for people, never an id and never authority. Each is absent
 * where the platform did not say it, which is no reason to forget it.
 */
export interface Titles {
  readonly chat?: string
  readonly topic?: string
  /** The name with which the topic began; it may have got another since. */
  readonly topicBegan?: string
}

/** The longest title that is kept, in UTF-16 units. */
const LONGEST = 80

/** Returns `{ titles }` with one bounded line each, or nothing where no title is given; it never throws. */
export function presentTitles(given: Readonly<Record<keyof Titles, unknown>>): { readonly titles?: Titles } {
  const chat = titleOf(given.chat)
  const topic = titleOf(given.topic)
  const topicBegan = topic === undefined ? titleOf(given.topicBegan) : undefined
  if (chat === undefined && topic === undefined && topicBegan === undefined) return {}
  return {
    titles: {
      ...(chat === undefined ? {} : { chat }),
      ...(topic === undefined ? {} : { topic }),
      ...(topicBegan === undefined ? {} : { topicBegan }),
    },
  }
}

/** Returns a name as one bounded line; undefined where it is no text or nothing is left of it. */
export function titleOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const line = value
    .slice(0, 4 * LONGEST)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  if (line.length <= LONGEST) return line === '' ? undefined : line
  return `${line
    .slice(0, LONGEST - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()}…`
}

/** The places that a session's metadata and key describe. */
export interface Titled {
  readonly displayKey: string
  readonly chatType: ChatType
  readonly metadata: Readonly<Record<string, string>>
}

/**
 * Returns what people call the place of a session: `Club › Rowing` for a topic, the person's name for a direct chat,
 * and the session's key where no name is known.
 */
export function sessionTitle({ displayKey, chatType, metadata }: Titled): string {
  const { chat_title: chat, topic_title: topic, topic_id: topicId, person_name: person } = metadata
  return joined(chatType, { chat, topic, topicId, person }) ?? displayKey
}

/**
 * Returns what people call the place of an address, by the metadata of a session; undefined where that session is not
 * about this chat, or no name is known.
 */
export function addressTitle(
  { channel, account, chat, chatType, topic }: Address,
  metadata: Readonly<Record<string, string>>,
): string | undefined {
  if (metadata.channel !== channel || metadata.account !== account || metadata.chat_id !== chat) return undefined
  return joined(chatType, {
    chat: metadata.chat_title,
    topic: metadata.topic_id === topic ? metadata.topic_title : undefined,
    topicId: topic,
    person: metadata.person_name,
  })
}

interface Names {
  readonly chat: string | undefined
  readonly topic: string | undefined
  readonly topicId: string | undefined
  readonly person: string | undefined
}

function joined(chatType: ChatType, { chat, topic, topicId, person }: Names): string | undefined {
  if (chatType === 'direct') return person
  if (chat === undefined) return undefined
  const within = topic ?? (topicId === undefined ? undefined : `thread ${topicId}`)
  return within === undefined ? chat : `${chat} › ${within}`
}

/**
 * Returns an address with its title before it, `Club › Rowing (telegram:group:-100/42)`, or alone where it has none.
 */
export function withTitle(address: Address, title: string | undefined): string {
  return title === undefined ? formatAddress(address) : `${title} (${formatAddress(address)})`
}
