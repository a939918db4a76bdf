import type { Address } from './address.ts'
import { type Channels, countsByBot, hasOwnNumbers } from './channel-traits.ts'
import { movedAddress, type TimedMove } from './chat-move.ts'
import { type InboundEvent, saidAt } from './message.ts'

/** The facts about groups by which their messages are known. */
export interface Chats {
  readonly channels: Pick<Channels, 'traits'>
  /** The chats that got a new id. */
  readonly moves: readonly TimedMove[]
}

/**
 * Several of our bots may be in one group: each receives what is said there, and what one of them is asked to forget,
 * all forget. In most groups a message has one number for all bots. In a small group of Telegram each bot counts
 * messages by itself: two bots have nothing of a message in common but its writer and its second, in which the writer
 * may have sent several. Such a group can become a supergroup, with a new id and one number for all bots; what was sent
 * before and comes late has the new id and the old number.
 *
 * Returns `same` for one message as two of our bots have received it, and `perhaps` where no number says so: the caller
 * compares the content, if it is still there.
 */
export function sameBeside(one: InboundEvent, other: InboundEvent, chats: Chats): 'same' | 'perhaps' | 'another' {
  const { channels, moves } = chats
  if (!('text' in one) || !('text' in other) || one.sender.id !== other.sender.id) return 'another'
  if (!isBeside(one.address, other.address, moves)) return 'another'
  const hasOneNumber = one.messageId === other.messageId
  if (!hasOwnNumbers(channels, one.address.channel)) return hasOneNumber ? 'same' : 'another'
  // A message from before the group became a supergroup may have the number of a later one.
  if (saidAt(one) !== saidAt(other)) return 'another'
  const both = [one, other]
  if (hasOneNumber && !both.some(({ address }) => countsByBot(channels, address))) return 'same'
  return both.some((said) => idsWhereCounted(said.address, saidAt(said), chats).length > 0) ? 'perhaps' : 'another'
}

/** Returns true for the address of one group by two of our bots, by the id that it has now. */
export function isBeside(one: Address, other: Address, moves: readonly TimedMove[] = []): boolean {
  if (other.chatType === 'direct' || one.channel !== other.channel || one.account === other.account) return false
  return moves.reduce(movedAddress, one).chat === moves.reduce(movedAddress, other).chat
}

/** Returns the ids, old and new, of a group in which each bot counted messages by itself at a time; none of another. */
export function idsWhereCounted(
  address: Address,
  at: number | undefined,
  { channels, moves }: Chats,
): readonly string[] {
  const { channel, chat } = address
  if (countsByBot(channels, address)) return [chat]
  if (at === undefined || !hasOwnNumbers(channels, channel)) return []
  const later = moves.filter((move) => move.channel === channel && move.to === chat && at <= move.at)
  return later.length === 0 ? [] : [chat, ...later.map(({ from }) => from)]
}
