import { badRequest, tooManyRequests } from './api-error.ts'
import type { ApiMessage } from './api-types.ts'
import type { BotApi } from './bot-api.ts'
import { buildMessage, seconds } from './build-message.ts'
import { readText } from './formatted-text.ts'
import type { Params } from './params.ts'
import { integerParam } from './params.ts'
import {
  isAdmin,
  readActionTopic,
  readMarkup,
  readMessage,
  readReply,
  readTopic,
  readWritableChat,
  threadOfReply,
} from './targets.ts'
import type { ChatState } from './world-state.ts'

const actions = new Set(
  'typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location record_video_note upload_video_note'.split(
    ' ',
  ),
)

export function sendMessage(api: BotApi, params: Params): ApiMessage {
  const state = readWritableChat(api.world, api.bot, params)
  const { text, entities } = readText(params, { ...api.textRules, tooLong: 'message is too long' })
  const replyTo = readReply({ state, bot: api.bot }, params)
  const topic = threadOfReply(readTopic(state, api.bot, params), replyTo)
  const replyMarkup = readMarkup(params)
  throttle(api, state)
  const message = buildMessage({
    state,
    at: api.world.now(),
    ...(state.chat.type === 'channel' ? { senderChat: state.chat } : { from: api.bot.user }),
    ...(topic !== undefined && { topic }),
    ...(replyTo !== undefined && { replyTo }),
    text,
    entities,
    ...(replyMarkup !== undefined && { replyMarkup }),
  })
  state.messages.add(message, api.bot.user.id)
  api.world.discuss(state, message)
  return message
}

export function editMessageText(api: BotApi, params: Params): ApiMessage {
  const state = readWritableChat(api.world, api.bot, params)
  const stored = readMessage({ state, bot: api.bot }, params, 'message to edit not found')
  if (stored.botId !== api.bot.user.id) throw badRequest("message can't be edited")
  const { text, entities } = readText(params, { ...api.textRules, tooLong: 'MESSAGE_TOO_LONG' })
  const { entities: _entities, reply_markup: _markup, ...before } = stored.message
  const replyMarkup = readMarkup(params)
  const message: ApiMessage = { ...before, text, edit_date: seconds(api.world.now()) }
  if (entities.length > 0) message.entities = entities
  if (replyMarkup !== undefined) message.reply_markup = replyMarkup
  if (looks(message) === looks(stored.message)) {
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    )
  }
  throttle(api, state)
  state.messages.replace(stored, message, api.bot.user.id)
  api.world.discussEdit(state, message)
  return message
}

export function deleteMessage(api: BotApi, params: Params): true {
  const state = readWritableChat(api.world, api.bot, params)
  const stored = readMessage({ state, bot: api.bot }, params, 'message to delete not found')
  const own = stored.botId === api.bot.user.id
  if (!own && state.chat.type !== 'private' && !isAdmin(state, api.bot)) throw badRequest("message can't be deleted")
  state.messages.remove(stored, api.bot.user.id)
  return true
}

export function sendChatAction(api: BotApi, params: Params): true {
  const state = readWritableChat(api.world, api.bot, params)
  if (!actions.has(String(params.action))) throw badRequest('wrong parameter action in request')
  readActionTopic(state, api.bot, params)
  return true
}

export function answerCallbackQuery(api: BotApi, params: Params): true {
  const id = String(params.callback_query_id ?? '')
  if (!api.bot.openPresses.delete(id)) {
    throw badRequest('query is too old and response timeout expired or query ID is invalid')
  }
  if (String(params.text ?? '').length > 200) throw badRequest('MESSAGE_TOO_LONG')
  integerParam(params, 'cache_time')
  return true
}

/** Returns the parts that an edit must change: the text, its entities or the buttons. */
function looks(message: ApiMessage): string {
  return JSON.stringify([message.text, message.entities ?? [], message.reply_markup ?? null])
}

export function throttle(api: BotApi, state: ChatState): void {
  const wait = api.flood?.take(state.chat) ?? 0
  if (wait > 0) throw tooManyRequests(wait)
}
