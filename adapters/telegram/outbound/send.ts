import type { ReactionTypeEmoji } from 'telegraf/types'
import type { OutboundPart } from '../../../src/channels/adapter.ts'
import type { MessageTarget, SendingProof } from '../../../src/channels/capabilities.ts'
import type { Address } from '../../../src/core/address.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { Button, DeliveryReceipt, RenderedPart } from '../../../src/core/outbound.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { toApiId, toApiTarget } from '../address.ts'
import type { CallOptions, CallOutcome, TelegramClient } from '../connection/client.ts'
import { chatOf, type Draft, mend, placeOf, type Sent, toReceipt, toSendReceipt, waitMs } from './receipts.ts'

/** From the first byte of a send to the last of its answer, its mended repetition included. */
const SEND_DEADLINE_MS = 15_000
const TYPING_DEADLINE_MS = 5000

/** The receipt for a part without a message to send. The exit in `delivery` never lets such a part come this far. */
const SILENT: DeliveryReceipt = { kind: 'rejected', reason: 'silent' }
const NO_ADDRESS: DeliveryReceipt = { kind: 'rejected', reason: 'this address is no Telegram chat' }

export interface TelegramOutbound {
  send(part: OutboundPart, signal: AbortSignal): Promise<DeliveryReceipt>
  edit(target: MessageTarget, rendered: RenderedPart, signal: AbortSignal): Promise<DeliveryReceipt>
  delete(target: MessageTarget, signal: AbortSignal): Promise<DeliveryReceipt>
  react(target: MessageTarget, emoji: string, signal: AbortSignal): Promise<DeliveryReceipt>
  showTyping(address: Address, signal: AbortSignal): Promise<void>
  proveSending(address: Address, signal: AbortSignal): Promise<SendingProof>
}

interface Trying {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly call: (draft: Draft, options: CallOptions) => Promise<CallOutcome>
}

/** Tries a draft, and what `mend` makes of it as long as it does; returns the last outcome and the draft it is of. */
async function deliver(begun: Draft, { clock, signal, call }: Trying) {
  const until = clock.elapsed() + SEND_DEADLINE_MS
  for (let draft = begun; ; ) {
    const outcome = await call(draft, changing(signal, until - clock.elapsed()))
    if (outcome.kind === 'answered') failpoint('CP13-response-read')
    const mended = mend(draft, outcome)
    if (mended === null) return { outcome, draft }
    draft = mended
  }
}

/** Rendered parts to API calls. A refusal over mere form or place is mended; nothing else is ever repeated here. */
export function createOutbound(client: TelegramClient, clock: Clock): TelegramOutbound {
  const type = async (address: Address, signal: AbortSignal): Promise<CallOutcome | null> => {
    const target = toApiTarget(address)
    if (target === null) return null
    return client.call('sendChatAction', { ...target, action: 'typing' }, { deadlineMs: TYPING_DEADLINE_MS, signal })
  }
  return {
    async send({ address, rendered, replyTo }, signal) {
      const visible = stripNoReply(rendered)
      if (toApiTarget(address) === null) return NO_ADDRESS
      if (visible === null) return SILENT
      const reply = replyTo === undefined || address.chatType === 'direct' ? null : toApiId(replyTo)
      const begun = { rendered: visible, address, reply }
      const call: Trying['call'] = (draft, options) =>
        client.call('sendMessage', { ...placeOf(draft), ...content(draft), ...soundOf(draft) }, options)
      const { outcome, draft } = await deliver(begun, { clock, signal, call })
      return toSendReceipt(outcome, draft, begun)
    },
    async edit({ address, messageId }, rendered, signal) {
      const target = toMessage(address, messageId)
      const visible = stripNoReply(rendered)
      if (target === null) return NO_ADDRESS
      if (visible === null) return SILENT
      const begun = { rendered: visible, address: chatOf(address), reply: null }
      const call: Trying['call'] = (draft, options) =>
        client.call('editMessageText', { ...target, ...content(draft) }, options)
      const { outcome } = await deliver(begun, { clock, signal, call })
      return toReceipt(outcome, { address, messageId })
    },
    async delete({ address, messageId }, signal) {
      const target = toMessage(address, messageId)
      if (target === null) return NO_ADDRESS
      const outcome = await client.call('deleteMessage', target, changing(signal, SEND_DEADLINE_MS))
      return toReceipt(outcome, { address, messageId })
    },
    async react({ address, messageId }, emoji, signal) {
      const target = toMessage(address, messageId)
      if (target === null) return NO_ADDRESS
      const reaction = [toReaction(emoji)]
      const outcome = await client.call(
        'setMessageReaction',
        { ...target, reaction },
        changing(signal, SEND_DEADLINE_MS),
      )
      return toReactionReceipt(outcome, { address, messageId })
    },
    async showTyping(address, signal) {
      await type(address, signal)
    },
    async proveSending(address, signal) {
      const outcome = await type(address, signal)
      // A refusal other than 429 is an answer too: calls that write get through.
      if (outcome?.kind !== 'refused') return { works: outcome?.kind === 'answered' }
      return outcome.code === 429 ? { works: false, retryAfterMs: waitMs(outcome.retryAfterSeconds) } : { works: true }
    },
  }
}

/** Options of a call that changes what people see. */
function changing(signal: AbortSignal, deadlineMs: number): CallOptions {
  return { signal, deadlineMs, onWritten }
}

/** A crash may hit right after the bytes of such a call left. */
function onWritten(): void {
  failpoint('CP12-bytes-written')
}

const NO_PREVIEW = { is_disabled: true } as const

/** Without a sound it comes where that was asked for; an edit makes none anyway. */
function soundOf({ rendered }: Draft): { readonly disable_notification?: true } {
  return rendered.silent ? { disable_notification: true } : {}
}

/** An edit without a keyboard takes it away. */
function content({ rendered }: Draft) {
  const { text, plain, markup, buttons } = rendered
  const said = markup === 'html' ? ({ text, parse_mode: 'HTML' } as const) : { text: plain }
  return { ...said, link_preview_options: NO_PREVIEW, ...(buttons && { reply_markup: keyboardOf(buttons) }) }
}

/** The buttons of a row share its width, so that only few and short ones stand side by side. */
const ROW = { buttons: 3, characters: 36 }

function keyboardOf(buttons: readonly Button[]) {
  const keys = buttons.map(({ label: text, command }) => ({ text, callback_data: command }))
  const inOne = keys.length <= ROW.buttons && keys.every(({ text }) => text.length * keys.length <= ROW.characters)
  return { inline_keyboard: inOne ? [keys] : keys.map((key) => [key]) }
}

function toMessage(address: Address, messageId: string): { chat_id: string; message_id: number } | null {
  const target = toApiTarget(address)
  const message_id = toApiId(messageId)
  return target === null || message_id === null ? null : { chat_id: target.chat_id, message_id }
}

/** The emoji that Telegram takes as reactions, as the Bot API lists them. */
const REACTIONS =
  '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡'

const OTHER_EMOJI = /REACTION_INVALID/i

/** Returns an emoji as Telegram writes it, without the mark that asks for the picture. */
function toReaction(emoji: string): ReactionTypeEmoji {
  return { type: 'emoji', emoji: emoji.replaceAll('\uFE0F', '') as ReactionTypeEmoji['emoji'] }
}

/** Makes a receipt like `toReceipt`; one of an emoji that is none of Telegram's names those there are. */
function toReactionReceipt(outcome: CallOutcome, sent: Required<Sent>): DeliveryReceipt {
  const receipt = toReceipt(outcome, sent)
  const other = outcome.kind === 'refused' && OTHER_EMOJI.test(outcome.description)
  return other && receipt.kind === 'rejected' ? { kind: 'rejected', reason: `Telegram has only ${REACTIONS}` } : receipt
}
