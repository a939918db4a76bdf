import type { Clock } from '../core/clock.ts'
import { errorCode } from '../core/errors.ts'
import { NO_USAGE } from '../core/model.ts'
import type { Session, VerboseLevel } from '../core/session.ts'
import type { AgentProfile, JournalDraft, RunAgent, TurnResult } from '../core/turn.ts'
import type { DeliveryService } from '../delivery/delivery.ts'
import type { LiveReply } from '../delivery/live-reply.ts'
import { recordStep, type StartedTurn, steerWaiting } from '../sessions/turns/record-turn.ts'
import { SUSPENDED } from '../sessions/turns/running-turns.ts'
import type { TurnQueue } from '../sessions/turns/turn-queue.ts'
import { askedElsewhere, priorityOf } from '../sessions/turns/turn-reply.ts'
import { toolNotes } from '../sessions/view/tool-notes.ts'
import type { Transcript } from '../sessions/view/transcript.ts'
import { type RequestContext, turnRequest } from '../sessions/view/turn-request.ts'
import type { Store } from '../store/store.ts'

export interface RunTurnDeps {
  readonly store: Store
  readonly clock: Clock
  readonly queue: TurnQueue
  readonly transcript: Transcript
  readonly runAgent: RunAgent
  readonly delivery: DeliveryService
  readonly busy: 'queue' | 'steer' | 'interrupt'
  /** As it is now: what was set for the session counts from its next turn. */
  agent(session: Session): AgentProfile
  /** Its model is told who of several people says what, though it began in a direct chat. */
  joined(session: Session): boolean
  /** What the chat sees of the tool steps. */
  verbose(session: Session): VerboseLevel
}

/** The middle of the story: one claimed turn with the agent. */
export type RunTurn = (turn: StartedTurn, signal: AbortSignal) => Promise<TurnResult>

/**
 * Lets the agent work on a claimed turn: commits each step before the next begins, shows the answer while it grows, and
 * returns what came of it. Never rejects: nothing a turn trips over ends the daemon or leaves the chat without an outcome.
 */
export function createRunTurn(deps: RunTurnDeps): RunTurn {
  return (turn, signal) => runTurn(deps, turn, signal)
}

async function runTurn(deps: RunTurnDeps, turn: StartedTurn, signal: AbortSignal): Promise<TurnResult> {
  try {
    const { delivery, transcript } = deps
    const { id: turnId, session, traceId, reply } = turn
    const watched = !askedElsewhere(turn)
    const live = watched ? delivery.live({ ...reply, turnId, session, traceId, ...priorityOf(turn) }) : UNSEEN
    const stopTyping = watched ? delivery.typing({ address: reply.address, session }) : undefined
    let result: TurnResult
    try {
      const seen = transcript.view(session, turnId)
      const view = seen instanceof Promise ? await seen : seen
      const steps = deps.runAgent(turnRequest(turn, view, contextOf(deps, turn, { live, signal })), signal)
      const first = await steps.next()
      result = first.done ? first.value : await journaled(deps, turn, { steps, first, signal })
      const level = deps.verbose(session)
      if (level !== 'off') result = await withNotes(deps, turn, { result, level })
    } catch (cause) {
      result = failedBy(cause)
    } finally {
      stopTyping?.()
      const settling = live.settle()
      if (settling !== undefined) await settling
    }
    if (result.kind !== 'failed') return result
    const shown = live.shown()
    return shown === undefined ? result : { ...result, shown }
  } catch (cause) {
    return failedBy(cause)
  }
}

function failedBy(cause: unknown): Extract<TurnResult, { kind: 'failed' }> {
  return { kind: 'failed', code: errorCode(cause), cause, usage: NO_USAGE, steps: 0 }
}

interface Journal {
  readonly steps: ReturnType<RunAgent>
  readonly first: IteratorResult<JournalDraft, TurnResult>
  readonly signal: AbortSignal
}

/** Commits each step before the next begins; returns what came of the last. */
async function journaled(
  { store, clock }: RunTurnDeps,
  turn: StartedTurn,
  { steps, first, signal }: Journal,
): Promise<TurnResult> {
  const keep = resultsToKeep(signal)
  let step = first
  try {
    while (!step.done) {
      const event = step.value
      if (!keep(event)) return STOPPED
      await store.write((tx) => recordStep(tx, turn, clock.now(), event))
      step = await steps.next()
    }
    return step.value
  } finally {
    if (!step.done) await steps.return(STOPPED)
  }
}

export const STOPPED: TurnResult = { kind: 'aborted', usage: NO_USAGE, steps: 0 }

/**
 * When a turn is put down for the next start, what that start may run again has no result yet: else a call that was only
 * waiting would be told that it was stopped. What must not run again keeps the result it has.
 */
function resultsToKeep(signal: AbortSignal): (event: JournalDraft) => boolean {
  const begun = new Set<string>()
  return (event) => {
    if (event.type === 'tool_call' && event.data.class === 'once') begun.add(event.data.callId)
    return event.type !== 'tool_result' || signal.reason !== SUSPENDED || begun.has(event.data.callId)
  }
}

/** What was used on the way, from the log: a turn that goes on after a crash tells all of it. */
async function withNotes(
  { transcript }: RunTurnDeps,
  { session }: StartedTurn,
  { result, level }: { readonly result: TurnResult; readonly level: VerboseLevel },
): Promise<TurnResult> {
  if (result.kind !== 'final') return result
  const { running } = await transcript.view(session)
  const preface = toolNotes(running?.steps ?? [], level)
  return preface === undefined ? result : { ...result, preface }
}

/** What nobody in the chat asked for is posted once it is whole, if at all. */
const UNSEEN: LiveReply = { push() {}, settle: () => undefined, shown: () => undefined }

function contextOf(
  deps: RunTurnDeps,
  turn: StartedTurn,
  { live, signal }: { readonly live: LiveReply; readonly signal: AbortSignal },
): RequestContext {
  const { agent, clock, busy } = deps
  return {
    agent: agent(turn.session),
    joined: deps.joined(turn.session) || undefined,
    now: clock.now(),
    show: live.push,
    steer: busy === 'steer' ? () => steer(deps, turn, signal) : nothingSaid,
  }
}

const nothingSaid = async (): Promise<readonly string[]> => []

/** What was said meanwhile joins the turn, unless that is being stopped; the agent is told it as the log now has it. */
async function steer(
  { store, clock, queue, transcript }: RunTurnDeps,
  turn: StartedTurn,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const rows = await store.write(async (tx) => (signal.aborted ? [] : steerWaiting(tx, turn, clock.now(), queue)))
  if (rows.length === 0) return []
  const { running } = await transcript.view(turn.session)
  const joined = running?.steps.at(-1)
  return joined?.role === 'user' ? [joined.text] : []
}
