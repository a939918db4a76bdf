import type { EventDraft } from './event.ts'
import type { MessageName } from './message.ts'

/** The events with which a working memory may end; one that was put aside with its history ends with it. */
export const WORKING_ENDS = ['message_deleted', 'exchange_taken_back', 'history_boundary'] as const

interface MadeOf {
  readonly sources?: readonly MessageName[] | undefined
}

/** Returns true if a working memory may have words of a message; of one that is made of too many, nobody knows. */
export function isMadeOf({ sources }: MadeOf, { messageId, chat }: MessageName): boolean {
  return sources?.some((source) => source.messageId === messageId && source.chat === chat) ?? true
}

/** Returns true if a working memory has ended with a later event of its session. */
export function endsWorking(working: MadeOf, event: EventDraft): boolean {
  switch (event.type) {
    case 'message_deleted':
      return isMadeOf(working, event.data)
    case 'exchange_taken_back':
      return event.data.messages.some((name) => isMadeOf(working, name))
    case 'history_boundary':
      return true
    default:
      return false
  }
}
