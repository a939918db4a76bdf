import { textContent } from '../../core/content.ts'
import type { SendAnswer } from '../../core/session-tools.ts'
import type { ToolOutput } from '../../core/turn.ts'

/** Returns what another session has answered as the model is shown it. */
export function answerOutput(answer: SendAnswer): ToolOutput {
  if (answer.status !== 'ok') return { content: textContent(JSON.stringify(answer)) }
  const { readAfter, ...shown } = answer
  return {
    ...{ content: textContent(JSON.stringify(shown)), readAfter },
    ...(shown.sessionId === undefined ? {} : { shows: [shown.sessionId] }),
  }
}
