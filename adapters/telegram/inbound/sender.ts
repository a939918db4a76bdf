import type { Forwarded, Sender } from '../../../src/core/message.ts'
import { isShared } from '../../../src/core/platform-id.ts'
import { type Fields, fieldsOf, optionalFields, optionalText, present } from '../../shared/fields.ts'
import { idOf } from '../address.ts'
import { telegramTraits } from '../config.ts'

/** The visible author of a message: the chat it was written as, where there is one, else the user. */
export function readAuthor(message: Fields): Sender {
  const asChat = optionalFields(message.sender_chat)
  if (asChat !== undefined) return readChatSender(asChat)
  const from = optionalFields(message.from)
  return from === undefined ? readChatSender(fieldsOf(message.chat)) : readUser(from)
}

export function readUser(user: Fields): Sender {
  const id = idOf(user.id)
  const names = [optionalText(user.first_name), optionalText(user.last_name)]
  const displayName = names.filter((name) => name !== undefined).join(' ')
  return {
    id,
    kind: isShared(telegramTraits.ids, id) ? 'anonymous' : user.is_bot === true ? 'bot' : 'user',
    ...present('displayName', displayName === '' ? undefined : displayName),
    ...present('username', optionalText(user.username)),
  }
}

/** A chat that speaks: an anonymous admin's group, a channel. */
export function readChatSender(chat: Fields): Sender {
  return {
    id: idOf(chat.id),
    kind: 'anonymous',
    ...present('displayName', optionalText(chat.title)),
    ...present('username', optionalText(chat.username)),
  }
}

/**
 * Returns whose words a message passes on, by `forward_origin` or the fields that older Bot API servers send. The post
 * of a channel in its discussion group is none: the channel is its author there too.
 */
export function readForwarded(message: Fields): Forwarded | undefined {
  if (message.is_automatic_forward === true) return undefined
  const origin = optionalFields(message.forward_origin)
  if (origin !== undefined) return readOrigin(origin)
  const [user, chat] = [optionalFields(message.forward_from), optionalFields(message.forward_from_chat)]
  if (user !== undefined) return { from: readUser(user) }
  if (chat !== undefined) return { from: readChatSender(chat) }
  const name = optionalText(message.forward_sender_name)
  if (name !== undefined) return { name }
  return message.forward_date === undefined ? undefined : {}
}

/** A MessageOrigin: a user, one who hides, a group that somebody speaks as, or a channel. */
function readOrigin({ sender_user, sender_user_name, sender_chat, chat }: Fields): Forwarded {
  const user = optionalFields(sender_user)
  if (user !== undefined) return { from: readUser(user) }
  const place = optionalFields(sender_chat) ?? optionalFields(chat)
  return place === undefined ? present('name', optionalText(sender_user_name)) : { from: readChatSender(place) }
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
