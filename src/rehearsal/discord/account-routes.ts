import { invalidField, threadExists, unknownGuild, unknownUser } from './api-error.ts'
import type { ApiChannel, ApiUser } from './api-types.ts'
import type { RestApi, RestCall } from './rest-api.ts'
import { readChannel, readMessage, readWritable } from './targets.ts'

export function gatewayBot({ gatewayUrl, sessionLimit }: RestApi): object {
  const { total, remaining, resetAfterMs: reset_after } = sessionLimit()
  const session_start_limit = { total, remaining: Math.max(0, remaining), reset_after, max_concurrency: 16 }
  return { url: gatewayUrl(), shards: 1, session_start_limit }
}

export function me({ world }: RestApi): ApiUser & { verified: boolean; flags: number } {
  return { ...world.bot, verified: true, flags: 0 }
}

export function getChannel(api: RestApi, call: RestCall): ApiChannel {
  return readChannel(api, call).channel
}

/** Returns a guild that the bot is in; any other is unknown to it. */
export function getGuild({ world }: RestApi, { ids }: RestCall): object {
  const state = world.guilds.get(ids[0] ?? '')
  if (state === undefined) throw unknownGuild()
  return { ...state.guild, roles: [...state.roles.values()] }
}

export function getMember({ world }: RestApi, { ids }: RestCall): object {
  const state = world.guilds.get(ids[0] ?? '')
  if (state === undefined) throw unknownGuild()
  const user = world.users.get(ids[1] ?? '')
  if (user === undefined) throw unknownUser()
  const roles = user.id === world.bot.id ? state.botRoles : []
  return {
    user,
    roles: [...roles],
    nick: state.nicks.get(user.id) ?? null,
    joined_at: state.joinedAt,
    deaf: false,
    mute: false,
    flags: 0,
  }
}

export function openDirect({ world }: RestApi, { body }: RestCall): ApiChannel {
  const user = typeof body.recipient_id === 'string' ? world.users.get(body.recipient_id) : undefined
  if (user === undefined || user.id === world.bot.id) throw unknownUser()
  return world.direct(user).channel
}

/** Starts the thread of a message, which has the message's id; there is only one. */
export function startThreadFromMessage(api: RestApi, call: RestCall): ApiChannel {
  const { channel, ...state } = readWritable(api, call)
  const { message } = readMessage({ channel, ...state }, call)
  if (api.world.channels.has(message.id)) throw threadExists()
  return api.world.startThread({ channel, name: readName(call), id: message.id })
}

export function startThread(api: RestApi, call: RestCall): ApiChannel {
  const { channel } = readWritable(api, call)
  return api.world.startThread({ channel, name: readName(call), type: call.body.type === 11 ? 11 : 12 })
}

function readName({ body: { name } }: RestCall): string {
  if (typeof name !== 'string' || name.trim() === '' || name.length > 100) {
    throw invalidField('name', 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 100 in length.')
  }
  return name
}
