import { type Address, isSameChat } from '../../core/address.ts'
import { type Channels, countsByBot, hasOwnNumbers } from '../../core/channel-traits.ts'
import type { TimedMove } from '../../core/chat-move.ts'
import { type InboundEvent, type QuotedMessage, saidAt } from '../../core/message.ts'
import { hasSameContent, isWordless } from '../../core/same-content.ts'
import type { ReceivedRow } from '../../store/forget-port.ts'

type Traits = Pick<Channels, 'traits'>

/** A message as it is on record. */
export type OnRecord = Pick<ReceivedRow, 'dispatch' | 'outcome'>

/** The chats by the ids that they have by now, and what is known of their platforms. */
export interface Chats {
  readonly channels: Traits
  readonly moves: readonly TimedMove[]
  now(this: void, address: Address): Address
}

/**
 * Returns true where one of these messages is quoted in a chat. The number of a message is one of its chat; the one by
 * which another bot has received it counts where the bot of the chat has not received it.
 */
export function isQuoteOf(
  messages: readonly OnRecord[],
  quoted: QuotedMessage | undefined,
  here: Address,
  chats: Chats,
): boolean {
  const { channels, now } = chats
  const own = messages.filter(({ dispatch: { event } }) => isSameChat(now(event.address), now(here)))
  const isOfOther = (one: OnRecord): boolean =>
    isBeside(now(one.dispatch.event.address), now(here)) &&
    one.dispatch.event.sender.id === quoted?.sender?.id &&
    !own.some((other) => isOneMessage(one, other, chats))
  return messages.some((one) => {
    const { event } = one.dispatch
    if (quoted === undefined || !('messageId' in event)) return false
    const hasName = event.messageId === quoted.messageId
    if (own.includes(one)) return hasName
    return isOfOther(one) && (countsByBot(channels, event.address) ? isOfTime(event, quoted) : hasName)
  })
}

/** An older log does not say when what is quoted was sent: there its words are compared. */
function isOfTime(one: InboundEvent, { sentAt, text = '' }: QuotedMessage): boolean {
  return sentAt === undefined ? 'text' in one && one.text.includes(text) : saidAt(one) === sentAt
}

/** Returns true for a group in which another bot of ours may have received what was said. */
function isBeside(one: Address, { channel, chat, chatType }: Address): boolean {
  return chatType !== 'direct' && one.channel === channel && one.chat === chat
}

/**
 * Returns true for what people call one message: its edits, the pieces of an album, and the same of a group as another
 * bot of ours has received it.
 */
export function isOneMessage(kept: OnRecord, further: OnRecord, chats: Chats): boolean {
  const { now } = chats
  const [one, other] = [kept.dispatch.event, further.dispatch.event]
  if (one.sender.id !== other.sender.id) return false
  if (isSameChat(one.address, other.address)) return hasSameName(one, other) || isSamePiece(one, other)
  const isOfOtherBot = one.address.account !== other.address.account
  return isOfOtherBot && isBeside(now(one.address), now(other.address)) && isSameByBots(kept, further, chats)
}

function hasSameName(one: InboundEvent, other: InboundEvent): boolean {
  return 'messageId' in one && 'messageId' in other && one.messageId === other.messageId
}

function isSamePiece(one: InboundEvent, other: InboundEvent): boolean {
  return 'text' in one && 'text' in other && one.piece !== undefined && one.piece.of === other.piece?.of
}

/** The second and the content say which is the same in groups in which each bot counts messages by itself. */
function isSameByBots(kept: OnRecord, further: OnRecord, chats: Chats): boolean {
  const [one, other] = [kept.dispatch.event, further.dispatch.event]
  if (!('text' in one) || !('text' in other)) return false
  // Elsewhere a number is of one message.
  if (!hasOwnNumbers(chats.channels, one.address.channel)) return hasSameName(one, other)
  if (saidAt(one) !== saidAt(other)) return false
  const isNumberedOnce = [one, other].every(({ address }) => !countsByBot(chats.channels, address))
  if (isNumberedOnce && hasSameName(one, other)) return true
  if (!isNumberedByBot(one, chats) && !isNumberedByBot(other, chats)) return false
  // One that has gone for its age has nothing to lose, and found by another it would stand for all of its second.
  return hasSameContent(one, other) || isUnheard(kept) || (isUnheard(further) && further.outcome !== 'aged')
}

/** One that came late has the id that its group got meanwhile, and the number that it had before. */
function isNumberedByBot(said: InboundEvent, { channels, moves }: Chats): boolean {
  const { address } = said
  const isBefore = ({ channel, to, at }: TimedMove) =>
    channel === address.channel && to === address.chat && saidAt(said) <= at
  return countsByBot(channels, address) || (hasOwnNumbers(channels, address.channel) && moves.some(isBefore))
}

/**
 * A stranger's message that a bot leaves alone is kept without words, and so is what was too old there: it may be any
 * that another bot has.
 */
function isUnheard({ dispatch, outcome }: OnRecord): boolean {
  return outcome !== 'forgotten' && isWordless(dispatch.event)
}
