import type { ChatType } from './address.ts'

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
  if (chatType === 'direct') return person ?? displayKey
  if (chat === undefined) return displayKey
  const within = topic ?? (topicId === undefined ? undefined : `thread ${topicId}`)
  return within === undefined ? chat : `${chat} › ${within}`
}
