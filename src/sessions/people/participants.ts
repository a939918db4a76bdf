import type { Channels } from '../../core/channel-traits.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import { identifiesNobody, platformIdOf } from '../../core/platform-id.ts'

/**
 * Returns the platform id that a dispatch makes a participant; its person is looked up on use, so that a link or its
 * end counts at once (S19). Returns undefined for a schedule, a bot, or a sender that stands for many people.
 */
export function participantOf(channels: Channels, { event, schedule, posted }: Dispatch): string | undefined {
  if (posted) return posted.participant
  const { sender, address } = event
  if (schedule || identifiesNobody(channels, address.channel, sender)) return undefined
  return platformIdOf(channels, address.channel, sender)
}
