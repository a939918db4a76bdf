import type { OutboundPart } from '../../../src/channels/adapter.ts'
import type { MessageTarget, SendingProof } from '../../../src/channels/capabilities.ts'
import type { Address } from '../../../src/core/address.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { DeliveryReceipt, RenderedPart } from '../../../src/core/outbound.ts'
import { isFields } from '../../shared/fields.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { isSnowflake, toApiTarget } from '../address.ts'
import type { CallOptions, CallOutcome, DiscordClient } from '../connection/client.ts'
import type { DirectChannels } from './direct-channels.ts'
import { isOfReply, NO_HISTORY, toDeleteReceipt, toReceipt, toSendReceipt } from './receipts.ts'

/** From the first byte of a send to the last of its answer. */
const SEND_DEADLINE_MS = 15_000
const TYPING_DEADLINE_MS = 5000
/** No link previews, as on the other platforms: the host of a link would be asked for it. */
export const SUPPRESS_EMBEDS = 4
/** No sound and no push. */
const SUPPRESS_NOTIFICATIONS = 4096

/** The receipt for a part without a message to send. The exit in `delivery` never lets such a part come this far. */
const SILENT: DeliveryReceipt = { kind: 'rejected', reason: 'silent' }
const NO_ADDRESS: DeliveryReceipt = { kind: 'rejected', reason: 'this address is no Discord channel' }

export interface DiscordOutbound {
  send(part: OutboundPart, signal: AbortSignal): Promise<DeliveryReceipt>
  edit(target: MessageTarget, rendered: RenderedPart, signal: AbortSignal): Promise<DeliveryReceipt>
  delete(target: MessageTarget, signal: AbortSignal): Promise<DeliveryReceipt>
  react(target: MessageTarget, emoji: string, signal: AbortSignal): Promise<DeliveryReceipt>
  showTyping(address: Address, signal: AbortSignal): Promise<void>
  proveSending(address: Address, signal: AbortSignal): Promise<SendingProof>
}

export interface Ports {
  readonly client: DiscordClient
  readonly directs: DirectChannels
  readonly clock: Clock
  /** The channels in which no message is shown as an answer, and until when (`clock.elapsed()`) none is tried. */
  readonly answerless: Map<string, number>
}

/** A permission may be given at any time, and each try without it counts as a refused request. */
const TRY_AGAIN_MS = 3_600_000

/** Returns the id of the channel, or why there is none. */
type Locate = (address: Address, options: CallOptions) => Promise<string | DeliveryReceipt>

async function putReaction(
  { client, locate }: { readonly client: DiscordClient; readonly locate: Locate },
  { address, messageId, emoji }: MessageTarget & { readonly emoji: string },
  options: CallOptions,
): Promise<DeliveryReceipt> {
  if (!isSnowflake(messageId)) return NO_ADDRESS
  const channel = await locate(address, options)
  if (typeof channel !== 'string') return channel
  const path = `/channels/${channel}/messages/${messageId}/reactions/${encodeURIComponent(emoji)}/@me` as const
  return toReceipt(await client.call({ verb: 'PUT', path }, options), messageId)
}

interface MessageAt {
  readonly channel: string
  readonly messageId: string
}

/**
 * Rendered parts to REST calls; nothing is repeated here but an answer that may not be shown as one. Every create
 * carries the delivery's key as an enforced nonce, so that the same send again gives the first message back. No text of
 * a model pings anybody (F-I10).
 */
export function createOutbound(ports: Ports): DiscordOutbound {
  const { client, directs, clock } = ports
  const locate: Locate = (address, options) => channelOf(directs, address, options)
  const edit = (at: MessageAt, rendered: RenderedPart, options: CallOptions): Promise<CallOutcome> => {
    const body = { content: contentOf(rendered), components: rowsOf(rendered), ...NO_PINGS }
    const path = `/channels/${at.channel}/messages/${at.messageId}` as const
    return client.call({ verb: 'PATCH', path, body }, options)
  }
  const changing = (signal: AbortSignal): CallOptions => ({ signal, deadlineMs: SEND_DEADLINE_MS })
  const type = async (address: Address, signal: AbortSignal): Promise<DeliveryReceipt> => {
    const options = { signal, deadlineMs: TYPING_DEADLINE_MS }
    const channel = await locate(address, options)
    if (typeof channel !== 'string') return channel
    return toReceipt(await client.call({ verb: 'POST', path: `/channels/${channel}/typing` }, options), 'typing')
  }

  return {
    async send({ address, rendered, key, replyTo }, signal) {
      const visible = stripNoReply(rendered)
      if (visible === null) return SILENT
      const until = clock.elapsed() + SEND_DEADLINE_MS
      const channel = await locate(address, changing(signal))
      if (typeof channel !== 'string') return channel
      const content = contentOf(visible)
      const path = `/channels/${channel}/messages` as const
      const part = { address, rendered: visible, key, ...(replyTo === undefined ? {} : { replyTo }) }
      const outcome = await create(ports, { channel, part }, (body) =>
        client.call({ verb: 'POST', path, body }, { signal, deadlineMs: until - clock.elapsed() }),
      )
      if (outcome.kind === 'answered') failpoint('CP13-response-read')
      const receipt = toSendReceipt(outcome, address)
      const earlier = receipt.kind === 'sent' && shownIn(outcome) !== content.trim()
      if (!earlier) return receipt
      // The key had been used: this is the first message of this delivery, which may show less by now.
      return toReceipt(
        await edit({ channel, messageId: receipt.messageId }, visible, changing(signal)),
        receipt.messageId,
      )
    },
    async edit({ address, messageId }, rendered, signal) {
      const visible = stripNoReply(rendered)
      if (visible === null) return SILENT
      if (!isSnowflake(messageId)) return NO_ADDRESS
      const channel = await locate(address, changing(signal))
      if (typeof channel !== 'string') return channel
      return toReceipt(await edit({ channel, messageId }, visible, changing(signal)), messageId)
    },
    async delete({ address, messageId }, signal) {
      if (!isSnowflake(messageId)) return NO_ADDRESS
      const channel = await locate(address, changing(signal))
      if (typeof channel !== 'string') return channel
      const path = `/channels/${channel}/messages/${messageId}` as const
      return toDeleteReceipt(await client.call({ verb: 'DELETE', path }, changing(signal)), messageId)
    },
    react: (target, emoji, signal) => putReaction({ client, locate }, { ...target, emoji }, changing(signal)),
    async showTyping(address, signal) {
      await type(address, signal)
    },
    async proveSending(address, signal) {
      const receipt = await type(address, signal)
      if (receipt.kind !== 'rejected') return { works: receipt.kind === 'sent' }
      const { retryAfterMs } = receipt
      return retryAfterMs === undefined ? { works: true } : { works: false, retryAfterMs }
    },
  }
}

/** Makes a message; where the platform refuses what it answers, it is no reason to say nothing. */
export async function create(
  { clock, answerless }: Pick<Ports, 'clock' | 'answerless'>,
  { channel, part }: { readonly channel: string; readonly part: OutboundPart },
  call: (body: object) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  const { replyTo, ...alone } = part
  const now = clock.elapsed()
  if (replyTo === undefined || (answerless.get(channel) ?? 0) > now) return call(messageBody(alone))
  const outcome = await call(messageBody(part))
  if (!isOfReply(outcome)) return outcome
  if (outcome.kind === 'refused' && outcome.code === NO_HISTORY) answerless.set(channel, now + TRY_AGAIN_MS)
  return call(messageBody(alone))
}

/** Returns the body of a message to make. */
function messageBody({ address, rendered, key, replyTo }: OutboundPart): object {
  return {
    content: contentOf(rendered),
    flags: rendered.silent ? SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS : SUPPRESS_EMBEDS,
    nonce: key,
    enforce_nonce: true,
    ...NO_PINGS,
    ...(address.chatType === 'direct' ? {} : reply(replyTo)),
    ...(rendered.buttons && { components: rowsOf(rendered) }),
  }
}

/** Returns the id of the channel of an address, or the receipt of what there is none for. */
export async function channelOf(
  directs: DirectChannels,
  address: Address,
  options: CallOptions,
): Promise<string | DeliveryReceipt> {
  const target = toApiTarget(address)
  if (target === null) return NO_ADDRESS
  const located = await directs.locate(target, options)
  return 'id' in located ? located.id : toReceipt(located.outcome)
}

const ROW = 1
const BUTTON = 2
const GREY = 2
const BUTTONS_OF_ROW = 5

/** No rows take the buttons of an edited message away. */
function rowsOf({ buttons = [] }: RenderedPart): readonly object[] {
  const components = buttons.map(({ label, command }) => ({ type: BUTTON, style: GREY, label, custom_id: command }))
  const rows = Math.ceil(components.length / BUTTONS_OF_ROW)
  return Array.from({ length: rows }, (_, row) => ({
    type: ROW,
    components: components.slice(row * BUTTONS_OF_ROW, (row + 1) * BUTTONS_OF_ROW),
  }))
}

export const NO_PINGS = { allowed_mentions: { parse: [], replied_user: false } } as const

/** The text as it goes over the wire; a part that is already plain has no markup to lose. */
export function contentOf(rendered: RenderedPart): string {
  return rendered.markup === 'markdown' ? rendered.text : rendered.plain
}

/** A message that is gone is no reason to say nothing. */
function reply(replyTo: string | undefined): object {
  if (!isSnowflake(replyTo)) return {}
  return { message_reference: { message_id: replyTo, fail_if_not_exists: false } }
}

function shownIn(outcome: CallOutcome): unknown {
  return outcome.kind === 'answered' && isFields(outcome.result) ? outcome.result.content : undefined
}
