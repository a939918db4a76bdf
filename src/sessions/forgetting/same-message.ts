import type { Address } from '../../core/address.ts'
import type { InboundEvent, InboundText } from '../../core/message.ts'

export function isIn(one: Address, { channel, account, chat }: Address): boolean {
  return one.channel === channel && one.account === account && one.chat === chat
}

/** Returns true for a group in which another bot of ours may have received what was said. */
export function isBeside(one: Address, { channel, chat, chatType }: Address): boolean {
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
