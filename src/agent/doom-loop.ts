import type { ModelMessage, ModelToolCall } from '../core/model.ts'

/** Identical consecutive calls that count as going in circles. */
const LIMIT = 3

/**
 * Whether a turn goes in circles (R16, R17). `warn`: its newest step is the first that made three identical calls in a
 * row. `stop`: it did so again after the warning. Looks at all tool calls of the request, which are this turn's alone
 * because earlier turns keep none (C27). Stateless, hence the same after a crash.
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

/** Adds a call to what was seen and says whether it is one of three alike. */
function repeats(seen: string[], call: ModelToolCall): boolean {
  seen.push(JSON.stringify([call.name, call.args]))
  const tail = seen.slice(-LIMIT)
  return tail.length === LIMIT && new Set(tail).size === 1
}

export function loopWarning(toolName: string): string {
  return (
    `[notice] You have called ${toolName} three times in a row with the same arguments. ` +
    'Do not call it like that again: use what you have, try something else, or answer now.'
  )
}
