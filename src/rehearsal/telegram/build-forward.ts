import type { ApiMessage, ApiOrigin, ApiUser } from './api-types.ts'

/** The fields that a forward copies: the content, whatever it is, and nothing of its context. */
const CONTENT = [
  'text entities caption caption_entities photo document animation video audio voice video_note sticker via_bot',
].flatMap((names) => names.split(' '))

/** Returns the fields of a message that forwards another one. Throws where the platform lets nobody forward it. */
export function forwardFields(
  original: ApiMessage,
  { hidden = false, old = false }: { hidden?: boolean | undefined; old?: boolean | undefined },
): Partial<ApiMessage> {
  const content = Object.fromEntries(Object.entries(original).filter(([name]) => CONTENT.includes(name)))
  if (Object.keys(content).length === 0) throw new Error(`Message ${original.message_id} has nothing to forward.`)
  if (original.has_protected_content === true) throw new Error(`Message ${original.message_id} is protected.`)
  const origin = original.forward_origin ?? originOf(original, hidden)
  return { ...content, ...(old ? olderFields(origin) : { forward_origin: origin }) }
}

function originOf(original: ApiMessage, hidden: boolean): ApiOrigin {
  const { date, from, sender_chat: chat, message_id } = original
  if (chat?.type === 'channel') return { type: 'channel', date, chat, message_id }
  if (chat !== undefined) return { type: 'chat', date, sender_chat: chat }
  if (from === undefined) throw new Error(`Message ${message_id} has no writer.`)
  return hidden
    ? { type: 'hidden_user', date, sender_user_name: nameOf(from) }
    : { type: 'user', date, sender_user: from }
}

function olderFields(origin: ApiOrigin): Partial<ApiMessage> {
  const forward_date = origin.date
  switch (origin.type) {
    case 'user':
      return { forward_date, forward_from: origin.sender_user }
    case 'hidden_user':
      return { forward_date, forward_sender_name: origin.sender_user_name }
    case 'chat':
      return { forward_date, forward_from_chat: origin.sender_chat }
    case 'channel':
      return { forward_date, forward_from_chat: origin.chat, forward_from_message_id: origin.message_id }
  }
}

function nameOf({ first_name, last_name }: ApiUser): string {
  return last_name === undefined ? first_name : `${first_name} ${last_name}`
}
