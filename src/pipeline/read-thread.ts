import { type Address, isSameChat } from '../core/address.ts'
import type { Channels } from '../core/channel-traits.ts'
import { within } from '../core/clock.ts'
import type { Decision, Dispatch, Identity, TraceStep } from '../core/dispatch.ts'
import { errorCode } from '../core/errors.ts'
import type { ThreadReadData, UserMessageData } from '../core/event.ts'
import type { IdSource } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { InboundEvent } from '../core/message.ts'
import type { ThreadRead } from '../core/thread.ts'
import { recordAuthors } from '../sessions/people/participants.ts'
import { inThreadKey } from '../sessions/turns/in-thread-key.ts'
import { isEditedSince, isGone } from '../sessions/turns/said-again.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import { askedElsewhere } from '../sessions/turns/turn-reply.ts'
import { userData } from '../sessions/turns/user-message.ts'
import type { ModelView } from '../sessions/view/model-view.ts'
import type { NewInboxRow } from '../store/inbox-port.ts'
import type { StoreWriter } from '../store/store.ts'
import { type ReadBeforeDeps, readChannelBefore } from './read-channel.ts'

export interface ThreadDeps extends ReadBeforeDeps {
  readonly ids: Pick<IdSource, 'inbox' | 'trace'>
  readonly logger: Logger
  /** Reads what the platform shows of a thread before a message; undefined where it cannot be asked. */
  readThread(address: Address, before: string, signal: AbortSignal): Promise<ThreadRead | undefined>
  /** Returns a message as it is stored, which the operator's hooks are asked about. */
  asStored(dispatch: Dispatch): Promise<Dispatch>
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
  if (!isFirstTurn(view)) return
  if (knowsRoot(view, turn)) {
    // A thread may be a post of its own, as in a forum: other posts are no part of what it is about.
    return deps.channels.traits(turn.reply.address.channel).rootBeginsThreads
      ? readChannelBefore(deps, turn)
      : undefined
  }
  let kept: Kept | undefined
  for (let reads = 0; reads < MOST_READS; reads++) {
    const since = deps.clock.now()
    const read = await readSafely(deps, turn.reply.address, before, signal)
    if (signal.aborted) return
    if (read?.kind !== 'read') {
      // The first reading is kept where a second one fails.
      kept ??= read && failed(read.reason)
      break
    }
    kept = await keptOf(deps, { turn, view, read })
    if (await record(deps, turn, kept, since)) return
  }
  if (kept) await record(deps, turn, kept)
}

/** A thread is read again where somebody has edited what was read, while hooks were asked about it. */
const MOST_READS = 2

/** The messages that are kept, and the event that has them. */
interface Kept {
  readonly rows: readonly KeptMessage[]
  readonly data: ThreadReadData
}

type Decided = Parameters<typeof userData>[1]

type KeptMessage = Pick<NewInboxRow, 'dispatch'> & {
  readonly decided: Decided
  /** Absent for a message of our own, which gets no row: it was not received. */
  readonly decision?: Extract<Decision, { kind: 'context' }>
  readonly message: UserMessageData
}

/**
 * A hook was asked about each message meanwhile: what was forgotten in that time is not kept. Returns false, and keeps
 * nothing, where one was edited since then.
 */
async function record(
  deps: ThreadDeps,
  { id: turnId, session }: StartedTurn,
  { rows, data }: Kept,
  since = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const recorded = await deps.store.write(async (tx) => {
    for (const { dispatch } of rows) if (await isEditedSince(tx, dispatch.event, since)) return false
    const messages: UserMessageData[] = []
    for (const row of rows) {
      if (await isGone(tx, deps.channels, row.dispatch.event)) continue
      if (row.decision === undefined && (await isEmptied(tx, row.dispatch.event))) continue
      messages.push(row.message)
      await recordAuthors(tx, session.id, row.dispatch, deps)
      await addRow(tx, session, row, deps)
    }
    await tx.events.append(session.id, deps.clock.now(), [{ type: 'thread_read', turnId, data: { ...data, messages } }])
    return true
  })
  // The turn has begun, so nothing else would look for it.
  if (recorded) await deps.transcript.view(session)
  return recorded
}

/** Returns true for a message of ours whose words were forgotten: the platform may still show them. */
async function isEmptied({ outbox }: Pick<StoreWriter, 'outbox'>, event: InboundEvent): Promise<boolean> {
  const sent = 'messageId' in event ? await outbox.ofMessage(event.messageId) : []
  return sent.some(
    ({ address, part }) => isSameChat(address, event.address) && part.text === '' && part.file === undefined,
  )
}

/**
 * Stores the row of a message, as if it had been accepted: what reads the place back later finds it there, and an edit
 * or a deletion finds the session. The first message of a thread mostly has a row already, of its channel's session.
 */
async function addRow(
  tx: StoreWriter,
  { id: sessionId }: StartedTurn['session'],
  { dispatch, decision }: KeptMessage,
  { ids }: ThreadDeps,
): Promise<void> {
  if (decision === undefined) return
  const row = { id: ids.inbox(), dispatch, decision, sessionId, state: 'done', outcome: 'context' } as const
  if (await tx.inbox.add(row)) return
  const eventKey = inThreadKey(dispatch.event.eventKey)
  await tx.inbox.add({ ...row, dispatch: { ...dispatch, event: { ...dispatch.event, eventKey } } })
}

function failed(reason: string): Kept {
  return { rows: [], data: { messages: [], leftOut: 0, failed: reason } }
}

interface Reading {
  readonly turn: StartedTurn
  readonly view: ModelView
  readonly read: Extract<ThreadRead, { kind: 'read' }>
}

async function keptOf(deps: ThreadDeps, { turn, view, read: { events: shown, left } }: Reading): Promise<Kept> {
  deps.overheard(shown)
  const gone = await Promise.all(shown.map((event) => isGone(deps.store.read, deps.channels, event)))
  const events = shown.filter((_event, at) => !gone[at])
  const received = [...(view.running?.received ?? []), ...view.pending]
  const known = new Set(received.map(({ messageId }) => messageId))
  const news = events.filter((event) => event.kind === 'message' && !known.has(event.messageId))
  const kept = news.flatMap((event) => keptMessage(deps, turn, event))
  const rows = await Promise.all(withinBounds(kept).map((row) => stored(deps, row)))
  return {
    rows,
    data: {
      messages: rows.map(({ message }) => message),
      leftOut: news.length - kept.length,
      ...(left || rows.length < kept.length ? { more: true } : {}),
    },
  }
}

async function stored({ asStored }: ThreadDeps, row: KeptMessage): Promise<KeptMessage> {
  const dispatch = await asStored(row.dispatch)
  return { ...row, dispatch, message: userData(dispatch, row.decided, { triggers: false }) }
}

/** Characters of a thread that are kept: as many as a prompt has of what was said meanwhile. */
const MOST_CHARACTERS = 24_000

/** Returns the first message, and of the others the newest that fit. */
function withinBounds(kept: readonly KeptMessage[]): readonly KeptMessage[] {
  const [first, ...others] = kept
  if (first === undefined) return kept
  let left = MOST_CHARACTERS - first.message.text.length
  const newest = others.toReversed().filter(({ message: { text } }) => {
    left -= text.length
    return left >= 0
  })
  return first.message.text.length > MOST_CHARACTERS ? newest.reverse() : [first, ...newest.reverse()]
}

/** Returns the message of the turn where it stands in a thread with a session of its own; undefined elsewhere. */
function firstInThread(turn: StartedTurn, channels: Channels): string | undefined {
  const { session, reply, asked } = turn
  const { channel, topic } = reply.address
  if (topic === undefined || channels.traits(channel).topics !== 'threads') return undefined
  if (session.scope.values.topic === undefined || askedElsewhere(turn)) return undefined
  return asked?.messageId
}

function isFirstTurn({ running, threadRead, history, hidden, summary }: ModelView): boolean {
  if (running === undefined || running.steps.length > 0 || threadRead) return false
  return history.length === 0 && hidden.length === 0 && summary === undefined
}

/** A thread whose first message is known has nothing before that, but the channel in which it began has. */
function knowsRoot({ running }: ModelView, { reply }: StartedTurn): boolean {
  return running?.received.some(({ messageId }) => messageId === reply.address.topic) ?? false
}

/** People wait for their answer meanwhile. */
const LONGEST_MS = 10_000

async function readSafely(
  { readThread, clock, logger }: ThreadDeps,
  address: Address,
  before: string,
  signal: AbortSignal,
): Promise<ThreadRead | undefined> {
  const late = new AbortController()
  try {
    const reading = readThread(address, before, AbortSignal.any([signal, late.signal]))
    if (await within(clock, LONGEST_MS, reading)) return await reading
    late.abort()
    reading.catch(() => {})
    return { kind: 'cannot_tell', reason: 'the platform took too long' }
  } catch (err) {
    logger.warn('What was said before in a thread could not be read', { err })
    return { kind: 'cannot_tell', reason: errorCode(err) }
  }
}

/** Returns a message as the log keeps it, if the rules would have kept it in this session. */
function keptMessage(
  { clock, ids, judge }: ThreadDeps,
  { session, asked, reply }: StartedTurn,
  event: InboundEvent,
): readonly KeptMessage[] {
  const { address } = event
  const received = { traceId: ids.trace(), receivedAt: clock.now() }
  const dispatch: Dispatch = { origin: 'platform', ...received, event, reply: { address } }
  if ('own' in event && event.own) return ownMessage(dispatch, session)
  const own = judge(dispatch)
  const isAlert = own.kind === 'ignore' && event.sender.kind === 'bot' && isRoot(event, reply.address)
  // People ask about an alert in its thread: it is there for whoever may ask, as a message is that somebody quotes.
  const judged = isAlert && asked?.sender ? judge({ ...dispatch, event: { ...event, sender: asked.sender } }) : own
  if (judged.kind !== 'run' && judged.kind !== 'context') return []
  const { route, trace } = judged
  const identity: Identity = isAlert ? { role: 'guest' } : judged.identity
  if (route.scopeKey !== session.scopeKey) return []
  const decision = { kind: 'context', reason: 'thread_read', addressed: false, route, identity } as const
  return [
    {
      dispatch,
      decided: decision,
      decision: { ...decision, trace: [...trace, READ] },
      message: userData(dispatch, decision, { triggers: false }),
    },
  ]
}

function isRoot(event: InboundEvent, { topic }: Address): boolean {
  return 'messageId' in event && event.messageId === topic
}

/** Its own words are kept in a session of everybody's alone: they may answer, and repeat, anybody there. */
function ownMessage(dispatch: Dispatch, { scope }: StartedTurn['session']): readonly KeptMessage[] {
  if (scope.values.sender !== undefined) return []
  const decided: Decided = { identity: { role: 'guest' }, addressed: false, route: { scope } }
  return [{ dispatch, decided, message: userData(dispatch, decided, { triggers: false }) }]
}

const READ: TraceStep = {
  ...{ stage: 'session', verdict: 'stop' },
  because: 'it was read with the history of its thread, before the first turn there',
}
