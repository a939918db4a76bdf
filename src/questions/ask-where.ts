import type { ReplyTarget } from '../core/dispatch.ts'
import { ParleyError } from '../core/errors.ts'
import type { TraceId } from '../core/ids.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type { QuestionDraft } from '../core/question.ts'
import { isOwnChannel, type Session } from '../core/session.ts'
import type { TurnRef } from '../core/session-tools.ts'
import type { InboxRow } from '../store/inbox-port.ts'
import type { Store } from '../store/store.ts'

/** The place of a question, and the person it is for. */
export interface AskedPlace {
  readonly session: Session
  readonly traceId: TraceId
  readonly reply: ReplyTarget
  /** Absent: for everybody who may talk there. */
  readonly to?: { readonly author: AuthorId; readonly name?: string }
}

interface WhereDeps {
  readonly store: Pick<Store, 'read'>
  authorOf(this: void, row: InboxRow): AuthorId | undefined
}

/**
 * Returns where the question of a turn stands and who may answer it: whoever wrote the newest message that the turn
 * answers, or everybody there. Throws `forbidden`, in words for the model, where nobody can be asked.
 */
export async function placeToAsk(
  { store: { read }, authorOf }: WhereDeps,
  { everybody }: Pick<QuestionDraft, 'everybody'>,
  turn: TurnRef,
): Promise<AskedPlace> {
  const [session, row, asked] = await Promise.all([
    read.sessions.get(turn.sessionId),
    read.turns.get(turn.id),
    read.inbox.ofTurn(turn.id),
  ])
  if (session === undefined || row === undefined) throw hindered('this conversation has ended')
  if (!session.source.interactive) throw hindered('nobody is there in a run without people')
  if (isOwnChannel(session) || row.reply.elsewhere !== undefined) throw hindered('this answer is read by a program')
  if (asked.every(({ decision }) => decision.kind === 'run' && decision.public))
    throw hindered('I ask only people I know')
  const { traceId, reply } = row
  if (everybody) return { session, traceId, reply }
  const newest = asked.findLast((one) => authorOf(one) !== undefined)
  const author = newest && authorOf(newest)
  if (newest === undefined || author === undefined) throw hindered('no person has said what this turn answers')
  const { displayName } = newest.dispatch.event.sender
  const shared = reply.address.chatType !== 'direct'
  return {
    session,
    traceId,
    reply,
    to: { author, ...(shared && displayName !== undefined ? { name: displayName } : {}) },
  }
}

function hindered(reason: string): ParleyError {
  return new ParleyError('forbidden', `Nobody can be asked here: ${reason}. Continue without the answer.`)
}
