import type { ContextReason, Decision, Dispatch, ReadWords } from '../../core/dispatch.ts'
import { errorCode, ParleyError } from '../../core/errors.ts'
import { refuseForgotten } from '../../core/forgetting.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'
import type { SessionIdentity } from '../../core/session.ts'
import type { NewInboxRow } from '../../store/inbox-port.ts'
import type { SessionReader } from '../../store/session-port.ts'
import type { StoreWriter } from '../../store/store.ts'
import { recordDeparture, recordSpeakers } from '../people/participants.ts'
import {
  type Accepted,
  acceptAlone,
  acceptForgotten,
  acceptIgnored,
  acceptKnown,
  acceptRefusal,
  acceptUnheard,
  acceptUnreadable,
  type DecidedDispatch,
  type Incoming,
  type UnreadableDeps,
} from './accept-alone.ts'
import { acceptAmendment, type FoundText, findOriginal, findWaitingTexts, showEdited } from './accept-amendment.ts'
import { type CrowdDeps, isCrowded, leftToOthers } from './crowded.ts'
import { interruptedBy } from './interrupted-turn.ts'
import { type OpenPorts, openSession } from './open-session.ts'
import { replyTargetOf } from './parted-chat.ts'
import { type Adopts, recordStart } from './record-turn.ts'
import { isOfAged, isOfForgotten, saysNothingNew, withKnownQuote } from './said-again.ts'
import { askedIn, countedFor, type StartedTurn } from './started-turn.ts'
import type { QueuePlace } from './turn-queue.ts'
import { userMessage } from './user-message.ts'

export interface AcceptDeps extends OpenPorts, CrowdDeps, UnreadableDeps {
  readonly adopts: Adopts
  readonly busy: 'queue' | 'steer' | 'interrupt'
  /** Called after the commit of a message that waits behind a running turn. */
  spoken(this: void, session: SessionId): void
  /** Called for each message that a session has got, in its transaction. */
  heard(this: void, tx: Pick<StoreWriter, 'afterCommit'>, session: SessionIdentity, how: 'asked' | 'quiet'): void
}

/**
 * Returns the dispatch with the session its caller key names, so that a message through an alias acts on the canonical
 * session (K25). Without a session of that name it is unchanged: an unknown key is a session of its own (K26).
 */
export async function nameSession(sessions: Pick<SessionReader, 'resolve'>, dispatch: Dispatch): Promise<Dispatch> {
  const found = await sessions.resolve(dispatch.callerKey ?? '')
  if (found === undefined) return dispatch
  const { agentId, scope, scopeKey, displayKey, kind, chatType } = found
  return { ...dispatch, named: { agentId, scope, scopeKey, displayKey, kind, chatType } }
}

/**
 * Runs inside the accept transaction: dedupe, decision with trace, event, inbox row and, if the session is idle, the
 * claim. The raw text is stored before any model is called (S23).
 */
export function acceptDispatch(
  tx: StoreWriter,
  { dispatch: given, decision, position }: DecidedDispatch,
  deps: AcceptDeps,
): Promise<Accepted> {
  const { madeOf, ...dispatch } = given
  const decided = (): Promise<Accepted> => acceptDecided(tx, dispatch, decision, deps)
  const made = async (of: ReadWords): Promise<Accepted> => {
    await refuseStale(tx, of, dispatch)
    const accepted = await decided()
    const to = accepted.kind === 'started' ? accepted.turn.session.id : undefined
    await recordTheirAuthors(tx, of, accepted.kind === 'waiting' ? accepted.sessionId : to)
    return accepted
  }
  const accept = (): Promise<Accepted> =>
    (madeOf ? made(madeOf) : decided()).catch((err: unknown) => {
      if (errorCode(err) !== 'unreadable') throw err
      return acceptUnreadable(tx, { dispatch, decision }, err, deps)
    })
  if (position === undefined) return accept()
  const { channel, account } = dispatch.event.address
  return tx.channelState.set(channel, account, position.key, position.value).then(accept)
}

async function acceptDecided(
  tx: StoreWriter,
  given: Dispatch,
  decision: Decision,
  deps: AcceptDeps,
): Promise<Accepted> {
  await refuseForgotten(tx, given.posted?.turn)
  const id = deps.ids.inbox()
  if (await isOfForgotten(tx, deps.channels, given)) {
    const outcome = (await isOfAged(tx, given)) ? 'aged' : 'forgotten'
    return acceptForgotten(tx, { id, dispatch: given, decision, outcome })
  }
  const known = decision.kind === 'ignore' || decision.kind === 'refuse' ? undefined : await saysNothingNew(tx, given)
  if (known !== undefined) return acceptKnown(tx, { id, dispatch: given, decision, outcome: `ignored: ${known}` })
  const dispatch = await withKnownQuote(tx, deps.channels, given)
  switch (decision.kind) {
    case 'ignore':
      return departing(tx, await acceptIgnored(tx, { id, dispatch, decision }), { dispatch, decision }, deps)
    case 'refuse':
      return departing(tx, await acceptRefusal(tx, { id, dispatch, decision }, deps), { dispatch, decision }, deps)
    case 'control':
      return acceptAlone(tx, { id, dispatch, decision, state: 'waiting' })
    case 'amend':
      return acceptAmended(tx, { id, dispatch, decision }, deps)
    case 'context':
      return acceptContext(tx, { id, dispatch, decision }, deps)
    case 'run':
      return acceptRun(tx, { id, dispatch, decision }, deps)
  }
}

/**
 * Somebody leaves whatever they may say: nothing is asked for by that. A repeat counts too: what they had said before,
 * in an outage, may have been read back since the notice came.
 */
async function departing(
  tx: StoreWriter,
  accepted: Accepted,
  { dispatch, decision }: Omit<DecidedDispatch, 'position'>,
  deps: AcceptDeps,
): Promise<Accepted> {
  if (dispatch.event.kind === 'departure') await recordDeparture(tx, dispatch, decision.identity, deps)
  return accepted
}

async function acceptAmended(
  tx: StoreWriter,
  amended: Incoming<'amend'>,
  { channels }: AcceptDeps,
  waiting?: readonly FoundText[],
): Promise<Accepted> {
  const stored = await acceptAmendment(tx, amended, channels, waiting)
  return stored ? { kind: 'done', inboxId: amended.id } : { kind: 'repeat' }
}

async function acceptContext(
  tx: StoreWriter,
  { id, dispatch, decision }: Incoming<'context'>,
  deps: AcceptDeps,
): Promise<Accepted> {
  const session = await openSession(tx, { ...decision, dispatch }, deps)
  const outcome = contextOutcome(decision.reason)
  if (!(await tx.inbox.add({ id, dispatch, decision, sessionId: session.id, state: 'done', outcome })))
    return { kind: 'repeat' }
  await recordSpeakers(tx, session.id, dispatch, deps)
  await tx.events.append(session.id, dispatch.receivedAt, [userMessage(dispatch, decision, { triggers: false })])
  deps.heard(tx, session, 'quiet')
  return { kind: 'done', inboxId: id }
}

async function acceptRun(
  tx: StoreWriter,
  { id, dispatch, decision }: Incoming<'run'>,
  deps: AcceptDeps,
): Promise<Accepted> {
  // Texts that still wait are answered once, as they read by then.
  const waiting = dispatch.event.kind === 'edit' ? await findWaitingTexts(tx, dispatch) : []
  if (waiting.length > 0) {
    const { identity, trace } = decision
    const amended = { id, dispatch, decision: { kind: 'amend', reason: 'edited', identity, trace } } as const
    return acceptAmended(tx, amended, deps, waiting)
  }
  if (decision.public && (await isCrowded(tx, { dispatch, decision }, deps))) {
    const stored = await acceptUnheard(tx, { id, dispatch, decision }, 'refused: public_full')
    return stored.kind === 'done' ? { kind: 'crowded', inboxId: id } : stored
  }
  const edited = await findOriginal(tx, dispatch)
  const session = await openSession(tx, { ...decision, dispatch }, deps)
  const row = { id, dispatch, decision, sessionId: session.id }
  const admission = deps.queue.peek(session.id, leftToOthers(decision, deps))
  if (admission === 'full' && decision.public) {
    const stored = await acceptUnheard(tx, { id, dispatch, decision }, 'refused: queue_full')
    return stored.kind === 'done' ? { kind: 'full', inboxId: id } : stored
  }
  const turnId = deps.ids.turn()
  if (!(await tx.inbox.add({ ...row, ...inboxStateOf(admission, turnId) }))) return { kind: 'repeat' }
  if (edited) await showEdited(tx, dispatch, edited)
  await recordSpeakers(tx, session.id, dispatch, deps)
  if (admission === 'full') {
    await tx.events.append(session.id, dispatch.receivedAt, [
      userMessage(dispatch, decision, { triggers: false, refused: true }),
    ])
    return { kind: 'full', inboxId: id }
  }
  deps.queue.admit(session.id, tx)
  deps.heard(tx, session, 'asked')
  if (admission === 'wait') {
    tx.afterCommit(() => deps.spoken(session.id))
    await tx.events.append(session.id, dispatch.receivedAt, [
      userMessage(dispatch, decision, { triggers: true, row: id }),
    ])
    return { kind: 'waiting', inboxId: id, sessionId: session.id, ...(await interruptedBy(tx, session, row, deps)) }
  }
  const message = userMessage(dispatch, decision, { triggers: true })
  const turn = startedTurn(turnId, session, { dispatch, decision }, deps)
  if (turn.publicFor !== undefined) deps.publicTurns.enter(turn, tx)
  return { kind: 'started', inboxId: id, turn, appended: await recordStart(tx, turn, { message }, deps.adopts) }
}

function inboxStateOf(admission: QueuePlace, turnId: TurnId): Pick<NewInboxRow, 'state' | 'turnId' | 'outcome'> {
  switch (admission) {
    case 'start':
      return { state: 'claimed', turnId }
    case 'wait':
      return { state: 'waiting' }
    case 'full':
      return { state: 'done', outcome: 'refused: queue_full' }
  }
}

function startedTurn(
  id: TurnId,
  session: SessionIdentity,
  asked: Omit<Incoming<'run'>, 'id'>,
  { channels }: Pick<AcceptDeps, 'channels'>,
): StartedTurn {
  const { traceId, receivedAt } = asked.dispatch
  const reply = replyTargetOf(asked, session, channels)
  return { id, session, traceId, reply, startedAt: receivedAt, ...countedFor([asked]), ...askedIn([asked]) }
}

function contextOutcome(reason: ContextReason): 'context' | 'refused: send_policy' | 'ignored: restored' {
  if (reason === 'restored') return 'ignored: restored'
  return reason === 'send_policy' ? 'refused: send_policy' : 'context'
}

/** Throws `conflict` for words that were forgotten while they waited, as for a hook: of others, or of a schedule. */
export async function refuseStale(
  tx: StoreWriter,
  { sessions, since }: ReadWords,
  { schedule }: Pick<Dispatch, 'schedule'>,
): Promise<void> {
  const isGone = schedule !== undefined && (await tx.schedules.get(schedule.id)) === undefined
  if (isGone || (await tx.forgetting.hasRemovedSince(since, sessions)))
    throw new ParleyError('conflict', 'What this is made of was forgotten meanwhile.')
}

/**
 * Records that a session has words of everybody who wrote in those that a message is made of: whoever forgets theirs
 * finds them by that, also where the answer is delivered.
 */
export async function recordTheirAuthors(
  tx: StoreWriter,
  { sessions }: ReadWords,
  session: SessionId | undefined,
): Promise<void> {
  if (session !== undefined) for (const from of sessions) await tx.authors.copy(from, session)
}
