import type { Address } from '../core/address.ts'
import type { ChatMove, TimedMove } from '../core/chat-move.ts'
import type { Decision, Dispatch, ReplyTarget } from '../core/dispatch.ts'
import type { ChannelId, DeliveryId, InboxId, ScheduleId, ScopeKey, SessionId, TurnId } from '../core/ids.ts'
import type { ScheduleDefinition } from '../core/schedule.ts'
import type { Session } from '../core/session.ts'

/** Chats that got a new id: a part of the store port, apart only for its size. */
export interface ChatMoveReader {
  all(): Promise<readonly TimedMove[]>
  /** Returns when a chat got this id, in ms since the epoch; undefined if it always had it. */
  movedAt(channel: ChannelId, to: string): Promise<number | undefined>
  /** Returns the id that a chat has now; undefined for one that has not moved. */
  movedTo(channel: ChannelId, from: string): Promise<string | undefined>
}

/** Moves the rows of a chat; all of it belongs in the transaction that adds the move. */
export interface ChatMoveWriter {
  /** False when it is there already: nothing was written, and nothing is left to move. */
  add(move: ChatMove, at: number): Promise<boolean>
  /** Sessions of every account and agent whose scope lies in the old chat, inactive ones too, oldest first. */
  sessionsIn(move: ChatMove): Promise<readonly SessionId[]>
  /** Gives a session another scope with its keys, and other metadata. Its scope key keeps pointing where it did. */
  rekeySession(session: Pick<Session, 'id' | 'scope' | 'scopeKey' | 'displayKey' | 'metadata'>): Promise<void>
  /** Removes the scope key `from`, and points `to` at the session. */
  repoint(from: ScopeKey, to: ScopeKey, session: SessionId): Promise<void>
  rewriteInbox(inbox: InboxId, dispatch: Dispatch, decision: Decision): Promise<void>
  rewriteReply(turn: TurnId, reply: ReplyTarget): Promise<void>
  /** It names no message any more to which it is a reply. */
  rewriteDelivery(delivery: DeliveryId, address: Address): Promise<void>
  /** Rewrites the definition alone: slots that were decided stay decided. */
  rewriteSchedule(schedule: ScheduleId, definition: ScheduleDefinition): Promise<void>
}
