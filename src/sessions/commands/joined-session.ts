import type { Channels } from '../../core/channel-traits.ts'
import type { CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import { joinsPeople } from '../../core/joins-people.ts'
import { identifiesNobody } from '../../core/platform-id.ts'

/**
 * Throws `forbidden` where a command would end what people of other chats are doing. Members may stop and start over a
 * session of their own chat; one that reaches beyond it is the owner's.
 */
export function refuseJoined(channels: Channels, { decision: { route, identity } }: CommandCall): void {
  if (identity.role === 'owner' || !joinsPeople(channels, route)) return
  throw new ParleyError(
    'forbidden',
    'Only my owner may do that: this conversation is shared with people of other chats, and would end for them too.',
  )
}

/**
 * Throws `forbidden` where a command is about the whole of a conversation and not for this person: one that joins
 * people of different chats is the owner's, and among others it is for people who were let in by name.
 */
export function refuseWhole(channels: Channels, call: CommandCall): void {
  const { route, identity } = call.decision
  if (identity.role !== 'owner' && joinsPeople(channels, route))
    throw new ParleyError('forbidden', 'Only my owner may do that: people of other chats share this conversation.')
  if (isAmongOthers(channels, call)) throw onlyKnown('Only people whom my owner knows may do that here.')
}

/** Returns the error for somebody whom nobody let in by name. */
export function onlyKnown(words = 'Only people whom my owner knows may do that.'): ParleyError {
  return new ParleyError('forbidden', words)
}

/**
 * Returns true if somebody whom nobody let in by name asks this in a conversation that others take part in: there they
 * end only what they alone have asked for.
 */
export function isAmongOthers(channels: Channels, { dispatch, decision }: CommandCall): boolean {
  if (decision.public === undefined || dispatch.event.address.chatType === 'direct') return false
  const { address, sender } = dispatch.event
  return decision.route.scope.values.sender === undefined || identifiesNobody(channels, address.channel, sender)
}

/** Returns the error for somebody who would end what others are doing. */
export function othersToo(): ParleyError {
  return new ParleyError(
    'forbidden',
    'Only people whom my owner knows may do that here, for it would end for others too.',
  )
}
