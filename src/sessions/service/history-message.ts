import { inWords } from '../../core/content-words.ts'
import type { SessionEvent } from '../../core/event.ts'
import { speakerName } from '../../core/label.ts'
import type { HistoryMessage } from '../../core/session-tools.ts'
import { stripSilence } from '../../core/silence.ts'
import { saidText } from '../view/event-text.ts'
import { SUMMARY_LABEL } from '../view/summary-view.ts'

/**
 * Returns the messages of the history that an event is, mostly one or none. A reply that was only a silence marker is
 * none; a stored tool result is `toolResult`, shown only if `tools` asks for it (T13, T38). A summary is the two
 * messages that the model is shown for it, both marked (R21).
 */
export function messagesOf(event: SessionEvent, tools: boolean): readonly HistoryMessage[] {
  if (event.type === 'context_compacted') {
    const marked = { timestamp: event.at, summary: true } as const
    return [
      { role: 'user', text: SUMMARY_LABEL, ...marked },
      { role: 'assistant', text: event.data.text, ...marked },
    ]
  }
  const message = messageOf(event, tools)
  return message === undefined ? [] : [message]
}

function messageOf(event: SessionEvent, tools: boolean): HistoryMessage | undefined {
  const timestamp = event.at
  switch (event.type) {
    case 'user_message': {
      return { role: 'user', text: saidText(event.data), timestamp, from: speakerName(event.data) }
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
