import type { Address } from './address.ts'
import type { Dispatch, ReplyTarget } from './dispatch.ts'
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

/** A move, and when it came: ms since the epoch. */
export type TimedMove = ChatMove & { readonly at: number }

/** Returns the address that a chat had when something was said there: before a move its messages had other numbers. */
export function addressThen(address: Address, moves: readonly TimedMove[], said: number): Address {
  const move = moves.find(({ channel, to, at }) => address.channel === channel && address.chat === to && said < at)
  return move === undefined ? address : { ...address, chat: move.from }
}

/**
 * Returns the display key of a place after the move; the same if the move does not concern it. The id of a group stands
 * behind `group:`, before a topic or the next dimension.
 */
export function movedKey(key: string, { channel, from, to }: ChatMove): string {
  if (!key.startsWith(channel) || !'@:|'.includes(key.charAt(channel.length))) return key
  const parts = key.split(/(?<=[:=]group:)|(?=[/|])/)
  return parts.map((part, at) => (part === from && parts[at - 1]?.endsWith('group:') ? to : part)).join('')
}

/** Returns the further display keys of a place whose chat got a new id: that of before, or that of now. */
export function furtherKeys(key: string, moves: readonly ChatMove[]): readonly string[] {
  const both = moves.flatMap((move) => [movedKey(key, move), movedKey(key, { ...move, from: move.to, to: move.from })])
  return both.filter((one) => one !== key)
}

/**
 * Returns the dispatch with its origin and its reply target after the move; the same object if the move does not
 * concern it.
 */
export function movedDispatch(dispatch: Dispatch, move: ChatMove): Dispatch {
  const { event, reply } = dispatch
  const [from, to] = [movedAddress(event.address, move), movedAddress(reply.address, move)]
  if (from === event.address && to === reply.address) return dispatch
  return { ...dispatch, event: { ...event, address: from }, reply: movedReply(reply, move) }
}

/** Returns the reply target after the move, where it names no message: the chat counts them anew. */
export function movedReply(reply: ReplyTarget, move: ChatMove): ReplyTarget {
  const address = movedAddress(reply.address, move)
  if (address === reply.address) return reply
  const { replyTo: _, ...rest } = reply
  return { ...rest, address }
}
