import type { ApiMessage, MemberStatus } from './api-types.ts'
import { optInUpdates } from './api-types.ts'
import type { BotState } from './bot-state.ts'
import type { WithheldReason } from './ledger-entries.ts'
import type { ChatState } from './world-state.ts'

const present: readonly (MemberStatus | undefined)[] = ['creator', 'administrator', 'member', 'restricted']

export function isPresent(status: MemberStatus | undefined): boolean {
  return present.includes(status)
}

/** Returns why the platform keeps a message from a bot, or null if the bot gets it. */
export function withholding(bot: BotState, state: ChatState, message: ApiMessage): WithheldReason | null {
  const status = state.members.get(bot.user.id)
  if (!isPresent(status)) return 'not_member'
  if (state.chat.type === 'private' || state.chat.type === 'channel') return null
  if (bot.canReadAllGroupMessages || status === 'administrator' || status === 'creator') return null
  return isService(message) || isMeantFor(bot, message) ? null : 'privacy'
}

export function isAllowed(bot: BotState, type: string): boolean {
  return bot.allowedUpdates === null ? !optInUpdates.includes(type) : bot.allowedUpdates.includes(type)
}

function isService(message: ApiMessage): boolean {
  return (
    message.forum_topic_created !== undefined ||
    message.forum_topic_edited !== undefined ||
    message.forum_topic_closed !== undefined ||
    message.forum_topic_reopened !== undefined ||
    message.new_chat_members !== undefined ||
    message.left_chat_member !== undefined ||
    message.migrate_to_chat_id !== undefined ||
    message.migrate_from_chat_id !== undefined
  )
}

/** Returns true, for privacy mode, for a command (not one for another bot), a reply to the bot, or a mention of it. */
function isMeantFor(bot: BotState, message: ApiMessage): boolean {
  if (message.reply_to_message?.from?.id === bot.user.id) return true
  const text = message.text ?? message.caption ?? ''
  const name = bot.user.username?.toLowerCase()
  for (const entity of message.entities ?? message.caption_entities ?? []) {
    const slice = text.slice(entity.offset, entity.offset + entity.length).toLowerCase()
    if (entity.type === 'mention' && slice === `@${name}`) return true
    if (entity.type === 'text_mention' && entity.user?.id === bot.user.id) return true
    if (entity.type === 'bot_command' && (!slice.includes('@') || slice.endsWith(`@${name}`))) return true
  }
  return false
}
