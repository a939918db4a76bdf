import type { ChatSchedule } from '../../core/chat-schedules.ts'
import { textContent } from '../../core/content.ts'
import type { ToolOutput } from '../../core/turn.ts'

/** Returns what a model is shown of schedules: their texts are the words of whoever had a part in them. */
export function shownSchedules(
  all: readonly ChatSchedule[],
  inWords: (rows: readonly Omit<ChatSchedule, 'authors'>[]) => unknown,
): ToolOutput {
  const rows = all.map(({ authors: _, ...row }) => row)
  const authors = new Set(all.flatMap((one) => one.authors))
  return { content: textContent(JSON.stringify(inWords(rows))), authors: [...authors] }
}
