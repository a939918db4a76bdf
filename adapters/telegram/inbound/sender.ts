import type { Forwarded, InboundText, Sender } from '../../../src/core/message.ts'
import { isShared } from '../../../src/core/platform-id.ts'
import { type Fields, fieldsOf, isFields, optionalFields, present, readPart, textIn } from '../../shared/fields.ts'
import { idOf, toIdText } from '../address.ts'
import { telegramTraits } from '../config.ts'

/** The visible author of a message: the chat it was written as, where there is one, else the user. */
export function readAuthor(message: Fields): Sender {
  const asChat = optionalFields(message.sender_chat)
  if (asChat !== undefined) return readChatSender(asChat, message.author_signature)
  const from = optionalFields(message.from)
  return from === undefined ? readChatSender(fieldsOf(message.chat), message.author_signature) : readUser(from)
}

export function readUser(user: Fields): Sender {
  const id = idOf(user.id)
  const names = [textIn(user.first_name), textIn(user.last_name)]
  const displayName = names.filter((name) => name !== undefined).join(' ')
  return {
    id,
    kind: isShared(telegramTraits.ids, id) ? 'anonymous' : user.is_bot === true ? 'bot' : 'user',
    ...present('displayName', displayName === '' ? undefined : displayName),
    ...present('username', textIn(user.username)),
  }
}

/**
 * Returns a chat that speaks: an anonymous admin's group, a channel. `signature` is the author's name in a channel that
 * shows it, or the title of an anonymous admin.
 */
export function readChatSender(chat: Fields, signature?: unknown): Sender {
  const title = textIn(chat.title)
  const signed = typeof signature === 'string' && signature !== '' ? signature : undefined
  const displayName = title !== undefined && signed !== undefined ? `${title} (${signed})` : (title ?? signed)
  return {
    id: idOf(chat.id),
    kind: 'anonymous',
    ...present('displayName', displayName),
    ...present('username', textIn(chat.username)),
  }
}

/**
 * Returns whose words a message passes on, by `forward_origin` or the fields that older Bot API servers send. The post
 * of a channel in its discussion group is none: the channel is its author there too.
 */
export function readForwarded(message: Fields): Forwarded | undefined {
  if (isAutomatic(message)) return undefined
  const isForward = FORWARD_MARKS.some((mark) => message[mark] !== undefined)
  // Words of an origin that cannot be read are somebody else's all the same.
  return isForward ? (readPart(() => readForwardMarks(message)) ?? {}) : undefined
}

const FORWARD_MARKS = ['forward_origin', 'forward_from', 'forward_from_chat', 'forward_sender_name', 'forward_date']

function readForwardMarks(message: Fields): Forwarded {
  const origin = optionalFields(message.forward_origin)
  if (origin !== undefined) return readOrigin(origin)
  const [user, chat] = [optionalFields(message.forward_from), optionalFields(message.forward_from_chat)]
  if (user !== undefined) return { from: readUser(user) }
  if (chat !== undefined) return { from: readChatSender(chat, message.forward_signature) }
  return present('name', textIn(message.forward_sender_name))
}

/** Returns the writer in a MessageOrigin: a user, one who hides, a group that somebody speaks as, or a channel. */
export function readOrigin({ sender_user, sender_user_name, sender_chat, chat, author_signature }: Fields): Forwarded {
  const user = optionalFields(sender_user)
  if (user !== undefined) return { from: readUser(user) }
  const place = optionalFields(sender_chat) ?? optionalFields(chat)
  return place === undefined
    ? present('name', textIn(sender_user_name))
    : { from: readChatSender(place, author_signature) }
}

/** The sender of what the platform itself puts into a chat. */
const PLATFORM_ID = 777_000

/** Returns true for a channel's post in its discussion group, which the platform has copied there. */
export function isAutomatic({ is_automatic_forward, from, sender_chat, chat }: Fields): boolean {
  if (is_automatic_forward === true) return true
  const [speaker, place] = [isFields(sender_chat) ? sender_chat : {}, isFields(chat) ? chat : {}]
  return isFields(from) && from.id === PLATFORM_ID && speaker.type === 'channel' && speaker.id !== place.id
}

/** Returns the post that the platform has copied here; one that its channel has passed on has another origin. */
export function readCopied(message: Fields): InboundText['copyOf'] {
  if (!isAutomatic(message)) return undefined
  const { forward_origin: origin, sender_chat: channel, forward_from_chat, forward_from_message_id } = message
  const { chat = forward_from_chat, message_id = forward_from_message_id } = isFields(origin) ? origin : {}
  const [post, id] = [toIdText(isFields(chat) ? chat.id : undefined), toIdText(message_id)]
  const isOfSpeaker = isFields(channel) && toIdText(channel.id) === post
  return isOfSpeaker && post !== undefined && id !== undefined ? { chat: post, messageId: id } : undefined
}

/** Returns the bot that wrote the text in its sender's name: an inline bot, or one that runs a business account. */
export function readVia(message: Fields): Sender | undefined {
  const bot = optionalFields(message.via_bot) ?? optionalFields(message.sender_business_bot)
  return bot && readUser(bot)
}

/**
 * Returns who wrote the words of a message, which may have been passed on; undefined where the platform does not say.
 */
export function readWriter(message: Fields): Sender | undefined {
  const forwarded = readForwarded(message)
  return readVia(message) ?? (forwarded === undefined ? readAuthor(message) : forwarded.from)
}
