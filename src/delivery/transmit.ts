import type { ChannelAdapter } from '../channels/adapter.ts'
import {
  answersPrivately,
  deletesMessages,
  editsMessages,
  type FoundMessage,
  findsOwnMessages,
  provesSending,
  type SendingProof,
} from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import { toError } from '../core/errors.ts'
import { deliveryKey } from '../core/ids.ts'
import type { Delivery, DeliveryReceipt } from '../core/outbound.ts'

/**
 * Makes the call a row asks for. Never rejects: an adapter that throws breaks its contract, and the outcome counts as
 * unknown.
 */
export async function transmit(
  adapter: ChannelAdapter,
  row: Delivery,
  address: Address,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  try {
    return await call(adapter, row, address, signal)
  } catch (thrown) {
    return { kind: 'unknown', reason: toError(thrown).message }
  }
}

function call(
  adapter: ChannelAdapter,
  row: Delivery,
  address: Address,
  signal: AbortSignal,
): Promise<DeliveryReceipt> | DeliveryReceipt {
  const { part, messageId } = row
  if (row.op === 'send') return send(adapter, row, address, signal)
  if (messageId === undefined) return { kind: 'rejected', reason: 'the message to change is not known' }
  if (row.op === 'edit') {
    if (!editsMessages(adapter)) return { kind: 'rejected', reason: 'this channel does not edit messages' }
    return adapter.edit({ address, messageId }, part, signal)
  }
  if (!deletesMessages(adapter)) return { kind: 'rejected', reason: 'this channel does not delete messages' }
  return adapter.delete({ address, messageId }, signal)
}

function send(
  adapter: ChannelAdapter,
  { id, part, partNo, replyTo, only }: Delivery,
  address: Address,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const message = {
    address,
    rendered: part,
    // Computed on demand, since it is a hash that few platforms use.
    get key() {
      return deliveryKey(id)
    },
    ...(replyTo === undefined ? undefined : { replyTo }),
  }
  if (only === undefined || !answersPrivately(adapter)) return adapter.send(message, signal)
  return adapter.answerPrivately({ ...message, recipient: only, partNo }, signal)
}

/** Asks the platform for a lost message. Never rejects: if the adapter fails, the answer is `unknown`. */
export async function lookFor(
  adapter: ChannelAdapter,
  { id, part: rendered, earlier }: Delivery,
  { address, ageMs }: { readonly address: Address; readonly ageMs: number },
  signal: AbortSignal,
): Promise<FoundMessage> {
  if (!findsOwnMessages(adapter)) return { kind: 'cannot_tell', reason: 'this channel does not find its messages' }
  try {
    const lost = { address, key: deliveryKey(id), rendered, ageMs }
    return await adapter.findOwn(earlier === undefined ? lost : { ...lost, earlier }, signal)
  } catch (thrown) {
    return { kind: 'cannot_tell', reason: toError(thrown).message }
  }
}

/** Asks the platform whether a message would arrive now. Never rejects. */
export async function proveSending(
  adapter: ChannelAdapter,
  address: Address,
  signal: AbortSignal,
): Promise<SendingProof> {
  if (!provesSending(adapter)) return { works: false }
  try {
    return await adapter.proveSending(address, signal)
  } catch {
    return { works: false }
  }
}
