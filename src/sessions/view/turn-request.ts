import { NO_USAGE } from '../../core/model.ts'
import { isOwnDoor, isScheduled } from '../../core/session.ts'
import type { TurnRequest } from '../../core/turn.ts'
import type { StartedTurn } from '../turns/record-turn.ts'
import { type ModelView, requestMessages } from './model-view.ts'

/** What of a request does not come from the log. */
export type RequestContext = Pick<TurnRequest, 'agent' | 'now' | 'show' | 'steer'>

/** What the agent is asked: the session's view, with whatever an interrupted run of this turn has committed. Pure. */
export function turnRequest(turn: StartedTurn, view: ModelView, context: RequestContext): TurnRequest {
  const { messages, open } = requestMessages(view, turn.session.chatType)
  return {
    turnId: turn.id,
    sessionId: turn.session.id,
    traceId: turn.traceId,
    agent: context.agent,
    chatType: turn.session.chatType,
    scheduled: isScheduled(turn.session) || undefined,
    elsewhere: isOwnDoor(turn.session) ? undefined : turn.reply.elsewhere,
    now: context.now,
    messages,
    open,
    spent: view.running?.spent ?? { steps: 0, usage: NO_USAGE },
    show: context.show,
    steer: context.steer,
  }
}
