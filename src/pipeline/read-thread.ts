import type { Address } from '../core/address.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { Clock } from '../core/clock.ts'
import type { Decision, Dispatch } from '../core/dispatch.ts'
import { errorCode } from '../core/errors.ts'
import type { ThreadReadData } from '../core/event.ts'
import type { Logger } from '../core/logger.ts'
import type { InboundEvent } from '../core/message.ts'
import type { ThreadRead } from '../core/thread.ts'
import { recordSpeakers } from '../sessions/people/participants.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import { askedElsewhere } from '../sessions/turns/turn-reply.ts'
import { userData } from '../sessions/turns/user-message.ts'
import type { ModelView } from '../sessions/view/model-view.ts'
import type { Transcript } from '../sessions/view/transcript.ts'
import type { Store } from '../store/store.ts'

export interface ThreadDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly channels: Channels
  readonly transcript: Pick<Transcript, 'view'>
  /** Reads what the platform shows of a thread before a message; undefined where it cannot be asked. */
  readThread(address: Address, before: string, signal: AbortSignal): Promise<ThreadRead | undefined>
  /** Decides like `decide` about what was said long ago; nobody is notified, nothing becomes known of anybody. */
  judge(dispatch: Dispatch): Decision
  /** Called with all that was read: a one-time code in it is worth nothing any more. */
  overheard(payload: unknown): void
}

/**
 * Reads the platform's history before the first turn in a thread, so that the agent knows what is spoken of there; the
 * session's own log comes first, and what it has already is not taken twice. Of what is read only that is kept which
 * the rules would have kept then, each with its author: whose words a turn reads limits what it may do elsewhere. A
 * platform that does not answer keeps nobody from an answer.
 */
export async function readThreadBefore(deps: ThreadDeps, turn: StartedTurn, signal: AbortSignal): Promise<void> {
  const before = firstInThread(turn, deps.channels)
  if (before === undefined) return
  const view = await deps.transcript.view(turn.session, turn.id)
  if (!isFirstTurn(view) || knowsRoot(view, turn)) return
  const read = await readSafely(deps, turn.reply.address, before, signal)
  if (read === undefined || signal.aborted) return
  await record(deps, turn, read.kind === 'read' ? keptOf(deps, { turn, view, read }) : failed(read.reason))
}

/** The messages that are kept, and the dispatches that name their speakers. */
interface Kept {
  readonly dispatches: readonly Dispatch[]
  readonly data: ThreadReadData
}

async function record(deps: ThreadDeps, { id: turnId, session }: StartedTurn, { dispatches, data }: Kept) {
  await deps.store.write(async (tx) => {
    for (const dispatch of dispatches) await recordSpeakers(tx, session.id, dispatch, deps)
    await tx.events.append(session.id, deps.clock.now(), [{ type: 'thread_read', turnId, data }])
  })
  // The turn has begun, so nothing else would look for it.
  await deps.transcript.view(session)
}

function failed(reason: string): Kept {
  return { dispatches: [], data: { messages: [], leftOut: 0, failed: reason } }
}

interface Reading {
  readonly turn: StartedTurn
  readonly view: ModelView
  readonly read: Extract<ThreadRead, { kind: 'read' }>
}

function keptOf(deps: ThreadDeps, { turn, view, read: { events, left } }: Reading): Kept {
  deps.overheard(events)
  const known = new Set(view.running?.received.map(({ messageId }) => messageId))
  const news = events.filter((event) => event.kind === 'message' && !known.has(event.messageId))
  const kept = news.flatMap((event) => keptMessage(deps, turn, event))
  return {
    dispatches: kept.map(({ dispatch }) => dispatch),
    data: {
      messages: kept.map(({ message }) => message),
      leftOut: news.length - kept.length,
      ...(left ? { more: true } : {}),
    },
  }
}

/** Returns the message of the turn where it stands in a thread with a session of its own; undefined elsewhere. */
function firstInThread(turn: StartedTurn, channels: Channels): string | undefined {
  const { session, reply, asked } = turn
  const { channel, topic } = reply.address
  if (topic === undefined || channels.traits(channel).topics !== 'threads') return undefined
  if (session.scope.values.topic === undefined || askedElsewhere(turn)) return undefined
  return asked?.messageId
}

function isFirstTurn({ running, history, hidden, summary }: ModelView): boolean {
  if (running === undefined || running.steps.length > 0 || running.read !== undefined) return false
  return history.length === 0 && hidden.length === 0 && summary === undefined
}

/** A thread whose first message is known was there to be read from its beginning on. */
function knowsRoot({ running }: ModelView, { reply }: StartedTurn): boolean {
  return running?.received.some(({ messageId }) => messageId === reply.address.topic) ?? false
}

async function readSafely(
  { readThread, logger }: ThreadDeps,
  address: Address,
  before: string,
  signal: AbortSignal,
): Promise<ThreadRead | undefined> {
  try {
    return await readThread(address, before, signal)
  } catch (err) {
    logger.warn('What was said before in a thread could not be read', { err })
    return { kind: 'cannot_tell', reason: errorCode(err) }
  }
}

/** Returns a message as the log keeps it, if the rules would have kept it in this session. */
function keptMessage({ clock, judge }: ThreadDeps, { session, traceId }: StartedTurn, event: InboundEvent) {
  const { address } = event
  const dispatch: Dispatch = { origin: 'platform', traceId, receivedAt: clock.now(), event, reply: { address } }
  const decision = judge(dispatch)
  if (decision.kind !== 'run' && decision.kind !== 'context') return []
  if (decision.route.scopeKey !== session.scopeKey) return []
  return [{ dispatch, message: userData(dispatch, { ...decision, addressed: false }, { triggers: false }) }]
}
