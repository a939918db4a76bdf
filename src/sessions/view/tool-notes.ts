import { inWords } from '../../core/content-words.ts'
import { cutText } from '../../core/cut-text.ts'
import type { ModelMessage, ModelToolCall, ModelToolResult } from '../../core/model.ts'
import type { VerboseLevel } from '../../core/session.ts'

/** The most characters of arguments and of a result that are shown. */
const SHOWN = 200

/**
 * Returns the tool steps of a turn as lines for the chat (T37): with `on` the names, with `full` also arguments and the
 * beginning of each result. Undefined if there is nothing to show.
 */
export function toolNotes(steps: readonly ModelMessage[], level: VerboseLevel): string | undefined {
  if (level === 'off') return undefined
  const results = steps.flatMap((step) => (step.role === 'tool' ? step.results : []))
  const calls = steps.flatMap((step) => (step.role === 'assistant' ? step.calls : []))
  const lines = calls.map((call) =>
    noteOf(
      call,
      results.find(({ id }) => id === call.id),
      level,
    ),
  )
  return lines.length === 0 ? undefined : lines.join('\n')
}

function noteOf({ name, args }: ModelToolCall, result: ModelToolResult | undefined, level: VerboseLevel): string {
  const failed = result?.isError ? ', which failed' : ''
  if (level === 'on') return `> used ${code(name)}${failed}`
  const outcome = result === undefined ? '' : `: ${code(inWords(result.content))}`
  return `> used ${code(name)} with ${code(JSON.stringify(args) ?? '')}${failed}${outcome}`
}

/** Returns one line of code that no markup in it can end. */
function code(text: string): string {
  const line = text.replace(/[`\s\p{Cc}]+/gu, ' ').trim()
  const cut = line.length <= SHOWN ? line : `${cutText(line, SHOWN)}…`
  return `\`${cut === '' ? ' ' : cut}\``
}
