import type { OutboundPart } from '../../src/channels/adapter.ts'
import type { Recipient } from '../../src/core/outbound.ts'

/** The part as it goes to a person's direct chat instead, where the message it answers does not stand. */
export function directPart({ address, rendered, key }: OutboundPart, { id }: Recipient): OutboundPart {
  const { channel, account } = address
  return { address: { channel, account, chatType: 'direct', chat: id }, rendered, key }
}
