import type { Dispatch, PostedText, Route, Writer } from '../../core/dispatch.ts'
import type { RunId, TraceId } from '../../core/ids.ts'
import type { Sender } from '../../core/message.ts'
import { type AuthorId, personAuthor } from '../../core/platform-id.ts'
import type { SessionDraft } from '../../core/session.ts'
import type { Principal } from '../../core/turn.ts'
import { addressOf } from './address-of.ts'

export interface MessageFacts {
  readonly to: SessionDraft
  readonly by: Principal
  /** Those who will read the answer elsewhere. */
  readonly readers?: readonly AuthorId[]
  /** What wrote it; absent for the own words of a client's person. */
  readonly from?: Writer
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
  const { to, by, readers = [], from, text, announce, runId, traceId, receivedAt } = facts
  const address = addressOf(to)
  return {
    origin: from && 'session' in from ? 'tool' : 'api',
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
    posted: {
      session: to.id,
      route: routeOf(to),
      identity: by,
      ...speakerOf(by, from),
      ...(readers.length === 0 ? {} : { readers }),
    },
  }
}

function routeOf({ agentId, scope, scopeKey, displayKey, kind, chatType }: SessionDraft): Route {
  return { agent: agentId, scope, scopeKey, displayKey, kind, chatType, matchedBy: 'default' }
}

/** Who speaks for themselves takes part (S45); what no person wrote makes nobody a part of the conversation. */
function speakerOf({ person }: Principal, from: Writer | undefined): Pick<PostedText, 'from' | 'participant'> {
  if (from !== undefined) return { from }
  return person === undefined ? {} : { participant: personAuthor(person) }
}

/** An agent is no user of the platform; whoever a client stands for is named by what we know them as. */
function senderOf({ person }: Principal, from: Writer | undefined): Sender {
  if (from === undefined) return { id: person ?? 'client', kind: 'user' }
  if ('hook' in from) return { id: `hook:${from.hook}`, kind: 'bot', displayName: `hook ${from.hook}` }
  return { id: from.session, kind: 'bot', displayName: `session ${from.displayKey}, agent ${from.agent}` }
}
