import { textOf } from '../core/content.ts'
import type { ModelMessage, ModelToolCall, ModelToolResult } from '../core/model.ts'
import { notRun } from './plan-calls.ts'

/** Identical consecutive calls that count as going in circles. */
const LIMIT = 3

/**
 * Returns whether a turn goes in circles. `warn`: its newest step is the first that made three identical calls in a
 * row. `stop`: it did so again after the warning. All tool calls of the request are looked at: they belong to this
 * turn, because earlier turns keep none. There is no state, so the answer is the same after a crash.
 */
export function watchLoop(messages: readonly ModelMessage[]): 'fine' | 'warn' | 'stop' {
  const seen: string[] = []
  let hits = 0
  let newest = false
  for (const message of messages) {
    if (message.role !== 'assistant' || message.calls.length === 0) continue
    newest = message.calls.map((call) => repeats(seen, call)).includes(true)
    if (newest) hits++
  }
  if (hits > 1) return 'stop'
  return newest ? 'warn' : 'fine'
}

/** Adds a call to those seen and returns whether the last three are alike, in whatever order their arguments came. */
function repeats(seen: string[], call: ModelToolCall): boolean {
  seen.push(JSON.stringify([call.name, call.args], sortKeys))
  const tail = seen.slice(-LIMIT)
  return tail.length === LIMIT && new Set(tail).size === 1
}

/**
 * Returns an object with its keys in one order, anything else as it is: the order of an array is part of what it says.
 */
function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function loopWarning(toolName: string): string {
  return (
    `[notice] You have called ${toolName} three times in a row with the same arguments. ` +
    'Do not call it like that again: use what you have, try something else, or answer now.'
  )
}

/** Steps in a row that were cut at the limit of an answer; the turn ends with the last. */
export const MOST_CUTS = 3
const CUT = 'the answer was cut'

/** Returns why no call is made of an answer that was cut at so many tokens, in words for the model. */
export function cutRefusal(tokens: number): string {
  return `${CUT} at its limit of ${tokens} tokens within its calls, so that none of them was made. Go on in smaller steps: shorter arguments, and one call an answer.`
}

/** Returns how many of the newest steps were cut, by their results: there is no state, as in `watchLoop`. */
export function cutsInARow(messages: readonly ModelMessage[]): number {
  const steps = messages.filter((message) => message.role === 'tool')
  return steps.length - 1 - steps.findLastIndex(({ results }) => !results.every(isCut))
}

function isCut({ isError, content }: ModelToolResult): boolean {
  return isError && textOf(content).startsWith(notRun(CUT))
}
