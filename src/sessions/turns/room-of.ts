import type { Address } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'

interface RoomPorts {
  readonly channels: Pick<Channels, 'traits'>
  /** Knows the chats that got a new id. */
  readonly moves: { follow(address: Address): Address }
}

/** Returns the present address without a topic where topics are threads, which a command cannot always name. */
export function roomOf({ channels, moves }: RoomPorts, address: Address): Address {
  const { topic, ...room } = moves.follow(address)
  const isRoom = topic !== undefined && channels.traits(address.channel).topics === 'rooms'
  return isRoom ? { ...room, topic } : room
}
