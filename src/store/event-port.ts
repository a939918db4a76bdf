import type { SessionEvent } from '../core/event.ts'
import type { SessionId } from '../core/ids.ts'

/** An event of any session, at its place in the order in which all events were stored. */
export interface PlacedEvent {
  readonly place: number
  readonly session: SessionId
  readonly event: SessionEvent
}
