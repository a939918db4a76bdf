import type { ReactionTypeEmoji } from 'telegraf/types'
import type { DeliveryReceipt } from '../../../src/core/outbound.ts'
import type { CallOutcome } from '../connection/client.ts'
import { type Sent, toReceipt } from './receipts.ts'

/** The emoji that Telegram takes as reactions, as the Bot API lists them. */
const REACTIONS =
  '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡'

const OTHER_EMOJI = /REACTION_INVALID/i

/** Returns an emoji as Telegram writes it, without the mark that asks for the picture. */
export function toReaction(emoji: string): ReactionTypeEmoji {
  return { type: 'emoji', emoji: emoji.replaceAll('\uFE0F', '') as ReactionTypeEmoji['emoji'] }
}

/** Makes a receipt like `toReceipt`; one of an emoji that is none of Telegram's names those there are. */
export function toReactionReceipt(outcome: CallOutcome, sent: Required<Sent>): DeliveryReceipt {
  const receipt = toReceipt(outcome, sent)
  const other = outcome.kind === 'refused' && OTHER_EMOJI.test(outcome.description)
  return other && receipt.kind === 'rejected' ? { kind: 'rejected', reason: `Telegram has only ${REACTIONS}` } : receipt
}
