import type { ApiChat, ApiEntity, ApiMessage, ApiUser } from './api-types.ts'
import type { ChatState } from './world-state.ts'

/** The accounts the platform shows where the true writer stays hidden. */
export const hiddenSenders = {
  anonymousAdmin: { id: 1087968824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' },
  channelSpeaker: { id: 136817688, is_bot: true, first_name: 'Channel', username: 'Channel_Bot' },
  linkedChannel: { id: 777000, is_bot: false, first_name: 'Telegram' },
} as const satisfies Record<string, ApiUser>

export interface MessageParts {
  state: ChatState
  /** The time in milliseconds. */
  at: number
  from?: ApiUser
  senderChat?: ApiChat
  topic?: number
  replyTo?: ApiMessage
  text?: string
  entities?: readonly ApiEntity[]
  replyMarkup?: object
}

/**
 * Returns a message in the platform's form. In a topic it carries the thread id and, unless it answers another message,
 * replies to the topic's creation message; in a supergroup without topics a reply carries the id of its thread but no
 * `is_topic_message`.
 */
export function buildMessage(parts: MessageParts): ApiMessage {
  const { state, topic, replyTo } = parts
  const message: ApiMessage = { message_id: state.messages.nextId(), date: seconds(parts.at), chat: state.chat }
  if (parts.from !== undefined) message.from = parts.from
  if (parts.senderChat !== undefined) message.sender_chat = parts.senderChat
  if (topic !== undefined) {
    message.message_thread_id = topic
    message.is_topic_message = true
  } else if (replyTo !== undefined && state.chat.type === 'supergroup' && state.chat.is_forum !== true) {
    message.message_thread_id = replyTo.message_thread_id ?? replyTo.message_id
  }
  const answered = replyTo ?? (topic === undefined ? undefined : state.topics.get(topic)?.service)
  if (answered !== undefined) message.reply_to_message = quoted(answered)
  if (parts.text !== undefined) message.text = parts.text
  if (parts.entities !== undefined && parts.entities.length > 0) message.entities = [...parts.entities]
  if (parts.replyMarkup !== undefined) message.reply_markup = parts.replyMarkup
  return message
}

export function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}

/** The platform never nests the message to which the replied message itself replied. */
function quoted(message: ApiMessage): ApiMessage {
  if (message.reply_to_message === undefined) return message
  const { reply_to_message: _, ...flat } = message
  return flat
}
