import { inWords } from '../../core/content-words.ts'
import type { SessionEvent } from '../../core/event.ts'
import { labelledWords, speakerName } from '../../core/label.ts'
import type { HistoryMessage } from '../../core/session-tools.ts'
import { stripSilence } from '../../core/silence.ts'

/**
 * Returns an event as a message of the history, or undefined if it is none. A reply that was only a silence marker is
 * none; a stored tool result is `toolResult`, shown only if `tools` asks for it (T13, T38).
 */
export function messageOf(event: SessionEvent, tools: boolean): HistoryMessage | undefined {
  const timestamp = event.at
  switch (event.type) {
    case 'user_message': {
      return { role: 'user', text: labelledWords(event.data), timestamp, from: speakerName(event.data) }
    }
    case 'assistant_message':
    case 'assistant_posted':
    case 'assistant_step': {
      const { text } = stripSilence(event.data.text)
      return text.trim() === '' ? undefined : { role: 'assistant', text, timestamp }
    }
    case 'tool_result': {
      const { content, tool, isError } = event.data
      const failed = isError ? { isError } : {}
      return tools ? { role: 'toolResult', text: inWords(content), timestamp, tool, ...failed } : undefined
    }
    default:
      return undefined
  }
}
