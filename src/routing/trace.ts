import type { Decision, Dispatch, TraceStage, TraceStep } from '../core/dispatch.ts'

/** The stage let the dispatch through. `config` is the path of the setting that would flip it, where there is one. */
export function pass(stage: TraceStage, because: string, config?: string): TraceStep {
  return config === undefined ? { stage, verdict: 'pass', because } : { stage, verdict: 'pass', because, config }
}

/** The stage decided that no turn is owed. */
export function stop(stage: TraceStage, because: string, config?: string): TraceStep {
  return config === undefined ? { stage, verdict: 'stop', because } : { stage, verdict: 'stop', because, config }
}

/** Returns the log fields of a decision, including the dispatch rule that matched (K22). */
export function decidedFields({ traceId }: Dispatch, decision: Decision): Readonly<Record<string, string>> {
  const { kind, reason } = decision
  if (!('route' in decision)) return { traceId, decision: kind, reason }
  const { matchedBy, agent, displayKey } = decision.route
  return { traceId, decision: kind, reason, matchedBy, agent, session: displayKey }
}
