import type { PrivatePart } from '../../../src/channels/capabilities.ts'
import type { DeliveryReceipt } from '../../../src/core/outbound.ts'
import { directPart } from '../../shared/direct-part.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import type { Interactions } from './interactions.ts'
import type { DiscordOutbound } from './send.ts'

interface Ports {
  readonly outbound: DiscordOutbound
  readonly interactions: Interactions
}

/**
 * An answer for one person alone: by the interaction it answers, while that takes one. A message that was typed cannot
 * be answered so; then it goes where the recipient says, a direct chat or the chat itself.
 */
export async function answerPrivately(
  { outbound, interactions }: Ports,
  { recipient, partNo, ...part }: PrivatePart,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const rendered = stripNoReply(part.rendered)
  if (recipient.handle !== undefined && rendered !== null) {
    const receipt = await interactions.answer({ handle: recipient.handle, rendered, partNo }, signal)
    if (receipt !== undefined) return receipt
  }
  return outbound.send(recipient.otherwise === 'here' ? part : directPart(part, recipient), signal)
}
