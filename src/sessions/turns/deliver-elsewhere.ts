import { formatAddress, parseAddress } from '../../core/address.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import type { SessionIdentity } from '../../core/session.ts'
import type { StoreWriter } from '../../store/store.ts'

/**
 * Returns true for a run of a schedule that delivers to another place than its session did so far, though its chat has
 * not moved. What was learned for other readers would go along: such a run begins a session of its own.
 */
export async function deliversElsewhere(
  { chatMoves }: Pick<StoreWriter, 'chatMoves'>,
  { metadata: { deliver_to: before } }: Pick<SessionIdentity, 'metadata'>,
  { event, schedule }: Dispatch,
): Promise<boolean> {
  const now = formatAddress(event.address)
  if (schedule === undefined || before === undefined || before === now) return false
  const address = parseAddress(before)
  const chat = address.chatType === 'group' ? await chatMoves.movedTo(address.channel, address.chat) : undefined
  return chat === undefined || formatAddress({ ...address, chat }) !== now
}
