import type { Approval } from '../core/approval.ts'
import type { Dispatch } from '../core/dispatch.ts'
import type { TraceId } from '../core/ids.ts'
import type { Session } from '../core/session.ts'
import { lateApproval } from './approval-card.ts'

/**
 * Returns the message that begins the turn in which a call is made that was allowed too late for its own. Its event key
 * is that of the question, so that it is accepted once. No person's words are in it, and the turn has the authors of
 * its session; the tokens that have led to the question have led to this too.
 */
export function followUp(
  approval: Approval,
  { id, agentId, scope, scopeKey, displayKey, kind, chatType }: Session,
  { traceId, at, ledBy }: { readonly traceId: TraceId; readonly at: number; readonly ledBy: readonly string[] },
): Dispatch {
  const { code, reply, turnId: turn } = approval
  const name = `approval:${code}`
  const route = { agent: agentId, scope, scopeKey, displayKey, kind, chatType, matchedBy: 'default' }
  return {
    origin: 'tool',
    traceId,
    receivedAt: at,
    reply,
    event: {
      ...{ kind: 'message', eventKey: name, messageId: name, address: reply.address, sentAt: at },
      sender: { id, kind: 'bot', displayName: `session ${displayKey}, agent ${agentId}` },
      text: lateApproval(approval),
      ...{ mentioned: true, mentionsOthers: false, attachments: [] },
    },
    posted: {
      ...{ session: id, route, turn, approval: code, identity: { role: 'owner' } },
      from: { session: id, displayKey, agent: agentId, hops: 1 },
      ...(ledBy.length === 0 ? {} : { ledBy }),
    },
  }
}
