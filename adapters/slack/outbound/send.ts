import type { OutboundPart } from '../../../src/channels/adapter.ts'
import type { MessageTarget, PrivatePart, SendingProof } from '../../../src/channels/capabilities.ts'
import type { Address } from '../../../src/core/address.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { DeliveryReceipt, RenderedPart } from '../../../src/core/outbound.ts'
import { directPart } from '../../shared/direct-part.ts'
import type { Fields } from '../../shared/fields.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { DELIVERY_EVENT, isStamp, toApiTarget } from '../address.ts'
import type { CallOptions, CallOutcome, SlackClient } from '../connection/client.ts'
import type { SlackMethod } from '../connection/scopes.ts'
import { nameOfEmoji } from './emoji-names.ts'
import { escapeText, withoutMentions } from './escape.ts'
import {
  besideThread,
  OF_THREAD,
  toDeletionReceipt,
  toEphemeralReceipt,
  toReactionReceipt,
  toReceipt,
  toSendReceipt,
} from './receipts.ts'

/** From the first byte of a send to the last of its answer. */
const SEND_DEADLINE_MS = 15_000

/**
 * The stamp of a message that never was. Bots have no typing indicator, and to delete nothing goes the way of a message
 * and needs its scope alone: that it is not found is the answer.
 */
const NO_MESSAGE = '0000000001.000000'

/** The receipt for a part without a message to send. The exit in `delivery` never lets such a part come this far. */
const SILENT: DeliveryReceipt = { kind: 'rejected', reason: 'silent' }
const NO_ADDRESS: DeliveryReceipt = { kind: 'rejected', reason: 'this address is no Slack conversation' }

export interface SlackOutbound {
  send(part: OutboundPart, signal: AbortSignal): Promise<DeliveryReceipt>
  /** For one person alone, in the conversation; where that cannot be, as the recipient says. */
  answerPrivately(part: PrivatePart, signal: AbortSignal): Promise<DeliveryReceipt>
  edit(target: MessageTarget, rendered: RenderedPart, signal: AbortSignal): Promise<DeliveryReceipt>
  delete(target: MessageTarget, signal: AbortSignal): Promise<DeliveryReceipt>
  react(target: MessageTarget, emoji: string, signal: AbortSignal): Promise<DeliveryReceipt>
  proveSending(address: Address, signal: AbortSignal): Promise<SendingProof>
}

/**
 * Rendered parts to API calls; nothing is repeated here but a message that was refused for its thread. Where it goes is
 * its address alone: an answer is in a thread exactly if its address has a topic.
 * @param onOutcome called after every call, so that a revoked token is seen at once
 */
export function createOutbound(client: SlackClient, onOutcome: (outcome: CallOutcome) => void): SlackOutbound {
  const call = async (method: SlackMethod, args: Fields, signal: AbortSignal): Promise<CallOutcome> => {
    const outcome = await client.call(method, args, changing(signal))
    if (outcome.kind === 'answered') failpoint('CP13-response-read')
    onOutcome(outcome)
    return outcome
  }
  const send = async (part: OutboundPart, signal: AbortSignal, first = part.address): Promise<DeliveryReceipt> => {
    const { address, rendered, key, replyTo } = part
    const target = toApiTarget(address)
    const visible = stripNoReply(rendered)
    if (target === null) return NO_ADDRESS
    if (visible === null) return SILENT
    const answers = replyTo === undefined ? {} : { answers: replyTo }
    const metadata = { event_type: DELIVERY_EVENT, event_payload: { id: key, ...answers } }
    const quiet = { unfurl_links: false, unfurl_media: false }
    const message = { ...target, ...content(visible), ...buttonsOf(visible), ...quiet, metadata }
    const outcome = await call('chat.postMessage', message, signal)
    const beside = besideThread(part, outcome)
    return beside ? send({ ...part, address: beside }, signal, first) : toSendReceipt(outcome, address, first)
  }
  return {
    send: (part, signal) => send(part, signal),
    async answerPrivately({ recipient, partNo: _, ...part }, signal) {
      const target = toApiTarget(part.address)
      const visible = stripNoReply(part.rendered)
      if (target === null) return NO_ADDRESS
      if (visible === null) return SILENT
      const args = { user: recipient.id, ...content(visible) }
      const asked = await call('chat.postEphemeral', { ...target, ...args }, signal)
      // Nobody else reads it, wherever it stands.
      const isOfThread = target.thread_ts !== undefined && asked.kind === 'refused' && OF_THREAD.has(asked.error)
      const outcome = isOfThread
        ? await call('chat.postEphemeral', { channel: target.channel, ...args }, signal)
        : asked
      if (outcome.kind !== 'refused' || !NOT_THERE.has(outcome.error)) return toEphemeralReceipt(outcome)
      return send(recipient.otherwise === 'here' ? part : directPart(part, recipient), signal)
    },
    async edit({ address, messageId }, rendered, signal) {
      const target = toMessage({ address, messageId })
      const visible = stripNoReply(rendered)
      if (target === null) return NO_ADDRESS
      if (visible === null) return SILENT
      return toReceipt(
        await call('chat.update', { ...target, ...content(visible), attachments: [], ...buttonsOf(visible) }, signal),
      )
    },
    async react({ address, messageId }, emoji, signal) {
      const target = toMessage({ address, messageId })
      const name = nameOfEmoji(emoji)
      if (target === null) return NO_ADDRESS
      if (name === undefined)
        return { kind: 'rejected', reason: `no name of ${emoji} on Slack is known: take a common one` }
      const { channel, ts: timestamp } = target
      return toReactionReceipt(await call('reactions.add', { channel, timestamp, name }, signal), messageId)
    },
    async delete({ address, messageId }, signal) {
      const target = toMessage({ address, messageId })
      if (target === null) return NO_ADDRESS
      return toDeletionReceipt(await call('chat.delete', target, signal), messageId)
    },
    async proveSending(address, signal) {
      const channel = toApiTarget(address)?.channel
      if (channel === undefined) return { works: true }
      const receipt = toDeletionReceipt(await call('chat.delete', { channel, ts: NO_MESSAGE }, signal), NO_MESSAGE)
      if (receipt.kind !== 'rejected') return { works: receipt.kind === 'sent' }
      const { retryAfterMs } = receipt
      return retryAfterMs === undefined ? { works: true } : { works: false, retryAfterMs }
    },
  }
}

/**
 * The bot or the person is not in the conversation, such as a direct chat of two people who use a slash command there.
 */
const NOT_THERE: ReadonlySet<string> = new Set([
  'channel_not_found',
  'not_in_channel',
  'user_not_in_channel',
  'is_archived',
])

/** Options of a call that changes what people see: a crash may hit right after its bytes left (CP12). */
function changing(signal: AbortSignal): CallOptions {
  return { signal, deadlineMs: SEND_DEADLINE_MS, onWritten: () => failpoint('CP12-bytes-written') }
}

/** The text as it goes over the wire. `parse: none` and no `link_names`: words are never turned into mentions. */
export function content({ text, plain, markup }: RenderedPart): Fields {
  const formatted = markup === 'mrkdwn'
  return { text: formatted ? withoutMentions(text) : escapeText(plain), mrkdwn: formatted, parse: 'none' }
}

/**
 * The buttons stand in an attachment, so that the text above keeps its own limit. An update without any is given none.
 */
function buttonsOf({ buttons }: RenderedPart): Fields {
  if (buttons === undefined) return {}
  const elements = buttons.map(({ label, command }, index) => ({
    type: 'button',
    text: { type: 'plain_text', text: label },
    action_id: `command:${index}`,
    value: command,
  }))
  return { attachments: [{ fallback: ' ', blocks: [{ type: 'actions', elements }] }] }
}

function toMessage({ address, messageId }: MessageTarget): { channel: string; ts: string } | null {
  const target = toApiTarget(address)
  return target === null || !isStamp(messageId) ? null : { channel: target.channel, ts: messageId }
}
