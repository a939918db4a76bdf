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
export type FoundOriginal = Original & { readonly sessionId: SessionId }

/**
 * Records an edit or a deletion in the session that has the message, whatever sessions the rules would choose today. A
 * deleted message that still waits owes no turn any more. `known`: the accepted text that is amended, where the caller has
 * found it. False when it was told before: nothing was written.
 */
export async function acceptAmendment(
  tx: StoreWriter,
  amended: Amendment,
  channels: Channels,
  known?: FoundOriginal,
): Promise<boolean> {
  const { id, decision } = amended
  const stranger = decision.identity.role === 'guest'
  const dispatch = stranger ? withShortText(amended.dispatch) : amended.dispatch
  // What somebody unknown makes of a message is kept in the session's log, if it has the message, and nowhere else.
  const row = { id, dispatch: stranger ? withoutText(dispatch) : dispatch, decision, state: 'done' } as const
  const original = known ?? (await findOriginal(tx, dispatch))
  if (!original) return tx.inbox.add({ ...row, outcome: 'ignored: unknown_message' })
  const { sessionId } = original
  if (!(await tx.inbox.add({ ...row, sessionId, outcome: decision.reason }))) return false
  if (decision.reason === 'deleted')
    for (const { id: waiting } of await waitingIn(tx, sessionId, dispatch)) await tx.inbox.settle(waiting, 'deleted')
  const said = original.dispatch.event
  // Other sessions, too, are shown the preview and the description.
  if (decision.reason === 'deleted' && 'text' in said) await tx.sessions.unsay(sessionId, said.text)
  await tx.events.append(sessionId, dispatch.receivedAt, [amendment(dispatch, original)])
  // Somebody else's words may have come into the message with the edit.
  if (decision.reason === 'edited')
    for (const author of furtherAuthors(channels, dispatch)) await tx.authors.add(sessionId, author)
  return true
}

/**
 * Returns the text of a message that waits for a turn already, as it was said or as an earlier edit has it: a later edit is
 * answered with it, once.
 */
export async function findWaitingText(
  tx: StoreWriter,
  { dispatch, decision }: { readonly dispatch: Dispatch; readonly decision: Extract<Decision, { kind: 'run' }> },
): Promise<FoundOriginal | undefined> {
  if (dispatch.event.kind !== 'edit') return undefined
  const original = await findOriginal(tx, dispatch)
  if (original?.state === 'waiting') return original
  const sessionId = original?.sessionId ?? (await tx.sessions.current(decision.route.scopeKey))?.id
  const [row] = sessionId === undefined ? [] : await waitingIn(tx, sessionId, dispatch)
  return row && sessionId && { ...row, sessionId }
}

/** The texts of the message that wait for a turn in a session: the message itself, or edits of it that are answered too. */
async function waitingIn(
  tx: StoreWriter,
  sessionId: SessionId,
  { event }: Pick<Dispatch, 'event'>,
): Promise<readonly Original[]> {
  if (!('messageId' in event)) return []
  const { account, chat } = event.address
  return (await tx.inbox.inSession(sessionId, event.messageId)).flatMap((row) => {
    const { decision, state, dispatch } = row
    const { address } = dispatch.event
    const isSame = address.account === account && address.chat === chat
    return isSame && state === 'waiting' && decision.kind === 'run' ? { ...row, decision } : []
  })
}

/** The message that an edit or deletion is about, if a session of ours has it and its model may be shown it. */
export async function findOriginal(tx: StoreWriter, { event }: Dispatch): Promise<FoundOriginal | undefined> {
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
