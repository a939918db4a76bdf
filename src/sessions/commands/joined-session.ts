import type { Channels } from '../../core/channel-traits.ts'
import type { CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import { joinsPeople } from '../../core/joins-people.ts'

/**
 * Throws `forbidden` where a command would end what people of other chats are doing. Members may stop and start over what
 * they share a chat with; a conversation that reaches beyond it is the owner's.
 */
export function refuseJoined(channels: Channels, { decision: { route, identity } }: CommandCall): void {
  if (identity.role === 'owner' || !joinsPeople(channels, route)) return
  throw new ParleyError(
    'forbidden',
    'Only my owner may do that: this conversation is shared with people of other chats, and would end for them too.',
  )
}
