import { NO_USAGE } from '../../core/model.ts'
import { isOwnChannel, isScheduled } from '../../core/session.ts'
import type { TurnRequest } from '../../core/turn.ts'
import type { StartedTurn } from '../turns/record-turn.ts'
import { type ModelView, requestMessages } from './model-view.ts'

/** The part of a request that does not come from the log. */
export type RequestContext = Pick<TurnRequest, 'agent' | 'joined' | 'now' | 'show' | 'steer'>

/**
 * Returns the request to the agent: the session's view, with whatever an interrupted run of this turn has committed.
 * Pure.
 */
export function turnRequest(turn: StartedTurn, view: ModelView, context: RequestContext): TurnRequest {
  const { agent, joined, now, show, steer } = context
  const { messages, open } = requestMessages(view, joined ? 'group' : turn.session.chatType)
  return {
    turnId: turn.id,
    sessionId: turn.session.id,
    traceId: turn.traceId,
    agent,
    chatType: joined ? turn.reply.address.chatType : turn.session.chatType,
    joined,
    scheduled: isScheduled(turn.session) || undefined,
    elsewhere: isOwnChannel(turn.session) ? undefined : turn.reply.elsewhere,
    now,
    messages,
    open,
    spent: view.running?.spent ?? { steps: 0, usage: NO_USAGE },
    show,
    steer,
  }
}
