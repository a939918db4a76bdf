import type { Clock } from '../core/clock.ts'
import { errorCode, ParleyError } from '../core/errors.ts'
import { NO_MODEL, NO_USAGE } from '../core/model.ts'
import type { SessionIdentity, VerboseLevel } from '../core/session.ts'
import type { JournalDraft, RunAgent, TurnRequest, TurnResult } from '../core/turn.ts'
import type { DeliveryService } from '../delivery/delivery.ts'
import type { LiveReply } from '../delivery/live-reply.ts'
import { SUSPENDED } from '../sessions/turns/running-turns.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import { answerOf, askedElsewhere, priorityOf } from '../sessions/turns/turn-reply.ts'
import { toolNotes } from '../sessions/view/tool-notes.ts'
import type { Transcript } from '../sessions/view/transcript.ts'
import type { Store } from '../store/store.ts'
import { type AskPersonDeps, askPerson } from './ask-person.ts'
import { type CheckFirstDeps, checkFirst, unasked, withCheck } from './check-first.ts'
import { gatherPieces, type PiecesDeps } from './gather-pieces.ts'
import { readFiles } from './read-files.ts'
import { readThreadBefore, type ThreadDeps } from './read-thread.ts'
import { stepRecorder } from './record-read.ts'
import { type RequestDeps, requestOf } from './turn-request.ts'

export interface RunTurnDeps extends RequestDeps, CheckFirstDeps, ThreadDeps, AskPersonDeps, PiecesDeps {
  readonly store: Store
  readonly clock: Clock
  readonly transcript: Transcript
  readonly runAgent: RunAgent
  readonly delivery: DeliveryService
  /** Returns how many turns the session has at most; undefined: as many as it likes (C9). */
  cap(session: SessionIdentity): number | undefined
  /** Returns the failure of a session whose agent is not in the configuration any more (R10). */
  refusesAgent(session: SessionIdentity): ParleyError | undefined
  /** Returns true if the answer of a turn is to be spoken. */
  speaks(turn: StartedTurn): Promise<boolean>
}

/** Runs one claimed turn with the agent. */
export type RunTurn = (turn: StartedTurn, signal: AbortSignal) => Promise<TurnResult>

/**
 * Returns the function that runs a claimed turn: it commits each step before the next begins, shows the answer while it
 * grows, and returns the result. It never rejects: no failure of a turn ends the daemon or leaves the chat without an
 * outcome.
 */
export function createRunTurn(deps: RunTurnDeps): RunTurn {
  return (turn, signal) => runTurn(deps, turn, signal)
}

async function runTurn(deps: RunTurnDeps, turn: StartedTurn, signal: AbortSignal): Promise<TurnResult> {
  const said = turn.asked?.said
  if (said !== undefined) return { kind: 'final', text: said, model: 'none', usage: NO_USAGE, steps: 0 }
  try {
    const gone = deps.refusesAgent(turn.session)
    if (gone !== undefined) throw gone
    await checkCap(deps, turn.session)
    const missing = withoutModel(deps, turn)
    if (missing) return missing
    await readThreadBefore(deps, turn, signal)
    const checked = await checkFirst(deps, turn, signal)
    if (checked?.verdict.answer === false) return unasked(checked)
    return withCheck(await answer(deps, turn, signal), checked)
  } catch (cause) {
    return signal.aborted ? STOPPED : failedBy(cause)
  }
}

async function answer(deps: RunTurnDeps, turn: StartedTurn, signal: AbortSignal): Promise<TurnResult> {
  try {
    const { delivery, transcript } = deps
    const { id: turnId, session, traceId, reply } = turn
    const watched = !askedElsewhere(turn)
    // An answer that will be spoken is not shown before.
    const spoken = watched && (await deps.speaks(turn))
    const live =
      watched && !spoken ? delivery.live({ ...reply, turnId, session, traceId, ...priorityOf(turn) }) : UNSEEN
    const stopTyping = watched ? delivery.typing({ ...reply, session }) : undefined
    let result: TurnResult
    try {
      await gatherPieces(deps, turn, signal)
      await readFiles(deps, turn, signal)
      // The steps of a turn that is resumed are in its log alone.
      const view = await transcript.shown(session, turn.resumed ? undefined : turnId)
      const request = await requestOf(deps, turn, { view, live, signal })
      const since = request.open === undefined ? 0 : await deps.store.read.forgetting.removals()
      const steps = deps.runAgent(request, signal)
      const first = await steps.next()
      result = withEarlier(
        request,
        first.done ? first.value : await journaled(deps, turn, { steps, first, since, signal }),
      )
      const level = deps.verbose(session) ?? 'off'
      if (level !== 'off') result = await withNotes(deps, turn, { result, level })
      result = await presented(deps, turn, { result, spoken, signal })
    } catch (cause) {
      result = failedBy(cause)
    } finally {
      stopTyping?.()
      await live.settle()
    }
    if (result.kind === 'final') return result
    const shown = live.shown()
    return shown === undefined ? result : { ...result, shown }
  } catch (cause) {
    return failedBy(cause)
  }
}

/** Returns the result with its answer spoken, or as a file, where it is to be one. */
async function presented(
  { delivery, charge }: RunTurnDeps,
  turn: StartedTurn,
  { result, spoken, signal }: { readonly result: TurnResult; readonly spoken: boolean; readonly signal: AbortSignal },
): Promise<TurnResult> {
  const { address, elsewhere } = turn.reply
  if (result.kind !== 'final' || elsewhere === 'only') return result
  const paid = spoken ? { charge: await charge(turn) } : {}
  const shown = await delivery.present({ address, text: answerOf(turn, result), spoken, signal, ...paid })
  return shown === undefined ? result : { ...result, presented: shown }
}

/** Adds how much of the earlier conversation the model has read; `why` says it. */
function withEarlier({ earlier }: TurnRequest, result: TurnResult): TurnResult {
  if (result.kind !== 'final' || result.context === undefined || earlier === undefined) return result
  const { said, summary } = earlier
  return { ...result, context: { ...result.context, messages: said, summary } }
}

/** Throws `turn_limit` where a session has had all its turns: no model is called then (C10). */
async function checkCap({ store, cap }: RunTurnDeps, session: SessionIdentity): Promise<void> {
  const most = cap(session)
  if (most === undefined) return
  const { reached } = await store.read.events.spent(session.id)
  if (reached >= most) throw new ParleyError('turn_limit', `The session has had its ${most} turns (session.turnCap).`)
}

/** Returns the end of a turn whose agent has no model: nothing is read, asked or shown for it. */
function withoutModel({ agent }: RunTurnDeps, { session, asked }: StartedTurn): TurnResult | undefined {
  const { model, fallback = [] } = agent(session, asked?.model)
  if (model !== NO_MODEL || fallback.length > 0) return undefined
  const cause = new ParleyError('model_unconfigured', 'The agent has no model.')
  return { kind: 'failed', code: cause.code, cause, model, usage: NO_USAGE, steps: 0 }
}

function failedBy(cause: unknown): Extract<TurnResult, { kind: 'failed' }> {
  return { kind: 'failed', code: errorCode(cause), cause, usage: NO_USAGE, steps: 0 }
}

/**
 * Returns the result to store where the last attempt has failed with `err`: a disk may have room again later, while an
 * error in this program would come again each time, and the conversation wait for ever.
 */
export function afterFailure(result: TurnResult, err: unknown): TurnResult {
  const own = err instanceof TypeError || err instanceof RangeError || err instanceof ReferenceError
  return own ? { ...failedBy(err), usage: result.usage, steps: result.steps } : result
}

interface Journal {
  readonly steps: ReturnType<RunAgent>
  readonly first: IteratorResult<JournalDraft, TurnResult>
  readonly signal: AbortSignal
  /** The number of removals before the calls of a step that a crash has interrupted. */
  readonly since: number
}

/** Commits each step before the next begins; returns the result of the last. */
async function journaled(
  deps: RunTurnDeps,
  turn: StartedTurn,
  { steps, first, since, signal }: Journal,
): Promise<TurnResult> {
  const keep = resultsToKeep(signal)
  const record = stepRecorder(deps, turn, since)
  let step = first
  try {
    while (!step.done) {
      const event = step.value
      if (!keep(event)) return STOPPED
      const stored = event.type === 'approval_requested' ? await askPerson(deps, turn, event) : await record(event)
      if (event.type === 'tool_result') deps.approvals.settled(turn.id, event.data.callId)
      step = await steps.next(stored)
    }
    return step.value
  } finally {
    if (!step.done) await steps.return(STOPPED)
  }
}

export const STOPPED: TurnResult = { kind: 'aborted', usage: NO_USAGE, steps: 0 }

/**
 * When a turn is suspended for the next start, calls which that start may repeat get no result, since a result would
 * record them as stopped. Calls that must not be repeated keep the result they have.
 */
function resultsToKeep(signal: AbortSignal): (event: JournalDraft) => boolean {
  const begun = new Set<string>()
  return (event) => {
    if (event.type === 'tool_call' && event.data.class === 'once') begun.add(event.data.callId)
    return event.type !== 'tool_result' || signal.reason !== SUSPENDED || begun.has(event.data.callId)
  }
}

/** Adds the tools used on the way, from the log, so that a turn resumed after a crash names all of them. */
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

/**
 * The live reply of a turn that nobody in the chat asked for: nothing is shown before the answer is whole, if at all.
 */
const UNSEEN: LiveReply = { push() {}, working() {}, async settle() {}, shown: () => undefined }
