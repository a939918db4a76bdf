import type { Address, ChatType } from '../../../src/core/address.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import type { Titles } from '../../../src/core/message.ts'
import { presentTitles } from '../../../src/core/titles.ts'
import { countOf, type Fields, fieldsOf, isFields, Malformed } from '../../shared/fields.ts'
import { idOf, toAddress, toChatType, toIdText } from '../address.ts'
import type { Posts, TopicNames } from './known-threads.ts'
import type { BotFacts } from './mentions.ts'
import { isAutomatic } from './sender.ts'

/** The facts that reading an update needs besides the update. */
export interface InboundContext {
  readonly account: AccountId
  readonly bot: BotFacts
  readonly topics: Pick<TopicNames, 'get'>
  readonly posts: Pick<Posts, 'has'>
  /** Ms since the epoch, for the kinds that carry no time of their own. */
  readonly receivedAt: number
}

/** An update on its way through the readers. */
export interface UpdateReading {
  readonly context: InboundContext
  /** The update's id as text, the key of events that carry no unique id of their own. */
  readonly updateId: string
}

/**
 * The place of a message. Only `is_topic_message` makes a thread a topic: a plain reply in a supergroup carries a
 * thread id too, as does a comment below a channel's post.
 */
export function readPlace(message: Fields, { account, posts }: InboundContext): Address {
  const { id, type } = fieldsOf(message.chat)
  const chat = idOf(id)
  const thread = message.message_thread_id === undefined ? undefined : idOf(message.message_thread_id)
  const place = { chatType: chatTypeOf(type), chat }
  if (thread !== undefined && message.is_topic_message === true) return toAddress(account, { ...place, topic: thread })
  const post = isAutomatic(message) ? toIdText(message.message_id) : thread
  const isPost = post !== undefined && (isAutomatic(message) || posts.has(chat, post))
  return toAddress(account, { ...place, ...(isPost ? { post } : {}) })
}

/**
 * Reads the titles of a message's chat and topic. What a message in a topic "answers" is the notice that made the
 * topic, which keeps its first name for ever.
 */
export function readTitles(
  message: Fields,
  { chat, topic }: Address,
  { topics }: InboundContext,
): { readonly titles?: Titles } {
  const title = isFields(message.chat) ? message.chat.title : undefined
  const notice = topic !== undefined && isFields(message.reply_to_message) ? message.reply_to_message : {}
  const named = topic === undefined ? undefined : topics.get(chat, topic)
  const made = isFields(notice.forum_topic_created) ? notice.forum_topic_created : undefined
  return presentTitles({ chat: title, topic: named, topicBegan: made?.name })
}

function chatTypeOf(value: unknown): ChatType {
  const type = toChatType(value)
  if (type === undefined) throw new Malformed('the chat type is not known')
  return type
}

/** The last millisecond that a calendar knows, in the year 275760. */
const LAST_TIME = 8_640_000_000_000_000

/** Reads seconds since the epoch, as the platform counts, to milliseconds. @throws Malformed when it is no time */
export function timeOf(value: unknown): number {
  const ms = countOf(value) * 1000
  if (ms > LAST_TIME) throw new Malformed('a time is beyond the calendar')
  return ms
}

/** Returns ms since the epoch, or undefined for what is no time: a message out of the bot's reach has the date 0. */
export function optionalTime(value: unknown): number | undefined {
  const isTime = Number.isSafeInteger(value) && Number(value) > 0 && Number(value) * 1000 <= LAST_TIME
  return isTime ? Number(value) * 1000 : undefined
}

/**
 * Returns what others could read of an update: all of it in a place with several people in it, in a direct chat what
 * was passed on to us there.
 */
export function readableByOthers(update: unknown): unknown {
  const { content, chat } = placeIn(update)
  if (content === undefined || chat === undefined) return undefined
  return chat.type === 'private' ? passedOn(content) : content
}

/**
 * Returns the reason for which an update is left out that not everybody in its chat sees: each person who writes to a
 * channel in private does so in one chat, and an ephemeral message in a group is for us alone. A session is of a chat.
 */
export function hiddenIn(update: Fields): string | undefined {
  const { content, chat } = placeIn(update)
  if (chat?.is_direct_messages === true) return 'direct_messages'
  return content?.ephemeral_message_id === undefined ? undefined : 'ephemeral'
}

/** Returns the id of the chat an update is from, as a key to keep its updates in order by. */
export function chatIn(update: unknown): string | undefined {
  return toIdText(placeIn(update).chat?.id)
}

function placeIn(update: unknown): { readonly content?: Fields; readonly chat?: Fields } {
  const content = isFields(update) ? Object.values(update).find(isFields) : undefined
  if (content === undefined) return {}
  const { chat } = isFields(content.message) ? content.message : content
  return isFields(chat) ? { content, chat } : { content }
}

/** Marks of a message that somebody else wrote. */
const FOREIGN = ['forward_origin', 'forward_date', 'via_bot', 'sender_business_bot']

/** Returns the parts of a message from elsewhere; one it replies to in the same chat is there already. */
function passedOn(message: Fields): Fields | undefined {
  const { reply_to_message: _here, external_reply, quote, ...said } = message
  const elsewhere = external_reply === undefined ? {} : { external_reply, quote }
  if (FOREIGN.some((mark) => said[mark] !== undefined)) return { ...said, ...elsewhere }
  return external_reply === undefined ? undefined : elsewhere
}
