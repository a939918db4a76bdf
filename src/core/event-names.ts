import type { EventDraft, EventType } from './event.ts'

/**
 * The name by which each stored kind of event is known outside: in the history, on live streams and in the lines of an
 * export. Those of the contract of sessions, about a session and its turns, have the prefix `session:` (C2, C5, C17);
 * every other kind has one name. Bundles keep the stored names, for a store reads them.
 */
const EVENT_NAMES = {
  session_started: 'session:started',
  agent_updated: 'session:agent_updated',
  user_message: 'user_message',
  message_edited: 'message_edited',
  message_deleted: 'message_deleted',
  turn_started: 'session:turn_started',
  turn_resumed: 'session:turn_resumed',
  turn_steered: 'session:turn_steered',
  thread_read: 'thread_read',
  files_read: 'files_read',
  messages_dropped: 'messages_dropped',
  assistant_step: 'assistant_step',
  tool_call: 'tool_call',
  tool_result: 'tool_result',
  approval_requested: 'approval_requested',
  approval_decided: 'approval_decided',
  assistant_message: 'assistant_message',
  turn_completed: 'session:turn_completed',
  turn_cancelled: 'session:turn_cancelled',
  assistant_posted: 'assistant_posted',
  delivery_failed: 'delivery_failed',
  delivery_retried: 'delivery_retried',
  history_taken_over: 'history_taken_over',
  history_boundary: 'history_boundary',
  context_compacted: 'context_compacted',
  exchange_taken_back: 'exchange_taken_back',
  session_exported: 'session:exported',
  checkpoint_written: 'checkpoint_written',
  words_forgotten: 'words_forgotten',
} as const satisfies Record<EventType, string>

export type EventName = (typeof EVENT_NAMES)[EventType]

/** Every public name, for schemas that list them. */
export const PUBLIC_EVENT_NAMES: readonly EventName[] = Object.values(EVENT_NAMES)

/** The names of the contract for those that have another one here. */
const CONTRACT_NAMES: Readonly<Partial<Record<string, string>>> = {
  'session:turn_cancelled': 'session:cancelled',
  'session:turn_steered': 'agent:directive_injected',
  context_compacted: 'agent:context_compacted',
  history_boundary: 'agent:context_cleared',
} satisfies Partial<Record<EventName, string>>

/** Returns the name of an event for readers of a live stream who ask by the names of the contract. */
export function contractName(name: string): string {
  return CONTRACT_NAMES[name] ?? name
}

/** Returns the public name of an event. */
export function eventName({ type }: Pick<EventDraft, 'type'>): EventName {
  return EVENT_NAMES[type]
}
