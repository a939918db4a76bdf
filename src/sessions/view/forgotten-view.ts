import type { EventType, SessionEvent } from '../../core/event.ts'

/** Returns true for events of which nothing is in a view once they are emptied; older summaries stand again. */
export function leavesNothing(type: EventType): boolean {
  return NOTHING.has(type)
}

const NOTHING: ReadonlySet<EventType> = new Set([
  ...(['user_message', 'message_edited', 'assistant_message', 'assistant_posted', 'delivery_failed'] as const),
  ...(['delivery_retried', 'context_compacted'] as const),
])

/** Returns true for the end of a turn that leaves nothing, and whose messages are context of the next one. */
export function isUnasked({ type, data, forgotten }: Pick<SessionEvent, 'type' | 'data' | 'forgotten'>): boolean {
  return forgotten === true || (type === 'turn_completed' && 'unasked' in data)
}
