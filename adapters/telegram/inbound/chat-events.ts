import type { InboundMembership } from '../../../src/core/message.ts'
import { type Fields, fieldsOf, listOf, optionalFields, optionalText, present, textOf } from '../../shared/fields.ts'
import { readPress } from '../../shared/press.ts'
import { dropped, type InboundReading, wordOf } from '../../shared/reading.ts'
import { idOf } from '../address.ts'
import { readPlace, timeOf, type UpdateReading } from './reading.ts'
import { readChatSender, readUser } from './sender.ts'

/** A CallbackQuery. The person who pressed is always the real one, also where they write anonymously. */
export function readPressed(query: Fields, { context }: UpdateReading): InboundReading {
  const message = optionalFields(query.message)
  const pressed = readPress(optionalText(query.data) ?? '')
  if (message === undefined || pressed === undefined) return dropped(FOREIGN_BUTTON)
  const id = textOf(query.id)
  return {
    kind: 'event',
    event: {
      ...pressed,
      eventKey: `${context.bot.id}:button:${id}`,
      address: readPlace(message, context),
      sender: readUser(fieldsOf(query.from)),
      // A press has no time of its own, and that of its message may be months ago.
      sentAt: context.receivedAt,
      messageId: id,
      answerBy: id,
    },
  }
}

/** The reason for which the press of a button is dropped that is none of ours. */
export const FOREIGN_BUTTON = 'callback_query:foreign'

/** A ChatMemberUpdated about the bot itself. A change of rights that leaves it what it was is dropped. */
export function readMembership(change: Fields, { context, updateId }: UpdateReading): InboundReading {
  const status = standing(fieldsOf(change.new_chat_member))
  if (status === standing(fieldsOf(change.old_chat_member))) return dropped('my_chat_member:same')
  const address = readPlace(change, context)
  const sentAt = timeOf(change.date)
  return {
    kind: 'event',
    event: {
      kind: 'membership',
      eventKey: `${context.bot.id}:membership:${address.chat}@${sentAt / 1000}#${updateId}`,
      address,
      sender: readUser(fieldsOf(change.from)),
      sentAt,
      status,
      ...present('chatTitle', optionalText(fieldsOf(change.chat).title)),
    },
  }
}

function standing(member: Fields): InboundMembership['status'] {
  const status = textOf(member.status)
  if (status === 'left' || status === 'kicked') return 'left'
  if (status !== 'restricted') return 'joined'
  if (member.is_member === false) return 'left'
  return member.can_send_messages === true ? 'joined' : 'restricted'
}

/** A MessageReactionUpdated. It names no topic: in a forum the address is the chat's, whatever topic it was in. */
export function readReaction(change: Fields, { context, updateId }: UpdateReading): InboundReading {
  const user = optionalFields(change.user)
  const before = new Set(readReactions(change.old_reaction))
  const after = new Set(readReactions(change.new_reaction))
  const address = readPlace(change, context)
  const messageId = idOf(change.message_id)
  const sentAt = timeOf(change.date)
  return {
    kind: 'event',
    event: {
      kind: 'reaction',
      eventKey: `${context.bot.id}:reaction:${address.chat}/${messageId}@${sentAt / 1000}#${updateId}`,
      address,
      sender: user === undefined ? readChatSender(fieldsOf(change.actor_chat)) : readUser(user),
      sentAt,
      messageId,
      added: [...after].filter((reaction) => !before.has(reaction)),
      removed: [...before].filter((reaction) => !after.has(reaction)),
    },
  }
}

/** The emoji itself; `custom:<id>` for a custom one; the type's name for what comes later. */
function readReactions(value: unknown): readonly string[] {
  return listOf(value).map((raw) => {
    const reaction = fieldsOf(raw)
    const type = textOf(reaction.type)
    if (type === 'emoji') return textOf(reaction.emoji)
    return type === 'custom_emoji' ? `custom:${textOf(reaction.custom_emoji_id)}` : wordOf(type)
  })
}
