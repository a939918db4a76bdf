import { textContent } from '../core/content.ts'
import { cutText } from '../core/cut-text.ts'
import type { ToolResultData } from '../core/event.ts'
import type { ModelToolCall } from '../core/model.ts'
import type { OpenStep, Tool } from '../core/turn.ts'

/** The plan for one tool call of a step, once a person has agreed where that is needed. */
export type CallPlan =
  /** Its result is on record already. */
  | { readonly kind: 'kept'; readonly result: ToolResultData }
  /** It is answered without running anything. */
  | { readonly kind: 'answered'; readonly result: ToolResultData }
  /** It runs. `intended`: its intent is on record already. */
  | { readonly kind: 'run'; readonly call: ModelToolCall; readonly tool: Tool; readonly intended: boolean }

interface PlanFacts {
  readonly tools: readonly Tool[]
  /** The rest of this step that a crash left. */
  readonly open?: OpenStep | undefined
  /** Why no further call may start. */
  readonly refusal?: string | undefined
}

/** The longest name that providers take. */
const LONGEST_NAME = 64
/** Text of a `once` call that a crash interrupted (F-A07). */
export const INTERRUPTED = 'interrupted, outcome unknown, check before repeating'

/**
 * Decides each call of a step: results on record are kept, a `once` tool that may have run is never run again, pure and
 * keyed ones are. Unknown tools and unusable arguments are answered so that the model can correct itself.
 */
export function planCalls(calls: readonly ModelToolCall[], facts: PlanFacts): CallPlan[] {
  return calls.map((call) => planCall(call, facts))
}

function planCall(call: ModelToolCall, { tools, open, refusal }: PlanFacts): CallPlan {
  const kept = open?.results.find((result) => result.callId === call.id)
  if (kept) return { kind: 'kept', result: kept }
  const intended = open?.intended.includes(call.id) ?? false
  const tool = tools.find(({ spec }) => spec.name === call.name)
  // A tool that meanwhile left the configuration may have been a `once` one.
  if (intended && (!tool || tool.class === 'once')) return answered(call, INTERRUPTED)
  if (refusal !== undefined) return answered(call, notRun(refusal))
  if (!tool) return answered(call, unknownTool(call.name, tools))
  const fault = argumentFault(call.args, tool)
  return fault === undefined ? { kind: 'run', call, tool, intended } : answered(call, fault)
}

/** Returns what a call is answered with that is not made. */
export function notRun(reason: string): string {
  return `not run: ${reason}`
}

export function errorResult(call: ModelToolCall, text: string): ToolResultData {
  return { callId: call.id, tool: call.name, content: textContent(text), isError: true }
}

function answered(call: ModelToolCall, text: string): CallPlan {
  return { kind: 'answered', result: errorResult(call, text) }
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const known = tools.map(({ spec }) => spec.name).join(', ')
  return `There is no tool "${cutText(name, LONGEST_NAME)}". ${known === '' ? 'You have no tools.' : `Known tools: ${known}.`}`
}

/** The part of the schema every call is held to; a tool checks the rest itself. */
function argumentFault(args: unknown, { spec }: Tool): string | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return `The arguments of ${spec.name} must be a JSON object.`
  }
  const required = Array.isArray(spec.parameters.required) ? spec.parameters.required : []
  const missing = required.filter((name) => !Object.hasOwn(args, String(name)))
  return missing.length === 0 ? undefined : `Missing arguments of ${spec.name}: ${missing.join(', ')}.`
}
