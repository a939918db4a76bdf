import type { ChannelState } from '../../../src/channels/adapter.ts'
import type { ChatType } from '../../../src/core/address.ts'
import { Positions } from '../../shared/positions.ts'
import { isStamp, timeOfStamp } from '../address.ts'

/** A conversation we know of, threads included; its position is the newest message stored. */
export interface KnownChat {
  readonly id: string
  readonly chatType: ChatType
}

export type ChatPositions = Positions<KnownChat>

export function createPositions(state: ChannelState): ChatPositions {
  return new Positions<KnownChat>(state, {
    listKey: 'chats',
    positionKey: (id) => `read:${id}`,
    isMessageId: isStamp,
    isNewer: (id, than) => id > than,
    timeOf: timeOfStamp,
    write: ({ id, chatType }) => [id, chatType],
    read: readChat,
  })
}

function readChat(stored: unknown): KnownChat | undefined {
  if (!Array.isArray(stored)) return undefined
  const [id, chatType]: unknown[] = stored
  return typeof id === 'string' && isChatType(chatType) ? { id, chatType } : undefined
}

function isChatType(value: unknown): value is ChatType {
  return value === 'direct' || value === 'group' || value === 'channel'
}
