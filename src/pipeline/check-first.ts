import { addUsage } from '../core/model.ts'
import type { PrecheckVerdict, RunPrecheck } from '../core/precheck.ts'
import { SILENCE } from '../core/silence.ts'
import type { TurnResult } from '../core/turn.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import { requestMessages } from '../sessions/view/model-view.ts'
import type { Transcript } from '../sessions/view/transcript.ts'
import type { ChargeTurn } from './read-files.ts'

export interface CheckFirstDeps {
  readonly transcript: Pick<Transcript, 'shown'>
  readonly precheck: RunPrecheck
  readonly charge: ChargeTurn
}

export type Checked = Awaited<ReturnType<RunPrecheck>>

/**
 * Asks the check before a turn that nothing but `trigger: always` has started; undefined where there is none, or the
 * agent has begun before a crash. Throws once `signal` ends it.
 */
export async function checkFirst(
  { transcript, precheck, charge }: CheckFirstDeps,
  turn: StartedTurn,
  signal: AbortSignal,
): Promise<Checked | undefined> {
  const { id, session, precheck: check } = turn
  if (check === undefined) return undefined
  const view = await transcript.shown(session, id)
  if (view.running === undefined || view.running.steps.length > 0) return undefined
  const newest = requestMessages(view, session.chatType).messages.slice(-1)
  return precheck({ ...check, messages: newest, charge: await charge(turn) }, signal)
}

/** Returns the result of a turn for which the agent is not asked: silence, at the cost of the check. */
export function unasked({ verdict, usage }: Checked): TurnResult {
  return { kind: 'final', text: SILENCE, model: verdict.model, usage, steps: 0, precheck: verdict }
}

/** Returns a result with what the check before it said and cost. */
export function withCheck(result: TurnResult, checked: Checked | undefined): TurnResult {
  if (checked === undefined) return result
  const precheck: PrecheckVerdict = checked.verdict
  return { ...result, usage: addUsage(result.usage, checked.usage), precheck }
}
