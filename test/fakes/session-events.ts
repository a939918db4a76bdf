import { textContent } from '../../src/core/content.ts'
import type { EventDraft, SessionEvent, UserMessageData } from '../../src/core/event.ts'
import type { InboxId, TurnId } from '../../src/core/ids.ts'
import { NO_USAGE } from '../../src/core/model.ts'

/** Builds a session's log by hand: numbers the events and binds them to turns by short names. */
export function eventLog(): { events: SessionEvent[] } & ReturnType<typeof writers> {
  const events: SessionEvent[] = []
  return { events, ...writers(events) }
}

function writers(events: SessionEvent[]) {
  const add = (draft: EventDraft, turn?: string): void => {
    const seq = events.length + 1
    events.push(turn === undefined ? { ...draft, seq, at: seq } : { ...draft, seq, at: seq, turnId: turn as TurnId })
  }
  const usage = { input: 10, output: 1 }
  return {
    add,
    user: (text: string, more: Partial<UserMessageData> = {}) =>
      add({ type: 'user_message', data: userMessage(text, more) }),
    started: (turn: string, taken?: number | readonly string[]) => {
      const which =
        typeof taken === 'number' ? { messages: taken } : taken && { messages: taken.length, rows: taken as InboxId[] }
      add({ type: 'turn_started', data: { traceId: 'tr_1' as never, ...which } }, turn)
    },
    steered: (turn: string) => add({ type: 'turn_steered', data: { messages: 1 } }, turn),
    step: (turn: string, ...callIds: string[]) =>
      add(
        {
          type: 'assistant_step',
          data: { text: '', model: 'm', usage, calls: callIds.map((callId) => ({ callId, tool: 'clock', args: {} })) },
        },
        turn,
      ),
    intent: (turn: string, callId: string) =>
      add({ type: 'tool_call', data: { callId, tool: 'clock', args: {}, class: 'once' } }, turn),
    result: (turn: string, callId: string) =>
      add(
        {
          type: 'tool_result',
          data: { callId, tool: 'clock', content: textContent(`result ${callId}`), isError: false },
        },
        turn,
      ),
    answered: (turn: string, text: string) => {
      add({ type: 'assistant_message', data: { text, model: 'm', usage } }, turn)
      add({ type: 'turn_completed', data: { outcome: 'answered', usage, steps: 1 } }, turn)
    },
    failed: (turn: string) =>
      add(
        { type: 'turn_completed', data: { outcome: 'failed', usage: NO_USAGE, steps: 1, error: 'model_failed' } },
        turn,
      ),
    unasked: (turn: string) =>
      add({ type: 'turn_completed', data: { outcome: 'silent', usage: NO_USAGE, steps: 0, unasked: true } }, turn),
    threadRead: (turn: string, messages: readonly UserMessageData[]) =>
      add({ type: 'thread_read', data: { messages, leftOut: 0 } }, turn),
    compacted: (text: string, { turns, back }: { readonly turns: number; readonly back: number }) =>
      add({ type: 'context_compacted', data: { text, model: 'm', usage, turns, back } }),
    cancelled: (turn: string) => add({ type: 'turn_cancelled', data: { reason: 'stopped' } }, turn),
  }
}

export function userMessage(text: string, more: Partial<UserMessageData> = {}): UserMessageData {
  return {
    text,
    sender: { id: '1', kind: 'user', displayName: 'Ada' },
    owner: false,
    addressed: true,
    triggers: true,
    ...more,
  }
}
