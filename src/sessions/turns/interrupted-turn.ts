import type { Channels } from '../../core/channel-traits.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'
import { joinsPeople } from '../../core/joins-people.ts'
import type { InboundEvent } from '../../core/message.ts'
import { identifiesNobody, senderKey } from '../../core/platform-id.ts'
import type { SessionIdentity } from '../../core/session.ts'
import type { StoreReader } from '../../store/store.ts'

type Turns = Pick<StoreReader, 'turns' | 'inbox'>

/**
 * Returns the turn that a message waiting in the session ends in busy mode `interrupt`; `any` stands for any that the
 * session has. In a session that joins people of different chats a member ends no turn of another; strangers end only
 * their own anywhere.
 */
export async function interruptedBy(
  store: Turns,
  session: SessionIdentity,
  { dispatch, decision }: { readonly dispatch: Dispatch; readonly decision: Extract<Decision, { kind: 'run' }> },
  { busy, channels }: { readonly busy: 'queue' | 'steer' | 'interrupt'; readonly channels: Channels },
): Promise<{ readonly interrupts?: TurnId | 'any' }> {
  if (busy !== 'interrupt' || dispatch.posted || isFurtherPiece(dispatch.event)) return {}
  if (decision.public) {
    const turn = await findOwnTurn(store, session.id, dispatch.event, channels)
    return turn === undefined || turn === 'others' ? {} : { interrupts: turn }
  }
  return decision.identity.role === 'owner' || !joinsPeople(channels, session) ? { interrupts: 'any' } : {}
}

/** It belongs to the message that began the turn. */
function isFurtherPiece(event: InboundEvent): boolean {
  return event.kind === 'message' && event.piece?.begun === true
}

/**
 * Returns the session's turn if it answers nobody but this sender, `others` if somebody else waits for it too or the id
 * is that of many people, and undefined if the session has none. Called inside a transaction, so that nobody joins the
 * turn before the answer is used.
 */
export async function findOwnTurn(
  { turns, inbox }: Turns,
  session: SessionId,
  { address, sender }: Pick<InboundEvent, 'address' | 'sender'>,
  channels: Channels,
): Promise<TurnId | 'others' | undefined> {
  const turn = (await turns.running()).find(({ sessionId }) => sessionId === session)
  if (turn === undefined) return undefined
  if (identifiesNobody(channels, address.channel, sender)) return 'others'
  const own = senderKey(address.channel, sender)
  const asked = await inbox.ofTurn(turn.id)
  const isOwn = asked.every(
    ({ dispatch: { posted, event } }) => posted === undefined && senderKey(event.address.channel, event.sender) === own,
  )
  return isOwn ? turn.id : 'others'
}
