import type { EventDraft } from './event.ts'
import { copiedTurnId, type SessionId, type TurnId } from './ids.ts'

/**
 * Returns an event as it stands in the log of a session that has it from another log, or from a file: its turns have
 * ids of their own there (decision 0040). A turn is of one log, so that whatever is done by its id is done there alone.
 */
export function withCopiedTurns<Event extends EventDraft & { readonly turnId?: TurnId }>(
  event: Event,
  session: SessionId,
): Event {
  const { turnId } = event
  const moved = turnId === undefined ? event : { ...event, turnId: copiedTurnId(turnId, session) }
  if (moved.type !== 'exchange_taken_back') return moved
  return { ...moved, data: { ...moved.data, turn: copiedTurnId(moved.data.turn, session) } }
}
