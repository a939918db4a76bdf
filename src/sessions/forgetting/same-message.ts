import { type Address, isSameChat } from '../../core/address.ts'
import { countsByBot } from '../../core/channel-traits.ts'
import { movedAddress } from '../../core/chat-move.ts'
import { type InboundEvent, type QuotedMessage, saidAt } from '../../core/message.ts'
import { type Chats, isBeside, sameBeside } from '../../core/same-beside.ts'
import { hasSameContent, isWordless } from '../../core/same-content.ts'
import type { ReceivedRow } from '../../store/forget-port.ts'

/** A message as it is on record. */
export type OnRecord = Pick<ReceivedRow, 'dispatch' | 'outcome'>

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
  const { channels, moves } = chats
  const now = (address: Address): Address => moves.reduce(movedAddress, address)
  const own = messages.filter(({ dispatch: { event } }) => isSameChat(now(event.address), now(here)))
  const isOfOther = (one: OnRecord): boolean =>
    isBeside(one.dispatch.event.address, here, moves) &&
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

/**
 * Returns true for what people call one message: its edits, the pieces of an album, and the same of a group as another
 * bot of ours has received it.
 */
export function isOneMessage(kept: OnRecord, further: OnRecord, chats: Chats): boolean {
  const [one, other] = [kept.dispatch.event, further.dispatch.event]
  if (isSameChat(one.address, other.address))
    return one.sender.id === other.sender.id && (hasSameName(one, other) || isSamePiece(one, other))
  const sameness = sameBeside(one, other, chats)
  if (sameness !== 'perhaps') return sameness === 'same'
  // One that has gone for its age has nothing to lose, and found by another it would stand for all of its second.
  return hasSameContent(one, other) || isUnheard(kept) || (isUnheard(further) && further.outcome !== 'aged')
}

function hasSameName(one: InboundEvent, other: InboundEvent): boolean {
  return 'messageId' in one && 'messageId' in other && one.messageId === other.messageId
}

function isSamePiece(one: InboundEvent, other: InboundEvent): boolean {
  return 'text' in one && 'text' in other && one.piece !== undefined && one.piece.of === other.piece?.of
}

/**
 * A stranger's message that a bot leaves alone is kept without words, and so is what was too old there: it may be any
 * that another bot has.
 */
function isUnheard({ dispatch, outcome }: OnRecord): boolean {
  return outcome !== 'forgotten' && isWordless(dispatch.event)
}
