import type { Address } from './address.ts'
import type { Dispatch } from './dispatch.ts'
import type { ChannelId } from './ids.ts'

/** A chat has a new id: a Telegram group that became a supergroup. It happens once to a chat. */
export interface ChatMove {
  readonly channel: ChannelId
  readonly from: string
  readonly to: string
}

/** Where an address lies after the move; the same object if it is not concerned. */
export function movedAddress(address: Address, { channel, from, to }: ChatMove): Address {
  return address.channel === channel && address.chat === from ? { ...address, chat: to } : address
}

/** What came from the old chat, and where its answer goes; the same object if it is not concerned. */
export function movedDispatch(dispatch: Dispatch, move: ChatMove): Dispatch {
  const { event, reply } = dispatch
  const [from, to] = [movedAddress(event.address, move), movedAddress(reply.address, move)]
  if (from === event.address && to === reply.address) return dispatch
  return { ...dispatch, event: { ...event, address: from }, reply: { ...reply, address: to } }
}
