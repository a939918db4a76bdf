import { badRequest, forbidden } from './api-error.ts'
import type { ApiMessage } from './api-types.ts'
import type { BotState } from './bot-state.ts'
import type { StoredMessage } from './message-store.ts'
import { topicOf } from './message-store.ts'
import { numberInWorld } from './own-numbers.ts'
import type { Params } from './params.ts'
import { flagParam, integerParam, recordParam, textParam } from './params.ts'
import { isPresent } from './visibility.ts'
import type { ChatState, WorldState } from './world-state.ts'

/** A chat as one bot sees it. */
interface SeenChat {
  readonly state: ChatState
  readonly bot: BotState
}

/** The id of the General topic, for the methods that accept one. */
const generalTopic = 1

/** Returns the chat of `chat_id` as this bot may see it. */
export function readChat(world: WorldState, bot: BotState, params: Params): ChatState {
  const given = textParam(params, 'chat_id')
  if (given === undefined || given === '') throw badRequest('chat_id is empty')
  const id = given.startsWith('@') ? given : integerParam(params, 'chat_id')
  const state = id === undefined ? undefined : world.findChat(id)
  const known = state !== undefined && (state.chat.type === 'private' || state.members.has(bot.user.id))
  if (state === undefined || !known) throw badRequest('chat not found')
  if (state.migratedTo !== undefined) {
    throw badRequest('group chat was upgraded to a supergroup chat', { migrate_to_chat_id: state.migratedTo })
  }
  return state
}

/** Returns the chat of `chat_id`. Throws where the bot may not write. */
export function readWritableChat(world: WorldState, bot: BotState, params: Params): ChatState {
  const state = readChat(world, bot, params)
  const status = state.members.get(bot.user.id)
  const { type } = state.chat
  if (type === 'private') {
    if (status === undefined) throw forbidden("bot can't initiate conversation with a user")
    if (!isPresent(status)) throw forbidden('bot was blocked by the user')
    return state
  }
  if (status === 'kicked') throw forbidden(`bot was kicked from the ${type} chat`)
  if (!isPresent(status)) throw forbidden(`bot is not a member of the ${type} chat`)
  const isMute = status === 'member' && state.membersMay.can_send_messages === false
  if (status === 'restricted' || isMute) throw badRequest('not enough rights to send text messages to the chat')
  if (type === 'channel' && !isAdmin(state, bot)) throw badRequest('need administrator rights in the channel chat')
  return state
}

export function isAdmin(state: ChatState, bot: BotState): boolean {
  const status = state.members.get(bot.user.id)
  return status === 'administrator' || status === 'creator'
}

/**
 * Returns the topic for a text. General has no id here: 1 is refused on sends (the platform accepts it for chat actions
 * only).
 */
export function readTopic(state: ChatState, bot: BotState, params: Params): number | undefined {
  const id = integerParam(params, 'message_thread_id')
  if (id === undefined || id === 0) {
    if (state.generalClosed && !isAdmin(state, bot)) throw badRequest('TOPIC_CLOSED')
    return undefined
  }
  return openTopic(state, bot, id)
}

/** Does the same as `readTopic`, for chat actions. */
export function readActionTopic(state: ChatState, bot: BotState, params: Params): void {
  const id = integerParam(params, 'message_thread_id')
  if (id === undefined || id === 0 || (id === generalTopic && state.chat.is_forum === true)) return
  openTopic(state, bot, id)
}

function openTopic(state: ChatState, bot: BotState, id: number): number {
  const topic = state.topics.get(id)
  if (topic === undefined || topic.deleted) throw badRequest('message thread not found')
  if (topic.closed && !isAdmin(state, bot)) throw badRequest('TOPIC_CLOSED')
  return id
}

/** Returns the message that `reply_parameters` (or the older `reply_to_message_id`) names, if it can be replied to. */
export function readReply({ state, bot }: SeenChat, params: Params): ApiMessage | undefined {
  const reply = recordParam(params, 'reply_parameters')
  const id = integerParam(reply ?? {}, 'message_id') ?? integerParam(params, 'reply_to_message_id')
  if (id === undefined || id === 0) return undefined
  const stored = state.messages.find(numberInWorld(bot, state.chat, id))
  if (stored !== undefined) return stored.message
  if (flagParam(reply ?? {}, 'allow_sending_without_reply') || flagParam(params, 'allow_sending_without_reply')) {
    return undefined
  }
  throw badRequest('message to be replied not found')
}

/** A reply without a thread id stays in the thread of the message it answers. */
export function threadOfReply(topic: number | undefined, reply: ApiMessage | undefined): number | undefined {
  return topic ?? (reply === undefined ? undefined : (topicOf(reply) ?? undefined))
}

/** Returns the message of `message_id`. Throws with the platform's words for a missing one. */
export function readMessage({ state, bot }: SeenChat, params: Params, missing: string): StoredMessage {
  const id = integerParam(params, 'message_id')
  if (id === undefined) throw badRequest('message identifier is not specified')
  const stored = state.messages.find(numberInWorld(bot, state.chat, id))
  if (stored === undefined) throw badRequest(missing)
  return stored
}

/** Returns `reply_markup` after the one check that matters in practice: 1 to 64 bytes of callback data. */
export function readMarkup(params: Params): object | undefined {
  const markup = recordParam(params, 'reply_markup')
  if (markup === undefined) return undefined
  const rows = markup.inline_keyboard
  if (rows === undefined) return undefined
  if (!Array.isArray(rows)) throw badRequest('can\'t parse inline keyboard: field "inline_keyboard" must be an Array')
  for (const button of rows.flat()) checkButton(button)
  return rows.length === 0 ? undefined : markup
}

function checkButton(button: unknown): void {
  if (typeof button !== 'object' || button === null || !('text' in button) || typeof button.text !== 'string') {
    throw badRequest('can\'t parse inline keyboard button: field "text" must be of type String')
  }
  if (!('callback_data' in button)) return
  const size = Buffer.byteLength(String(button.callback_data))
  if (size < 1 || size > 64) throw badRequest('BUTTON_DATA_INVALID')
}
