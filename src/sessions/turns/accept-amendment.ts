import { furtherAuthors } from '../../core/author.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import type { InboxId, SessionId } from '../../core/ids.ts'
import type { EventToAppend, InboxRow, StoreWriter } from '../../store/store.ts'
import { admittedKey } from '../people/admitted-key.ts'
import { withoutText, withShortText } from './kept-text.ts'
import { messageName, userMessage } from './user-message.ts'

interface Amendment {
  readonly id: InboxId
  readonly dispatch: Dispatch
  readonly decision: Extract<Decision, { kind: 'amend' }>
}

/** An accepted message that a session has on record. */
type Original = InboxRow & { readonly decision: Extract<Decision, { kind: 'run' | 'context' }> }

/**
 * Records an edit or a deletion in the session that has the message, whatever sessions the rules would choose today. A
 * deleted message that still waits owes no turn any more. False when it was told before: nothing was written.
 */
export async function acceptAmendment(tx: StoreWriter, amended: Amendment, channels: Channels): Promise<boolean> {
  const { id, decision } = amended
  const stranger = decision.identity.role === 'guest'
  const dispatch = stranger ? withShortText(amended.dispatch) : amended.dispatch
  // What somebody unknown makes of a message is kept in the session's log, if it has the message, and nowhere else.
  const row = { id, dispatch: stranger ? withoutText(dispatch) : dispatch, decision, state: 'done' } as const
  const original = await findOriginal(tx, dispatch)
  if (!original) return tx.inbox.add({ ...row, outcome: 'ignored: unknown_message' })
  const { sessionId, state } = original
  if (!(await tx.inbox.add({ ...row, sessionId, outcome: decision.reason }))) return false
  if (decision.reason === 'deleted' && state === 'waiting') await tx.inbox.settle(original.id, 'deleted')
  const said = original.dispatch.event
  // Other sessions, too, are shown the preview and the description.
  if (decision.reason === 'deleted' && 'text' in said) await tx.sessions.unsay(sessionId, said.text)
  await tx.events.append(sessionId, dispatch.receivedAt, [amendment(dispatch, original)])
  // Somebody else's words may have come into the message with the edit.
  if (decision.reason === 'edited')
    for (const author of furtherAuthors(channels, dispatch)) await tx.authors.add(sessionId, author)
  return true
}

/** The message that an edit or deletion is about, if a session of ours has it and its model may be shown it. */
export async function findOriginal(
  tx: StoreWriter,
  { event }: Dispatch,
): Promise<(Original & { readonly sessionId: SessionId }) | undefined> {
  if (event.kind !== 'edit' && event.kind !== 'delete') return undefined
  const { channel, account } = event.address
  const told = await tx.inbox.byKey(channel, account, event.original)
  const row =
    told && told.sessionId === undefined ? await tx.inbox.byKey(channel, account, admittedKey(event.original)) : told
  if (row?.sessionId === undefined || row.outcome === 'refused: queue_full') return undefined
  const { sessionId, decision } = row
  if (decision.kind !== 'run' && decision.kind !== 'context') return undefined
  if (event.kind === 'edit' && row.dispatch.event.sender.id !== event.sender.id) return undefined
  return (await tx.sessions.get(sessionId)) && { ...row, sessionId, decision }
}

function amendment(dispatch: Dispatch, { decision }: Original): EventToAppend {
  const { event } = dispatch
  return event.kind === 'delete'
    ? { type: 'message_deleted', data: messageName(event, decision.route) }
    : userMessage(dispatch, decision, { triggers: false })
}
