import type { Address } from '../../core/address.ts'
import type { InboundEvent, InboundText, QuotedMessage } from '../../core/message.ts'

export function isIn(one: Address, { channel, account, chat }: Address): boolean {
  return one.channel === channel && one.account === account && one.chat === chat
}

/**
 * Returns true where one of these messages is quoted in a chat. The number of a message is one of its chat; the one by
 * which another bot has received it counts where the bot of the chat has not received it.
 */
export function isQuoteOf(
  messages: readonly InboundEvent[],
  quoted: QuotedMessage | undefined,
  here: Address,
  now: (address: Address) => Address,
): boolean {
  const own = messages.filter(({ address }) => isIn(now(address), now(here)))
  const isOfOther = (one: InboundEvent): boolean =>
    isBeside(now(one.address), now(here)) &&
    one.sender.id === quoted?.sender?.id &&
    !own.some((other) => isOneMessage(one, other, now))
  return messages.some(
    (one) => 'messageId' in one && one.messageId === quoted?.messageId && (own.includes(one) || isOfOther(one)),
  )
}

/** Returns true for a group in which another bot of ours may have received what was said. */
function isBeside(one: Address, { channel, chat, chatType }: Address): boolean {
  return chatType !== 'direct' && one.channel === channel && one.chat === chat
}

/**
 * Returns true for what people call one message: its edits, the pieces of an album, and the same of a group as another
 * bot of ours has received it. `now` gives a chat the id that it has by now.
 */
export function isOneMessage(one: InboundEvent, other: InboundEvent, now: (address: Address) => Address): boolean {
  if (one.sender.id !== other.sender.id) return false
  if (isIn(one.address, other.address)) return hasSameName(one, other) || isSamePiece(one, other)
  const isOfOtherBot = one.address.account !== other.address.account
  return isOfOtherBot && isBeside(now(one.address), now(other.address)) && isSameByBots(one, other)
}

function hasSameName(one: InboundEvent, other: InboundEvent): boolean {
  return 'messageId' in one && 'messageId' in other && one.messageId === other.messageId
}

function isSamePiece(one: InboundEvent, other: InboundEvent): boolean {
  return 'text' in one && 'text' in other && one.piece !== undefined && one.piece.of === other.piece?.of
}

/** In a small group of Telegram each bot counts messages by itself, so the words say which is the same. */
function isSameByBots(one: InboundEvent, other: InboundEvent): boolean {
  if (one.sentAt !== other.sentAt || !('text' in one) || !('text' in other)) return false
  return hasSameName(one, other) || (one.text === other.text && hasSameFiles(one, other))
}

/** Each bot has names of its own for files. */
function hasSameFiles({ attachments: some }: InboundText, { attachments: others }: InboundText): boolean {
  return some.length === others.length && some.every(({ size }, at) => size === others[at]?.size)
}
