import type { ChatType } from '../../core/address.ts'
import type { EventType, SessionEvent } from '../../core/event.ts'
import type { MessageName } from '../../core/message.ts'
import type { ModelMessage } from '../../core/model.ts'
import { type History, saidByUser, sourceOf } from './history-view.ts'
import { names, type ReceivedMessage, redact } from './received.ts'
import type { RunningTurn } from './running-turn-view.ts'
import { shown } from './said-content.ts'

interface Shown extends History {
  readonly pending: readonly ReceivedMessage[]
  readonly running: RunningTurn | undefined
}

/** Returns true if the message is in a turn that is shown or can be, or waits for one. */
export function isAmong({ history, hidden, pending, running }: Shown, message: MessageName): boolean {
  const turns = [...hidden, ...history, ...(running?.steps ?? [])].map((said) => sourceOf(said)?.received ?? [])
  return [...turns, pending, running?.received ?? []].some((received) => names(received, message))
}

/** Returns a text of the model's view without a deleted message. */
export function withoutDeleted(said: ModelMessage, deleted: MessageName, chat: ChatType): ModelMessage {
  const source = sourceOf(said)
  if (!source?.received) return said
  const received = redact(source.received, deleted)
  if (received === source.received) return said
  const left = { ...source, received }
  return saidByUser(shown(left, chat), left)
}

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
