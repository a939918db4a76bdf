import type { ChannelAdapter } from '../channels/adapter.ts'
import {
  answersPrivately,
  deletesMessages,
  editsMessages,
  type FoundMessage,
  findsOwnMessages,
  provesSending,
  type SendingProof,
  sendsFiles,
} from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import { toError } from '../core/errors.ts'
import { deliveryKey } from '../core/ids.ts'
import type { MediaStore } from '../core/media.ts'
import type { Delivery, DeliveryReceipt, OutboundFile } from '../core/outbound.ts'

export interface Transmission {
  readonly address: Address
  readonly signal: AbortSignal
  /** Reads the files that rows name. */
  readonly media: Pick<MediaStore, 'read'>
}

/**
 * Makes the call a row asks for. Never rejects: an adapter that throws breaks its contract, and the outcome counts as
 * unknown.
 */
export async function transmit(
  adapter: ChannelAdapter,
  row: Delivery,
  { address, signal, media }: Transmission,
): Promise<DeliveryReceipt> {
  try {
    const { file } = row.part
    if (file === undefined || row.op !== 'send') return await call(adapter, row, address, signal)
    return await sendFile(adapter, { row, file, address, signal, media })
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
  { only, partNo, ...row }: Delivery,
  address: Address,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const message = outboundPart(row, address)
  if (only === undefined || !answersPrivately(adapter)) return adapter.send(message, signal)
  return adapter.answerPrivately({ ...message, recipient: only, partNo }, signal)
}

function outboundPart(
  { id, part, replyTo, address: then }: Pick<Delivery, 'id' | 'part' | 'replyTo' | 'address'>,
  address: Address,
) {
  // A group that gets a new id counts its messages anew.
  const names = replyTo !== undefined && then.chat === address.chat
  return {
    address,
    rendered: part,
    // Computed on demand, since it is a hash that few platforms use.
    get key() {
      return deliveryKey(id)
    },
    ...(names ? { replyTo } : undefined),
  }
}

interface FileSending extends Transmission {
  readonly row: Delivery
  readonly file: OutboundFile
}

/** The file is read before the call: one that is gone was certainly not sent. */
async function sendFile(
  adapter: ChannelAdapter,
  { row, file, address, signal, media }: FileSending,
): Promise<DeliveryReceipt> {
  if (!sendsFiles(adapter)) return { kind: 'rejected', reason: 'this channel takes no files', of: 'file' }
  const bytes = await media.read(file.media).catch(() => undefined)
  if (bytes === undefined) return { kind: 'rejected', reason: 'the file is not there any more', of: 'file' }
  const shown = file.as === 'voice' ? { ...row, part: { ...row.part, text: '', plain: '' } } : row
  return adapter.sendFile({ ...outboundPart(shown, address), file, bytes }, signal)
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
