import { deleteMyCommands, getChat, getChatMember, getMe, getMyCommands, setMyCommands } from './account-methods.ts'
import type { BotApi } from './bot-api.ts'
import { getFile } from './files.ts'
import { answerCallbackQuery, deleteMessage, editMessageText, sendChatAction, sendMessage } from './message-methods.ts'
import type { Params } from './params.ts'
import { setMessageReaction } from './reaction-methods.ts'
import { sendDocument, sendPhoto, sendVoice } from './upload-methods.ts'
import { deleteWebhook, getWebhookInfo, setWebhook } from './webhook-methods.ts'

export type Method = (api: BotApi, params: Params) => unknown

const rehearsed: Readonly<Record<string, Method>> = {
  answerCallbackQuery,
  deleteMessage,
  deleteMyCommands,
  deleteWebhook,
  editMessageText,
  getChat,
  getChatMember,
  getFile,
  getMe,
  getMyCommands,
  getWebhookInfo,
  sendChatAction,
  sendDocument,
  sendMessage,
  sendPhoto,
  setMessageReaction,
  sendVoice,
  setMyCommands,
  setWebhook,
}

const byLowerCase = new Map(Object.entries(rehearsed).map(([name, run]) => [name.toLowerCase(), { name, run }]))
byLowerCase.set('getupdates', { name: 'getUpdates', run: () => [] })

/** Returns a method by its name in any case, as the platform accepts it; undefined if it is not rehearsed. */
export function findMethod(name: string): { name: string; run: Method } | undefined {
  return byLowerCase.get(name.toLowerCase())
}
