import type { Charge } from './budget.ts'
import type { ModelMessage, Usage } from './model.ts'

/** Asks a cheaper model whether the agent is asked at all (`routing.access.groups[].precheck`). */
export interface Precheck {
  /** `<server>/<model>`; `scripted/<file>` for a rule without a model. */
  readonly model: string
  /** In words: an answer there is given to this alone. */
  readonly ask?: string
}

export interface PrecheckVerdict {
  /** True: the agent is asked. */
  readonly answer: boolean
  /** The model that decided; the configured one where it could not be asked. */
  readonly model: string
  /** One line. */
  readonly because: string
}

export interface PrecheckRequest extends Precheck {
  /** The newest messages as the agent would be shown them, in order. */
  readonly messages: readonly ModelMessage[]
  readonly charge?: Charge | undefined
}

/**
 * Decides whether the agent is asked. A model that fails, or whose answer is neither yes nor no, keeps nobody from an
 * answer. Throws once `signal` ends it, and `budget_spent` where it may cost nothing more: the agent is not asked
 * either.
 */
export type RunPrecheck = (
  request: PrecheckRequest,
  signal: AbortSignal,
) => Promise<{ readonly verdict: PrecheckVerdict; readonly usage: Usage }>
