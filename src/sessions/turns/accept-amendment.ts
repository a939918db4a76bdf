import { isSameChat } from '../../core/address.ts'
import { furtherAuthors } from '../../core/author.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import type { InboxId, SessionId } from '../../core/ids.ts'
import type { InboundDelete, InboundEdit } from '../../core/message.ts'
import { EMPTIED, type InboxOutcome } from '../../core/turn-end.ts'
import type { EventToAppend } from '../../store/event-port.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreWriter } from '../../store/store.ts'
import { admittedKey } from '../people/admitted-key.ts'
import { withoutText, withShortText } from '../people/kept-text.ts'
import { forgetMade, showInstead } from './forget-made.ts'
import { inThreadKey } from './in-thread-key.ts'
import { messageName, userMessage } from './user-message.ts'

interface Amendment {
  readonly id: InboxId
  readonly dispatch: Dispatch
  readonly decision: Extract<Decision, { kind: 'amend' }>
}

/** A text of an accepted message that a session has on record. */
type Original = InboxRow & { readonly decision: Extract<Decision, { kind: 'run' | 'context' }> }
export type FoundText = Original & { readonly sessionId: SessionId }

/**
 * Records an edit or a deletion in each session that has the message, whatever sessions the rules would choose today:
 * where it was said, and where texts of it wait for a turn. A deleted message owes no turn any more. `waiting` are
 * those texts, if the caller has looked for them. Returns false when it was received before: nothing was written.
 */
export async function acceptAmendment(
  tx: StoreWriter,
  amended: Amendment,
  channels: Channels,
  waiting?: readonly FoundText[],
): Promise<boolean> {
  const { id, decision } = amended
  const stranger = decision.identity.role === 'guest'
  const dispatch = stranger ? withShortText(amended.dispatch) : amended.dispatch
  // A stranger's edit or deletion is kept in the session's log, if it has the message, and nowhere else.
  const row = { id, dispatch: stranger ? withoutText(dispatch) : dispatch, decision, state: 'done' } as const
  const texts = waiting ?? (await findWaitingTexts(tx, dispatch))
  const originals = await findOriginals(tx, dispatch)
  const found = new Map([...texts, ...originals].map((one) => [one.sessionId, one]))
  const [original] = originals
  const [first] = found.keys()
  // Its words are nowhere to be shown, and another bot of ours may have been asked to forget the message.
  if (first === undefined)
    return tx.inbox.add({ ...row, dispatch: withoutText(dispatch), outcome: 'ignored: unknown_message' })
  if (!(await tx.inbox.add({ ...row, sessionId: original?.sessionId ?? first, outcome: decision.reason }))) return false
  // Texts that wait owe no turn any more.
  if (decision.reason === 'deleted') for (const { id } of texts) await tx.inbox.settle(id, 'deleted')
  for (const [sessionId, text] of found) {
    if (dispatch.event.kind === 'delete') await forgetMade(tx, sessionId, goneWith(dispatch.event, text))
    else await showEdited(tx, dispatch, text)
    await amendIn(tx, sessionId, { text, dispatch, decision }, channels)
  }
  return true
}

async function amendIn(
  tx: StoreWriter,
  sessionId: SessionId,
  { text, dispatch, decision }: Pick<Amendment, 'dispatch' | 'decision'> & { readonly text: FoundText },
  channels: Channels,
): Promise<void> {
  await tx.events.append(sessionId, dispatch.receivedAt, [amendment(dispatch, text)])
  // The edit may have brought somebody else's words into the message.
  if (decision.reason === 'edited')
    for (const author of furtherAuthors(channels, dispatch)) await tx.authors.add(sessionId, author)
}

/** Lists, which other sessions read too, show the words of an edited message as they are now. */
export async function showEdited(tx: StoreWriter, { event }: Dispatch, original: FoundText): Promise<void> {
  if (event.kind === 'edit')
    await showInstead(tx, original.sessionId, { ...goneWith(event, original), now: event.text })
}

/** Returns what a message has said until it was edited or deleted. */
function goneWith(event: InboundEdit | InboundDelete, { dispatch, decision }: FoundText) {
  const said = 'text' in dispatch.event ? [dispatch.event.text] : []
  return { messages: [messageName(event, decision.route)], said }
}

/**
 * Returns the texts of an edited or deleted message that wait for a turn: the original, or an earlier edit that is
 * answered too. A later edit is answered together with them, once.
 */
export async function findWaitingTexts(
  tx: Pick<StoreWriter, 'inbox'>,
  { event }: Pick<Dispatch, 'event'>,
): Promise<readonly FoundText[]> {
  if (event.kind !== 'edit' && event.kind !== 'delete') return []
  return (await tx.inbox.waitingTexts(event.address.channel, event.messageId)).flatMap((row) => {
    const { decision, sessionId, dispatch } = row
    const { address, sender } = dispatch.event
    const isSame = isSameChat(address, event.address)
    const mayAmend = event.kind === 'delete' || sender.id === event.sender.id
    return isSame && mayAmend && sessionId && decision.kind === 'run' ? { ...row, decision, sessionId } : []
  })
}

/** Returns the message that an edit or deletion is about, in each session that has it and may show it to its model. */
async function findOriginals(tx: StoreWriter, dispatch: Dispatch): Promise<readonly FoundText[]> {
  const { event } = dispatch
  if (event.kind !== 'edit' && event.kind !== 'delete') return []
  const inThread = { ...dispatch, event: { ...event, original: inThreadKey(event.original) } }
  const found = [await findOriginal(tx, dispatch), await findOriginal(tx, inThread)]
  return found.filter((one) => one !== undefined)
}

/** The outcomes of messages that no later prompt has: a change of one is none of the session's. */
const NEVER_SHOWN: readonly (InboxOutcome | undefined)[] = ['refused: queue_full', 'taken_back', ...EMPTIED]

/** Returns the message that an edit or deletion is about, if a session has it and its model may be shown it. */
export async function findOriginal(tx: StoreWriter, { event }: Dispatch): Promise<FoundText | undefined> {
  if (event.kind !== 'edit' && event.kind !== 'delete') return undefined
  const { channel, account } = event.address
  const known = await tx.inbox.byKey(channel, account, event.original)
  const row =
    known && known.sessionId === undefined ? await tx.inbox.byKey(channel, account, admittedKey(event.original)) : known
  if (row?.sessionId === undefined || NEVER_SHOWN.includes(row.outcome)) return undefined
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
