import type { Dispatch, Route, WritingSession } from '../../core/dispatch.ts'
import type { RunId, TraceId } from '../../core/ids.ts'
import type { Sender } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import type { Principal } from '../../core/turn.ts'
import { addressOf } from './address-of.ts'

export interface MessageFacts {
  readonly to: Session
  readonly by: Principal
  /** The session whose turn asks; absent for a client. */
  readonly from?: Session
  /** Messages between sessions that led to this one, itself included. */
  readonly hops: number
  readonly text: string
  readonly announce: boolean
  readonly runId: RunId
  readonly traceId: TraceId
  readonly receivedAt: number
}

/**
 * A message to a session as a dispatch, the same that a platform's message becomes. Its event key is the run's id, so
 * that it is accepted once, however often its call is made.
 */
export function messageDispatch(facts: MessageFacts): Dispatch {
  const { to, by, hops, text, announce, runId, traceId, receivedAt } = facts
  const address = addressOf(to)
  const from = facts.from && writing(facts.from, hops)
  return {
    origin: from === undefined ? 'api' : 'tool',
    traceId,
    receivedAt,
    reply: { address, elsewhere: announce ? 'too' : 'only' },
    event: {
      kind: 'message',
      eventKey: runId,
      messageId: runId,
      address,
      sender: senderOf(by, from),
      sentAt: receivedAt,
      text,
      mentioned: true,
      mentionsOthers: false,
      attachments: [],
    },
    posted: { session: to.id, route: routeOf(to), identity: by, ...(from === undefined ? {} : { from }) },
  }
}

function routeOf({ agentId, scope, scopeKey, displayKey, kind, chatType }: Session): Route {
  return { agent: agentId, scope, scopeKey, displayKey, kind, chatType, matchedBy: 'default' }
}

function writing({ id, displayKey, agentId }: Session, hops: number): WritingSession {
  return { session: id, displayKey, agent: agentId, hops }
}

/** An agent is no user of the platform; whoever a client stands for is named by what we know them as. */
function senderOf({ person }: Principal, from: WritingSession | undefined): Sender {
  if (from === undefined) return { id: person ?? 'client', kind: 'user' }
  return { id: from.session, kind: 'bot', displayName: `session ${from.displayKey}, agent ${from.agent}` }
}
