import { isOfSameSender, withWordsOf } from '../../core/amended.ts'
import type { Payer } from '../../core/budget.ts'
import type { Clock } from '../../core/clock.ts'
import type { Dispatch, ReplyTarget } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import type { EventType, SessionEvent } from '../../core/event.ts'
import { failpoint } from '../../core/failpoint.ts'
import type { RunId } from '../../core/ids.ts'
import type { Session, SessionIdentity } from '../../core/session.ts'
import type { EventToAppend } from '../../store/event-port.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import type { Turn } from '../../store/turn-port.ts'
import { type ClaimDeps, claimWaiting } from './record-turn.ts'
import type { RunningTurns } from './running-turns.ts'
import { askedIn, countedFor, type StartedTurn } from './started-turn.ts'
import type { LastExchange } from './take-back.ts'
import { messageName, userMessage } from './user-message.ts'

/** The newest messages and changes of them, which are looked through. */
const MOST_CHANGES = 500

/**
 * Has the messages of an exchange that was taken back wait once more, in the words that they have now; one that was
 * deleted does not. `payer` pays for the answer. Throws `conflict` if none is left.
 */
export async function askAgain(
  tx: StoreWriter,
  session: Session,
  at: number,
  { turn, rows, payer }: LastExchange & { readonly payer?: Payer | undefined },
): Promise<void> {
  const said = await tx.events.latestOf(session.id, SAID, MOST_CHANGES)
  const events: EventToAppend[] = []
  await tx.inbox.reopen(turn, session.id)
  for (const row of rows) {
    const read = asItReadsNow(row, changesOf(row, said))
    const dispatch = read && payer ? { ...read, payer } : read
    if (dispatch === undefined || row.decision.kind !== 'run') {
      await tx.inbox.settle(row.id, 'deleted')
      continue
    }
    if (dispatch !== row.dispatch) await tx.inbox.replaceDispatch(row.id, dispatch)
    events.push(userMessage(dispatch, row.decision, { triggers: true, row: row.id }))
  }
  if (events.length === 0)
    throw new ParleyError('conflict', 'There is nothing to answer again: what was asked is deleted.')
  await tx.events.append(session.id, at, events)
}

const SAID = ['user_message', 'message_edited', 'message_deleted', 'history_taken_over'] as const

/**
 * Returns what was changed since a message was said here. An older change has the id of another message: of one that
 * was copied from another conversation, or of before the chat moved.
 */
function changesOf({ id }: InboxRow, said: readonly SessionEvent[]): readonly SessionEvent[] {
  const isItsOwn = ({ type, data }: SessionEvent): boolean =>
    (type === 'user_message' || type === 'message_edited') && data.row === id
  return said.slice(said.findLastIndex((event) => event.type === 'history_taken_over' || isItsOwn(event)) + 1)
}

export interface AnswerAgainDeps extends ClaimDeps {
  readonly clock: Clock
  readonly running: Pick<RunningTurns, 'draining'>
  resume(turn: StartedTurn): Promise<void>
  /** Returns true if the session may say something there now (T31). */
  speaks(place: { readonly session: SessionIdentity } & Pick<ReplyTarget, 'address' | 'reader'>): boolean
}

/**
 * Claims, in an idle session, messages that wait once more, and runs their turn after the commit. Throws `conflict`
 * where no turn begins now, and `forbidden` where those who wrote have left the session or nothing may be said there.
 */
export type AnswerAgain = (tx: StoreWriter, session: SessionIdentity) => Promise<void>

export function createAnswerAgain(deps: AnswerAgainDeps): AnswerAgain {
  const { running, queue, clock, resume, speaks } = deps
  return async (tx, session) => {
    if (running.draining || queue.busy(session.id))
      throw new ParleyError('conflict', 'I cannot begin that now; please ask again in a moment.')
    queue.admit(session.id, tx)
    const turn = await claimWaiting(tx, session, clock.now(), deps)
    if (!turn) throw new ParleyError('forbidden', 'Whoever asked that is not part of this conversation any more.')
    if (!speaks({ ...turn.reply, session: turn.session }))
      throw new ParleyError('forbidden', 'I say nothing here now: a mute, `/send off` or the send policy forbids it.')
    tx.afterCommit(() => {
      failpoint('CP4-claimed')
      void resume(turn)
    })
  }
}

/**
 * Resumes the failed turn of a run behind its last committed step, so that its tools do not run again. Throws
 * `conflict` where that cannot be any more (`resumable`).
 */
export type ResumeFailed = (run: RunId) => Promise<void>

export interface ResumeFailedDeps extends Pick<AnswerAgainDeps, 'clock' | 'running' | 'queue' | 'resume'> {
  readonly store: Pick<Store, 'write'>
}

/** The events behind which a failed turn would not be the newest thing in its session. */
const SINCE = [
  ...['turn_started', 'turn_completed', 'turn_cancelled', 'message_edited', 'message_deleted', 'words_forgotten'],
  ...['history_boundary', 'history_taken_over', 'exchange_taken_back'],
] as const satisfies EventType[]

/**
 * Returns the failed turn of a message that can be resumed, with its session; undefined where anything was said or
 * changed in the session since then, or the session or the words are gone.
 */
export async function resumable(
  { sessions, turns, events, forgetting }: Pick<StoreReader, 'sessions' | 'turns' | 'events' | 'forgetting'>,
  { sessionId, turnId, outcome }: Pick<InboxRow, 'sessionId' | 'turnId' | 'outcome'>,
): Promise<{ readonly session: Session; readonly turn: Turn } | undefined> {
  if (outcome !== 'failed' || sessionId === undefined || turnId === undefined) return undefined
  const [session, turn] = [await sessions.get(sessionId), await turns.get(turnId)]
  const [last] = await events.latestOf(sessionId, SINCE, 1)
  const isNewest = last?.type === 'turn_completed' && last.turnId === turnId && !last.forgotten
  if (!session || !turn || !isNewest || (await forgetting.isForgetting(turnId))) return undefined
  return { session, turn }
}

export function createResumeFailed({ store, clock, running, queue, resume }: ResumeFailedDeps): ResumeFailed {
  return (run) =>
    store.write(async (tx) => {
      const row = (await tx.inbox.find(run)).find(({ dispatch }) => dispatch.posted !== undefined)
      if (row?.outcome !== 'failed') return
      const failed = await resumable(tx, row)
      if (failed === undefined) throw wentOn()
      const { session, turn } = failed
      if (running.draining || queue.busy(session.id)) return
      const { id, traceId, reply, startedAt } = turn
      queue.admit(session.id, tx)
      const attempt = await tx.turns.reopen(id)
      await tx.events.append(session.id, clock.now(), [{ type: 'turn_resumed', turnId: id, data: { attempt } }])
      const asked = await tx.inbox.ofTurn(id)
      const begun = { id, session, traceId, reply, startedAt, ...countedFor(asked), ...askedIn(asked), resumed: true }
      tx.afterCommit(() => void resume(begun as StartedTurn))
    })
}

function wentOn(): ParleyError {
  const words = 'It failed after it had begun, and the conversation has changed since, so that it is not continued.'
  const remedy = 'See what was done; if it is meant once more, say it again, with a new Idempotency-Key if it had one.'
  return new ParleyError('conflict', `${words} ${remedy}`)
}

/** Returns a message with the words of its last edit; undefined if it was deleted. */
function asItReadsNow({ dispatch, decision }: InboxRow, changes: readonly SessionEvent[]): Dispatch | undefined {
  const { event } = dispatch
  if (!('text' in event) || !('route' in decision)) return dispatch
  const { messageId, chat } = messageName(event, decision.route)
  const own = changes.filter(
    ({ type, data }) =>
      (type === 'message_edited' || type === 'message_deleted') && data.messageId === messageId && data.chat === chat,
  )
  if (own.some(({ type }) => type === 'message_deleted')) return undefined
  const edit = own.findLast((change) => change.type === 'message_edited' && isOfSameSender(change.data, event))
  if (edit?.type !== 'message_edited') return dispatch
  return { ...dispatch, event: { ...withWordsOf(event, edit.data), attachments: edit.data.attachments ?? [] } }
}
