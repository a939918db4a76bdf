import { formatAddress } from '../core/address.ts'
import type { AdmissionFact, Applicant } from '../core/admission.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { InboundEvent } from '../core/message.ts'
import { identifiesNobody, platformIdOf } from '../core/platform-id.ts'

/**
 * Returns the applicant an owner would have to let in for this event to pass: in a direct chat its sender, elsewhere
 * the chat with all its topics. Undefined for a sender that is no single person.
 */
export function applicantOf(
  channels: Pick<Channels, 'traits'>,
  { address, sender }: InboundEvent,
): Applicant | undefined {
  const { channel, account, chatType, chat } = address
  if (chatType !== 'direct') return { kind: 'place', key: formatAddress({ channel, account, chatType, chat }) }
  if (identifiesNobody(channels, channel, sender)) return undefined
  const id = platformIdOf(channels, channel, sender)
  return { kind: 'person', key: account === 'default' ? id : `${channel}@${account}${id.slice(channel.length)}` }
}

/**
 * The event asks an owner to let the applicant in, or belongs to what will be handled then. Channels of a guild or
 * workspace are many and talk among themselves: one asks when it addresses the agent, a group when somebody speaks.
 */
export function asksForAdmission(
  event: InboundEvent,
  { kind, fact, addressed }: { kind: Applicant['kind']; fact: AdmissionFact | undefined; addressed: boolean },
): boolean {
  if (fact?.state === 'denied') return false
  switch (event.kind) {
    case 'message':
    case 'command':
      return kind === 'person' || fact !== undefined || addressed || event.address.chatType === 'group'
    case 'edit':
    case 'delete':
      return fact !== undefined
    case 'membership':
      return kind === 'place' && event.status === 'joined'
    default:
      return false
  }
}
