import {
  closedDirect,
  invalidField,
  lockedThread,
  missingAccess,
  missingPermissions,
  unknownChannel,
  unknownMessage,
} from './api-error.ts'
import type { RestApi, RestCall } from './rest-api.ts'
import { isSnowflake } from './snowflakes.ts'
import type { ChannelState, StoredMessage, WorldState } from './world-state.ts'

/** Returns the channel of the path, as the bot may see it. */
export function readChannel({ world }: RestApi, { ids }: RestCall): ChannelState {
  const id = ids[0] ?? ''
  if (!isSnowflake(id)) throw notASnowflake('channel_id', id)
  const state = world.channels.get(id)
  if (state === undefined) throw unknownChannel()
  if (world.accessTo(state) === 'hidden') throw missingAccess()
  return state
}

/** Returns the channel of the path. Throws where the bot may not write. */
export function readWritable(api: RestApi, call: RestCall): ChannelState {
  const state = readChannel(api, call)
  const { channel } = state
  if (api.world.accessTo(state) === 'read_only') throw missingPermissions()
  if (channel.type === 1 && isClosed(api.world, channel.recipients?.[0]?.id)) throw closedDirect()
  if (channel.thread_metadata?.locked === true) throw lockedThread()
  return state
}

/** Returns the message of the path; deleted ones do not exist. */
export function readMessage(state: ChannelState, { ids }: RestCall): StoredMessage {
  const id = ids[1] ?? ''
  if (!isSnowflake(id)) throw notASnowflake('message_id', id)
  const stored = state.messages.get(id)
  if (stored === undefined || stored.deleted) throw unknownMessage()
  return stored
}

function isClosed(world: WorldState, userId: string | undefined): boolean {
  return userId !== undefined && world.closedDirects.has(userId)
}

function notASnowflake(field: string, value: string): Error {
  return invalidField(field, 'NUMBER_TYPE_COERCE', `Value "${value}" is not snowflake.`)
}
