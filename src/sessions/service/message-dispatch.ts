import type { Address } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Dispatch, Origin, PostedText, ReplyTarget, Route, Writer } from '../../core/dispatch.ts'
import type { RunId, TraceId, TurnId } from '../../core/ids.ts'
import type { Sender } from '../../core/message.ts'
import type { Reader } from '../../core/outbound.ts'
import { type AuthorId, personAuthor } from '../../core/platform-id.ts'
import type { SessionDraft } from '../../core/session.ts'
import type { Principal } from '../../core/turn.ts'
import { lastReader } from '../turns/parted-chat.ts'
import { addressOf } from './address-of.ts'

export interface MessageFacts {
  readonly to: SessionDraft
  readonly by: Principal
  /** The people who will read the answer elsewhere. */
  readonly readers?: readonly AuthorId[]
  /** The writer that is no person; absent for a client's own words. */
  readonly from?: Writer
  /** The turn that writes. */
  readonly turn?: TurnId
  /** The token that it comes with. */
  readonly token?: string | undefined
  /** Those that have led to that turn. */
  readonly ledBy?: readonly string[]
  readonly text: string
  readonly announce: boolean
  /** The place in which the answer is posted instead of the session's own chat. */
  readonly deliverTo?: Address | undefined
  readonly runId: RunId
  readonly traceId: TraceId
  readonly receivedAt: number
}

/**
 * Returns a message to a session as a dispatch, like that of a platform's message. Its event key is the run's id, so
 * that it is accepted once, however often the call is made.
 */
export function messageDispatch(channels: Pick<Channels, 'traits'>, facts: MessageFacts): Dispatch {
  const { to, by, readers = [], from, turn, token, ledBy = [], text, runId, traceId, receivedAt } = facts
  const address = addressOf(to)
  const reader = lastReader(to, channels)
  return {
    origin: originOf(from),
    traceId,
    receivedAt,
    reply: replyOf(facts, address, reader),
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
      ...(turn === undefined ? {} : { turn }),
      ...(token === undefined ? {} : { token }),
      ...(ledBy.length === 0 ? {} : { ledBy }),
      ...(readers.length === 0 ? {} : { readers }),
    },
  }
}

function originOf(from: Writer | undefined): Origin {
  if (from === undefined) return 'api'
  return 'session' in from ? 'tool' : 'hook'
}

/** An answer that is posted in another chat is for whoever is there. */
function replyOf({ announce, deliverTo }: MessageFacts, own: Address, reader: Reader | undefined): ReplyTarget {
  if (deliverTo !== undefined) return { address: deliverTo, elsewhere: 'too' }
  return { address: own, elsewhere: announce ? 'too' : 'only', ...(reader === undefined ? {} : { reader }) }
}

function routeOf({ agentId, scope, scopeKey, displayKey, kind, chatType }: SessionDraft): Route {
  return { agent: agentId, scope, scopeKey, displayKey, kind, chatType, matchedBy: 'default' }
}

/** A caller who speaks for themselves takes part (S45); a text that no person wrote makes nobody a participant. */
function speakerOf({ person }: Principal, from: Writer | undefined): Pick<PostedText, 'from' | 'participant'> {
  if (from !== undefined) return { from }
  return person === undefined ? {} : { participant: personAuthor(person) }
}

/** An agent is no user of the platform; a client's person is named by their known name. */
function senderOf({ person }: Principal, from: Writer | undefined): Sender {
  if (from === undefined) return { id: person ?? 'client', kind: 'user' }
  if ('hook' in from) return { id: `hook:${from.hook}`, kind: 'bot', displayName: `hook ${from.hook}` }
  return { id: from.session, kind: 'bot', displayName: `session ${from.displayKey}, agent ${from.agent}` }
}
