import type { TraceStage, TraceStep } from '../core/dispatch.ts'

/** The stage let the dispatch through. `config` is the path of the setting that would flip it, where there is one. */
export function pass(stage: TraceStage, because: string, config?: string): TraceStep {
  return config === undefined ? { stage, verdict: 'pass', because } : { stage, verdict: 'pass', because, config }
}

/** The stage decided that no turn is owed. */
export function stop(stage: TraceStage, because: string, config?: string): TraceStep {
  return config === undefined ? { stage, verdict: 'stop', because } : { stage, verdict: 'stop', because, config }
}
