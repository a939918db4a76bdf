import type { Address } from './address.ts'
import type { Dispatch } from './dispatch.ts'
import type { ChannelId } from './ids.ts'

/** A chat has a new id: a Telegram group that became a supergroup. It happens once to a chat. */
export interface ChatMove {
  readonly channel: ChannelId
  readonly from: string
  readonly to: string
}

/** Returns the address after the move; the same object if the move does not concern it. */
export function movedAddress(address: Address, { channel, from, to }: ChatMove): Address {
  return address.channel === channel && address.chat === from ? { ...address, chat: to } : address
}

/**
 * Returns the dispatch with its origin and its reply target after the move; the same object if the move does not
 * concern it.
 */
export function movedDispatch(dispatch: Dispatch, move: ChatMove): Dispatch {
  const { event, reply } = dispatch
  const [from, to] = [movedAddress(event.address, move), movedAddress(reply.address, move)]
  if (from === event.address && to === reply.address) return dispatch
  return { ...dispatch, event: { ...event, address: from }, reply: { ...reply, address: to } }
}
