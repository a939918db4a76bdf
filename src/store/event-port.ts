import type { EventDraft, EventType, SessionEvent, SummaryData } from '../core/event.ts'
import type { SessionId, TurnId } from '../core/ids.ts'
import type { Spending } from '../core/spending.ts'
import type { CheckpointPlace } from './memory-port.ts'

/** An event of any session, at its place in the order in which all events were stored. */
export interface PlacedEvent {
  readonly place: number
  readonly session: SessionId
  readonly event: SessionEvent
}

/** The number of a summary's event, and how far before it the turns end that it stands for. */
export type SummaryPlace = Pick<SummaryData, 'back'> & { readonly seq: number }

export interface SessionSpending extends Spending {
  /** The turns that reached a model (C12). */
  readonly reached: number
}

export interface EventReader {
  /**
   * Returns events of all sessions behind a place, in the order in which they were stored, at most `limit`. Places are
   * this file's own and last until rows are taken away (`StoreWatch.taken`) or the file is written anew.
   */
  stored(after: number, limit: number): Promise<readonly PlacedEvent[]>
  /** Returns the newest event of all sessions. */
  newest(): Promise<PlacedEvent | undefined>
  /** Returns one event with its place; undefined if there is none. */
  placed(sessionId: SessionId, seq: number): Promise<PlacedEvent | undefined>
  /** In order, `seq` greater than `after`, at most `limit`. */
  since(sessionId: SessionId, after: number, limit: number): Promise<readonly SessionEvent[]>
  /** The newest `limit` events, in order. */
  latest(sessionId: SessionId, limit: number): Promise<readonly SessionEvent[]>
  /** Returns how many messages of people and of the assistant stand before an event. */
  messagesBefore(sessionId: SessionId, seq: number): Promise<number>
  /** Returns the place of the newest summary, if there is one. */
  latestSummary(sessionId: SessionId): Promise<SummaryPlace | undefined>
  /** Returns the newest checkpoint, if there is one. */
  latestCheckpoint(sessionId: SessionId): Promise<CheckpointPlace | undefined>
  /** Returns the cost of the turns, summaries and checkpoints in this log. */
  spent(sessionId: SessionId): Promise<SessionSpending>
  /** The newest `limit` events of these types, in order. */
  latestOf(
    sessionId: SessionId,
    types: readonly [EventType, ...EventType[]],
    limit: number,
  ): Promise<readonly SessionEvent[]>
}

export interface EventWriter {
  /**
   * Appends in order and returns the first sequence number given. The same statement keeps the session row's counters,
   * preview, description and activity in step (S13, S14). Unknown session: `not_found`.
   */
  append(sessionId: SessionId, at: number, drafts: readonly EventToAppend[]): Promise<number>
  /**
   * Copies what happened behind another session's events, times kept, counts too (K27). Its turns have ids of their own
   * in the copy, the same each time. Unknown: `not_found`.
   */
  copy(from: SessionId, to: SessionId): Promise<number>
  /** Only a deleted session loses events: those up to this number (S41). */
  remove(sessionId: SessionId, upTo: number): Promise<void>
}

export type EventToAppend = EventDraft & { readonly turnId?: TurnId; readonly forgotten?: true }
