import { badRequest, forbidden } from './api-error.ts'
import type { ApiChatType, MemberStatus } from './api-types.ts'
import type { BotApi } from './bot-api.ts'
import type { Params } from './params.ts'
import { integerParam, isRecord, structureParam, textParam } from './params.ts'
import { readChat } from './targets.ts'
import { isPresent } from './visibility.ts'
import { lettingMembers } from './world-state.ts'

const maxCommands = 100

export function getMe({ bot }: BotApi): object {
  return {
    ...bot.user,
    can_join_groups: bot.canJoinGroups,
    can_read_all_group_messages: bot.canReadAllGroupMessages,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
  }
}

export function getChat(api: BotApi, params: Params): object {
  const { chat, membersMay } = readChat(api.world, api.bot, params)
  const isGroup = chat.type === 'group' || chat.type === 'supergroup'
  return { ...chat, accent_color_id: 0, max_reaction_count: 11, ...(isGroup && { permissions: membersMay }) }
}

export function getChatMember(api: BotApi, params: Params): object {
  const state = readChat(api.world, api.bot, params)
  const { type } = state.chat
  const own = state.members.get(api.bot.user.id)
  if (type !== 'private' && own === 'kicked') throw forbidden(`bot was kicked from the ${type} chat`)
  if (type !== 'private' && !isPresent(own)) throw forbidden(`bot is not a member of the ${type} chat`)
  const id = integerParam(params, 'user_id')
  const status = id === undefined ? undefined : state.members.get(id)
  if (id === undefined || status === undefined) throw badRequest('member not found')
  return { user: api.world.user(id), status, ...rightsOf(status, type) }
}

/** The rights that the platform describes with a status. */
function rightsOf(status: MemberStatus, type: ApiChatType): object {
  if (status === 'restricted') return { is_member: true, ...lettingMembers(false), until_date: 0 }
  if (status !== 'administrator') return {}
  return {
    can_be_edited: false,
    is_anonymous: false,
    can_manage_chat: true,
    ...(type === 'channel' && { can_post_messages: true }),
  }
}

export function setMyCommands(api: BotApi, params: Params): true {
  const { bot } = api
  const commands = structureParam(params, 'commands')
  if (!Array.isArray(commands)) throw badRequest("can't parse BotCommand: expected an Array of BotCommand")
  if (commands.length > maxCommands) throw badRequest('BOT_COMMANDS_TOO_MUCH')
  for (const command of commands) checkCommand(command)
  checkScope(api, params)
  bot.commands.set(commandKey(params), commands)
  return true
}

export function getMyCommands({ bot }: BotApi, params: Params): unknown {
  return bot.commands.get(commandKey(params)) ?? []
}

export function deleteMyCommands(api: BotApi, params: Params): true {
  checkScope(api, params)
  api.bot.commands.delete(commandKey(params))
  return true
}

/** Remembers the list: an unset one keeps the previous setting, an empty one restores the default. */
export function rememberAllowedUpdates({ bot }: BotApi, params: Params): void {
  const allowed = structureParam(params, 'allowed_updates')
  if (allowed === undefined) return
  if (!Array.isArray(allowed)) throw badRequest("can't parse allowed updates: expected an Array of String")
  bot.allowedUpdates = allowed.length === 0 ? null : allowed.map(String)
}

function checkCommand(command: unknown): void {
  const { command: name, description } = isRecord(command) ? command : {}
  if (typeof name !== 'string' || !/^\/?[a-z0-9_]{1,32}$/.test(name)) throw badRequest('BOT_COMMAND_INVALID')
  if (typeof description !== 'string' || description.length < 1 || description.length > 256) {
    throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID')
  }
}

const WIDE_SCOPES: ReadonlySet<unknown> = new Set([
  'default',
  'all_private_chats',
  'all_group_chats',
  'all_chat_administrators',
])

/** A scope that names a chat needs one the bot knows. */
function checkScope(api: BotApi, params: Params): void {
  const scope = structureParam(params, 'scope')
  if (scope === undefined) return
  if (!isRecord(scope)) throw badRequest("can't parse BotCommandScope: expected an Object")
  if (WIDE_SCOPES.has(scope.type)) return
  if (scope.type !== 'chat' && scope.type !== 'chat_administrators') {
    throw badRequest("can't parse BotCommandScope: Unsupported type specified")
  }
  readChat(api.world, api.bot, scope)
}

function commandKey(params: Params): string {
  const scope = structureParam(params, 'scope') ?? { type: 'default' }
  return `${JSON.stringify(scope)} ${textParam(params, 'language_code') ?? ''}`
}
