import type { ModelMessage, ModelRequest, Opaque } from '../../core/model.ts'
import type { ThinkingLevel } from '../../core/session.ts'

type Effort = Exclude<ThinkingLevel, 'off'>

/** The part of a request that says how much may be thought. */
export interface ThinkingParams {
  max_tokens: number
  thinking?: { type: 'adaptive' } | { type: 'disabled' } | { type: 'enabled'; budget_tokens: number }
  output_config?: { effort: Effort }
}

/** Tokens for thoughts; they count towards the answer's limit, which is raised by them. */
const BUDGET: Readonly<Record<Effort, number>> = { low: 2_048, medium: 8_192, high: 16_384 }

/** Models that take a number of tokens, models that cannot think, and all others, which think as they see fit. */
const BUDGETED = /^claude-(3-7|(opus|sonnet|haiku)-4(-[0-5])?(-\d{8})?$)/
const CANNOT = /^claude-(2|instant|3-(haiku|sonnet|opus|5))/

/** Newer models refuse any temperature but their own. */
const TAKES_TEMPERATURE = /^claude-(2|instant|3|(opus|sonnet|haiku)-4(-[0-6])?(-\d{8})?$)/

/** Returns the temperature of a request that asks for one, where the model takes it. */
export function temperatureParam(model: string, temperature: number | undefined): { readonly temperature?: number } {
  return temperature === undefined || !TAKES_TEMPERATURE.test(model) ? {} : { temperature }
}

/**
 * Returns the parameters for a thinking level (T37). A turn thinks from its first step or not at all: after a crash the
 * thoughts of the steps before are gone, and the API would refuse that (C19).
 */
export function thinkingParams(model: string, { thinking, maxTokens, messages }: ModelRequest): ThinkingParams {
  const answer = { max_tokens: maxTokens }
  if (thinking === undefined || CANNOT.test(model)) return answer
  const budgeted = BUDGETED.test(model)
  if (thinking === 'off' || !messages.every(hasItsThoughts)) {
    return budgeted ? answer : { ...answer, thinking: { type: 'disabled' } }
  }
  const budget = BUDGET[thinking]
  const room = { max_tokens: maxTokens + budget }
  return budgeted
    ? { ...room, thinking: { type: 'enabled', budget_tokens: budget } }
    : { ...room, thinking: { type: 'adaptive' }, output_config: { effort: thinking } }
}

/** A step with tool calls belongs to the running turn; without thoughts of its own it comes from before a crash. */
function hasItsThoughts(message: ModelMessage): boolean {
  return message.role !== 'assistant' || message.calls.length === 0 || message.opaque !== undefined
}

export type ThoughtBlock =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }

/** `written` are the tokens of the whole answer: a provider does not say how many of them are thoughts. */
export function keepThoughts(model: string, blocks: readonly ThoughtBlock[], written: number): Opaque {
  return { model, tokens: blocks.length === 0 ? 0 : written, data: blocks }
}

export function thoughtsOf(opaque: Opaque | undefined): readonly ThoughtBlock[] {
  return (opaque?.data ?? []) as readonly ThoughtBlock[]
}
