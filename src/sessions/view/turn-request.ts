import { NO_USAGE } from '../../core/model.ts'
import { isOwnDoor, isScheduled } from '../../core/session.ts'
import type { AgentProfile, TurnRequest } from '../../core/turn.ts'
import type { StartedTurn } from '../turns/record-turn.ts'
import { type ModelView, requestMessages } from './model-view.ts'

export interface RequestContext {
  readonly agent: AgentProfile
  readonly now: number
  steer(): Promise<readonly string[]>
}

/** What the agent is asked: the session's view, with whatever an interrupted run of this turn has committed. Pure. */
export function turnRequest(turn: StartedTurn, view: ModelView, { agent, now, steer }: RequestContext): TurnRequest {
  const { messages, open } = requestMessages(view, turn.session.chatType)
  return {
    turnId: turn.id,
    sessionId: turn.session.id,
    traceId: turn.traceId,
    agent,
    chatType: turn.session.chatType,
    ...(isScheduled(turn.session) ? { scheduled: true } : {}),
    ...(turn.reply.elsewhere === undefined || isOwnDoor(turn.session) ? {} : { elsewhere: turn.reply.elsewhere }),
    now,
    messages,
    ...(open === undefined ? {} : { open }),
    spent: view.running?.spent ?? { steps: 0, usage: NO_USAGE },
    principal: turn.principal,
    steer,
  }
}
