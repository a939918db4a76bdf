import type { BudgetHit } from './budget.ts'
import type { ErrorCode } from './errors.ts'
import type { Usage } from './model.ts'

/** The result of a turn. `silent`: the answer was a marker and nothing else. */
export type TurnOutcome = 'answered' | 'silent' | 'failed'

/** The outcome of an accepted message; `refused: …` carries the reason. */
export type InboxOutcome =
  | TurnOutcome
  | 'context'
  | 'control'
  | 'cancelled'
  | 'edited'
  | 'deleted'
  | 'quarantined'
  | 'taken_back'
  | 'forgotten'
  | 'aged'
  | `refused: ${string}`
  | `ignored: ${string}`
  | `unanswered: ${string}`

/** The outcomes of messages whose words were taken out: somebody has asked for it, or they were too old. */
export const EMPTIED: readonly (InboxOutcome | undefined)[] = ['forgotten', 'aged']

export function isEmptied(outcome: InboxOutcome | undefined): boolean {
  return EMPTIED.includes(outcome)
}

/** The words of the contract for how a turn ended: the one that models have, and `aborted`. */
export type TurnStop = 'stop' | 'length' | 'content_filter' | 'error' | 'aborted'

/** Returns the reason for which a turn that was not cancelled ended. */
export function stopReasonOf({ outcome, cut, error }: TurnEndData): TurnStop {
  if (error === 'model_refused') return 'content_filter'
  if (outcome === 'failed' || error !== undefined) return 'error'
  return cut ? 'length' : 'stop'
}

export interface TurnEndData {
  readonly outcome: TurnOutcome
  readonly usage: Usage
  /** Steps: calls of the model. */
  readonly steps: number
  readonly error?: ErrorCode
  /** The model that failed, as it is configured. */
  readonly model?: string
  /** The model was stopped at the longest answer it may give: the answer lacks its end. */
  readonly cut?: true
  /** The budget that a call did not fit. */
  readonly budget?: BudgetHit
  /** The text that stayed in the chat of an answer that broke off. No model is shown it. */
  readonly partial?: string
  /** The part of the conversation that the model read. */
  readonly context?: ContextRead
  /** A check decided that the agent is not asked, or it has no model: its messages are context of the next turn. */
  readonly unasked?: true
}

/** The part of a conversation that a model read for an answer. */
export interface ContextRead {
  /** Messages of earlier turns, those of people and those of the assistant. */
  readonly messages: number
  /** Older ones were summed up. */
  readonly summary?: true
  /** Tokens of the first request of the turn. */
  readonly tokens: number
  /** Parts were left out because the request was too long. */
  readonly shortened?: true
}
