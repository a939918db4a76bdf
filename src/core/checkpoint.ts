import type { EventDraft } from './event.ts'
import type { MessageName } from './message.ts'
import type { Usage } from './model.ts'

/** The condition that started a checkpoint (S35). A further one needs a migration: the table of owed ones checks it. */
export type CheckpointReason = 'manual' | 'new_session' | 'turn_limit' | 'idle'
export const CHECKPOINT_REASONS: readonly CheckpointReason[] = ['manual', 'new_session', 'turn_limit', 'idle']

/** A checkpoint that succeeded. The next one covers the events after those that it covers (S34). */
export interface CheckpointData {
  readonly reason: CheckpointReason
  readonly model: string
  readonly usage: Usage
  /** The last event it covers, as the distance from this event: it holds as well in a copy of the log. */
  readonly back: number
  /** The numbers of the entries it wrote, changed and removed. */
  readonly entries: readonly number[]
  /** The working memory of the session from here on; absent: it has none. */
  readonly working?: string
  /** The messages that the working memory is made of: it is gone with any of them. */
  readonly sources?: readonly MessageName[]
}

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
