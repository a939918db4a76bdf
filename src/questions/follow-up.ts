import type { Dispatch, Identity } from '../core/dispatch.ts'
import type { TraceId } from '../core/ids.ts'
import type { Answerer, Question } from '../core/question.ts'
import type { Session } from '../core/session.ts'
import { lateAnswer } from './question-card.ts'

/**
 * Returns an answer that came after its turn had continued, as a message of whoever gave it: it has their authority and
 * makes them a participant. Its event key is that of the question, so that it is accepted once. Whoever presses a
 * button counts as the author of its words, but not as somebody who has written a web address that stands in them.
 */
export function followUp(
  question: Question & { readonly by: Answerer },
  { id, agentId, scope, scopeKey, displayKey, kind, chatType }: Session,
  { traceId, at, identity }: { readonly traceId: TraceId; readonly at: number; readonly identity: Identity },
): Dispatch {
  const { code, reply, by } = question
  const name = `question:${code}`
  return {
    origin: 'tool',
    traceId,
    receivedAt: at,
    reply,
    event: {
      ...{ kind: 'message', eventKey: name, messageId: name, address: reply.address, sentAt: at },
      ...{ sender: by.sender, text: lateAnswer(question) },
      ...{ mentioned: true, mentionsOthers: false, attachments: [] },
    },
    posted: {
      ...{ session: id, identity, participant: by.author, chosen: true },
      route: { agent: agentId, scope, scopeKey, displayKey, kind, chatType, matchedBy: 'default' },
    },
  }
}
