import type { Namespace } from '../../core/caller.ts'
import type { ReplyTarget } from '../../core/dispatch.ts'
import type { TraceId, TurnId } from '../../core/ids.ts'
import type { InboundEvent, Piece, Sender } from '../../core/message.ts'
import { senderKey } from '../../core/platform-id.ts'
import type { Precheck } from '../../core/precheck.ts'
import type { SessionIdentity } from '../../core/session.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader } from '../../store/store.ts'

/** A claimed turn: everything its run needs, the reply address included. */
export interface StartedTurn {
  readonly id: TurnId
  readonly session: SessionIdentity
  readonly traceId: TraceId
  readonly reply: ReplyTarget
  readonly startedAt: number
  /**
   * True if everything it answers is from people whom nobody let in by name: its messages go behind everything else.
   */
  readonly forStrangers?: true
  /** The person among whose turns it is counted. Absent where a known person waits for its end. */
  readonly publicFor?: string
  /** The namespace of the token that speaks for that person. */
  readonly publicBy?: Namespace
  /** Asked before the agent is: nothing but `trigger: always` has started it. */
  readonly precheck?: Precheck
  /** The newest message it began with, for the log. */
  readonly asked?: Asked
  /** It was interrupted by the end of an earlier process. */
  readonly resumed?: true
}

export interface Asked {
  /** Ms since the epoch, our clock. */
  readonly at: number
  /** Absent where no person asked: a schedule, a hook, another session. */
  readonly sender?: Sender
  /** The message itself, where a person wrote it. */
  readonly messageId?: string
  /** Others of which it is a piece may have come, or still come. */
  readonly piece?: Piece
  /** Nobody of those it answers has addressed the agent; what is said in a direct chat always does. */
  readonly unaddressed?: true
  /** The model that was asked for with the message. */
  readonly model?: string
  /** The answer, where a reminder is said without a model. */
  readonly said?: string
  /** The questions that were answered too late for their own turn: the calls they are about are made in this one. */
  readonly approvals?: readonly string[]
}

type Decided = Pick<InboxRow, 'dispatch' | 'decision'>

/**
 * Returns whether a turn that answers these messages is for strangers alone, and the person for whom it counts then; no
 * person if somebody known waits behind it.
 */
export function countedFor(
  rows: readonly Decided[],
  waiting: readonly Decided[] = [],
): Pick<StartedTurn, 'forStrangers' | 'publicFor' | 'publicBy'> {
  const newest = rows.at(-1)
  if (!newest || !rows.every(isPublic)) return {}
  if (!waiting.every(isPublic)) return { forStrangers: true }
  const { event, posted } = newest.dispatch
  const client = posted?.client === undefined ? {} : { publicBy: posted.client }
  return { forStrangers: true, publicFor: senderKey(event.address.channel, event.sender), ...client }
}

/** Returns the check before a turn that answers these messages; none where somebody addressed the agent. */
function checkedFirst(rows: readonly Decided[]): Pick<StartedTurn, 'precheck'> {
  const checks = rows.map(({ decision }) => (decision.kind === 'run' ? decision.precheck : undefined))
  const precheck = checks.every((check) => check !== undefined) ? checks.at(-1) : undefined
  return precheck === undefined ? {} : { precheck }
}

/** Returns when, by whom, and for which model the newest of these messages was sent, and the check before its turn. */
export function askedIn(rows: readonly Decided[]): Pick<StartedTurn, 'asked' | 'precheck'> {
  const newest = rows.at(-1)
  if (!newest) return {}
  const { receivedAt: at, event, schedule, posted } = newest.dispatch
  const model = posted?.model === undefined ? {} : { model: posted.model }
  const codes = rows.flatMap(({ dispatch }) => dispatch.posted?.approval ?? [])
  const approvals = codes.length === 0 ? {} : { approvals: codes }
  return {
    asked: {
      at,
      ...model,
      ...approvals,
      ...(rows.every(isUnaddressed) ? { unaddressed: true as const } : {}),
      ...(event.kind === 'message' && event.piece ? { piece: event.piece } : {}),
      ...(schedule?.said && 'text' in event ? { said: event.text } : {}),
      ...(schedule || posted?.from ? {} : { sender: event.sender, ...messageIdOf(event) }),
    },
    ...checkedFirst(rows),
  }
}

function isUnaddressed({ dispatch, decision }: Decided): boolean {
  return decision.kind === 'run' && !decision.addressed && dispatch.event.address.chatType !== 'direct'
}

/** Returns true for a message of somebody whom nobody let in by name. */
export function isPublic({ decision }: Decided): boolean {
  return decision.kind === 'run' && decision.public === true
}

/** Returns the turn as it is now: in busy mode `steer` a known person may have joined it while it ran. */
export async function asJoined({ inbox }: Pick<StoreReader, 'inbox'>, turn: StartedTurn): Promise<StartedTurn> {
  const { forStrangers, publicFor: _, publicBy: _client, ...known } = turn
  return forStrangers === undefined ? turn : { ...known, ...countedFor(await inbox.ofTurn(turn.id)) }
}

function messageIdOf(event: InboundEvent): Pick<Asked, 'messageId'> {
  return 'messageId' in event ? { messageId: event.messageId } : {}
}
