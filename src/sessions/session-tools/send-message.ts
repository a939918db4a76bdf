import type { Address } from '../../core/address.ts'
import { tokensBehind } from '../../core/author.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { Dispatch, Writer, WritingHook, WritingSession } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import { type ChannelId, type IdSource, type RunId, runId } from '../../core/ids.ts'
import type { Session } from '../../core/session.ts'
import type { SendAnswer, SendRequest, SessionCaller, WaitRequest } from '../../core/session-tools.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader } from '../../store/store.ts'
import { ALLOWED, type Verdict } from '../people/least-reach.ts'
import { addressOf } from '../service/address-of.ts'
import { answerOf } from '../service/answer-of.ts'
import { sessionInUse } from '../service/find-session.ts'
import { type MessageFacts, messageDispatch } from '../service/message-dispatch.ts'
import { waitForRun } from '../service/wait-for-run.ts'
import { type ChatOwners, isPartedChat } from '../turns/parted-chat.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import { clamp } from './clamp.ts'
import { type CallerReach, checkVerdict, type Reach } from './reach.ts'
import { sessionNamed, shownKey } from './shown-key.ts'
import type { WaitGraph } from './wait-graph.ts'

export interface SendDeps {
  readonly read: StoreReader
  readonly reach: Reach
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'trace'>
  readonly running: Pick<RunningTurns, 'nextEnd'>
  readonly waits: WaitGraph
  /** Accepts a dispatch; resolves once it is on disk. */
  accept(dispatch: Dispatch): Promise<void>
  /** Returns true if texts can be posted on the channel. */
  posts(channel: ChannelId): boolean
  readonly channels: Pick<Channels, 'traits'>
  readonly owners: ChatOwners
}

/** The waits in seconds, a day at most: longer than any client stays. */
const WAIT_SECONDS = { fallback: 30, least: 0, most: 86_400 }
/** Agents that answer each other do not stop by themselves: a circle of a few would continue all night. */
const MOST_HOPS = 5

/** Implements `SessionTools.send`. */
export async function sendMessage(deps: SendDeps, sessionKey: string, sending: SendCall): Promise<SendAnswer> {
  const { request, caller } = sending
  checkMessage(request)
  const named = await sessionNamed(deps.read.sessions, sessionKey, caller, deps.owners)
  const to = named && (await sessionInUse(named, deps.read.sessions))
  if (checkVerdict(await (await deps.reach.of(caller)).sends(to)) && to) return sendTo(deps, to, sending)
  return { runId: runOf(request, caller), sessionKey, status: 'error', error: `There is no session ${sessionKey}.` }
}

export interface SendCall {
  readonly request: Omit<SendRequest, 'sessionKey'>
  readonly caller: SessionCaller
  readonly signal: AbortSignal
  /** The writer, where that is neither the caller's turn nor its person. */
  readonly writer?: WritingHook
  /** The place in which the answer is posted besides. */
  readonly deliverTo?: Address
}

/** Does the same as `sendMessage` for a session that the caller is known to reach. */
export async function sendTo(deps: SendDeps, to: Session, sending: SendCall): Promise<SendAnswer> {
  const { request, caller, signal, writer, deliverTo } = sending
  const run = runOf(request, caller)
  const reach = await deps.reach.of(caller)
  const reads = (await mayRead(deps, caller, to)).kind === 'allowed'
  const begun = (await rowOf(deps, run)) !== undefined
  const refusal = begun
    ? undefined
    : await handOver(deps, { to, request, caller, reach, reads, writer, deliverTo, run })
  if (refusal !== undefined) return { runId: run, sessionKey: shownKey(to, caller), status: 'error', error: refusal }
  const seconds = clamp(request.timeoutSeconds, WAIT_SECONDS)
  return follow(deps, { to, run, begun, caller, seconds, reads, signal })
}

/** Returns whether the caller may read that session's answer now; a client may, whose reach the sending decided. */
async function mayRead({ reach }: Pick<SendDeps, 'reach'>, caller: SessionCaller, to: Session): Promise<Verdict> {
  return caller.turn === undefined ? ALLOWED : (await reach.of(caller)).reads(to)
}

export function checkMessage({ message }: Pick<SendRequest, 'message'>): void {
  if (message.trim() === '') throw new ParleyError('invalid', 'message must not be empty.')
}

/** Returns the run of a request: the same one again is the same run. */
export function runOf({ requestId }: Pick<SendRequest, 'requestId'>, { turn, principal }: SessionCaller): RunId {
  return runId(turn?.id ?? `client ${principal?.person}`, requestId)
}

/** Implements `SessionTools.wait`. */
export async function waitAgain(
  deps: SendDeps,
  { runId: name, timeoutSeconds }: WaitRequest,
  caller: SessionCaller,
  signal: AbortSignal,
): Promise<SendAnswer> {
  const row = await rowOf(deps, name as RunId)
  const to = row?.sessionId && (await deps.read.sessions.get(row.sessionId))
  if (!row || !to || !askedBy(row, caller)) throw new ParleyError('not_found', `There is no run ${name}.`)
  return follow(deps, {
    to,
    run: name as RunId,
    begun: true,
    caller,
    seconds: clamp(timeoutSeconds, WAIT_SECONDS),
    reads: checkVerdict(await mayRead(deps, caller, to)),
    signal,
  })
}

function askedBy({ dispatch: { posted } }: InboxRow, { principal, turn }: SessionCaller): boolean {
  if (turn !== undefined)
    return posted?.from && 'session' in posted.from ? posted.from.session === turn.sessionId : false
  if (principal === undefined) return false
  return principal.role === 'owner' || (principal.person !== undefined && principal.person === posted?.identity.person)
}

interface HandOver {
  readonly to: Session
  readonly request: SendCall['request']
  readonly caller: SessionCaller
  readonly reach: CallerReach
  /** True if the caller's conversation may read the answer. */
  readonly reads: boolean
  readonly writer: Writer | undefined
  readonly deliverTo: Address | undefined
  readonly run: RunId
}

/** Puts the message on disk, or returns why it may not be. */
async function handOver(
  deps: SendDeps,
  { to, request, caller, reach, reads, writer, deliverTo, run }: HandOver,
): Promise<string | undefined> {
  const { message, announce = false } = request
  if (announce && !deps.posts(addressOf(to).channel)) return 'That session has no chat in which anything can be posted.'
  if (announce && isPartedChat(to, deps.channels, deps.owners))
    return 'The chat of that session was parted from it: nothing goes there.'
  const { from = writer, ...behind } = await behindMessage(deps, caller)
  if (from && 'hops' in from && from.hops > MOST_HOPS)
    return `This message has come over ${MOST_HOPS} sessions already; answer it instead.`
  try {
    await deps.accept(
      messageDispatch(deps.channels, {
        to,
        by: await reach.principal(),
        readers: reads ? reach.readers : [],
        text: message,
        announce,
        deliverTo,
        runId: run,
        traceId: deps.ids.trace(),
        receivedAt: deps.clock.now(),
        ...(from === undefined ? {} : { from }),
        ...behind,
      }),
    )
    return undefined
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'not_found') return error.message
    throw error
  }
}

/** Returns what is behind a message of a turn: nothing where a client writes, or a hook. */
async function behindMessage(
  { read }: Pick<SendDeps, 'read'>,
  { turn }: SessionCaller,
): Promise<Pick<MessageFacts, 'turn' | 'ledBy'> & { readonly from?: WritingSession | undefined }> {
  if (turn === undefined) return {}
  const asked = await read.inbox.ofTurn(turn.id)
  const session = await read.sessions.get(turn.sessionId)
  return { turn: turn.id, ledBy: tokensBehind(asked), from: session && writingSession(session, asked) }
}

/** The number of hops of a message comes from the messages that the writing turn answers. */
function writingSession({ id, displayKey, agentId }: Session, asked: readonly InboxRow[]): WritingSession {
  const before = asked.map(({ dispatch: { posted } }) => (posted?.from && 'hops' in posted.from ? posted.from.hops : 0))
  return { session: id, displayKey, agent: agentId, hops: 1 + Math.max(0, ...before) }
}

interface Following {
  readonly to: Session
  readonly run: RunId
  /**
   * True if an earlier call began it; a run that has only just begun and is not waited for is `accepted`, however fast
   * it is.
   */
  readonly begun: boolean
  readonly caller: SessionCaller
  readonly seconds: number
  /** True if the caller may read the session's answer; otherwise it learns only that the message was handed over. */
  readonly reads: boolean
  readonly signal: AbortSignal
}

type Answer =
  | { readonly status: 'ok'; readonly reply: string; readonly readAfter: number }
  | { readonly status: 'error'; readonly error: string }

/** The words of the turn go once they were sent; whoever has them before would keep them. */
const LEAVING = 'What it answered is being forgotten, deleted or taken back meanwhile, so it is shown nowhere else.'

/** Returns the result of a run now or within `seconds`. */
async function follow(
  deps: SendDeps,
  { to, run, begun, caller, seconds, reads, signal }: Following,
): Promise<SendAnswer> {
  const { read, clock, running, waits } = deps
  const named = { runId: run, sessionKey: shownKey(to, caller), sessionId: to.id }
  const look = async (): Promise<InboxRow> => {
    const row = await rowOf(deps, run)
    if (row) return row
    throw new ParleyError('internal', `the run ${run} is not on record`)
  }
  const answered = async (): Promise<Answer | undefined> => {
    const readAfter = await read.forgetting.removals()
    const row = await look()
    const answer = await answerOf(read, row)
    if (answer?.status !== 'ok') return answer
    const isLeaving = row.turnId !== undefined && (await read.forgetting.isForgetting(row.turnId))
    return isLeaving ? { status: 'error', error: LEAVING } : { ...answer, readAfter }
  }
  if (!reads) return { ...named, status: 'accepted' }
  const known = await answered()
  if (known && (begun || seconds > 0 || known.status === 'error')) return { ...named, ...known }
  const asking = caller.turn?.sessionId
  if (seconds === 0 || (asking !== undefined && waits.closesCircle(asking, to.id))) {
    return { ...named, status: 'accepted' }
  }
  const done = asking === undefined ? () => {} : waits.begin(asking, to.id)
  try {
    await waitForRun({ clock, running, session: to.id, ms: seconds * 1_000, signal, look })
    const answer = await answered()
    if (answer === undefined) return { ...named, status: 'timeout' }
    // Its readers may be others by now: a link or a role ends at once, and a wait may last a day (S19).
    return (await mayRead(deps, caller, to)).kind === 'allowed'
      ? { ...named, ...answer }
      : { ...named, status: 'accepted' }
  } finally {
    done()
  }
}

async function rowOf({ read }: Pick<SendDeps, 'read'>, run: RunId): Promise<InboxRow | undefined> {
  return (await read.inbox.find(run)).find(({ dispatch }) => dispatch.posted !== undefined)
}
