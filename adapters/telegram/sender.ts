import type { Sender } from '../../src/core/message.ts'
import { isShared } from '../../src/core/platform-id.ts'
import type { Fields } from './fields.ts'
import { fieldsOf, idOf, optionalFields, optionalText, present } from './fields.ts'

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
    kind: isShared('telegram', id) ? 'anonymous' : user.is_bot === true ? 'bot' : 'user',
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
