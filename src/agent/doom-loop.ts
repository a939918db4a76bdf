import type { ModelMessage, ModelToolCall } from '../core/model.ts'

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
