import type { Decision, Dispatch } from '../core/dispatch.ts'
import type { EventDraft, EventType, SessionEvent, SummaryData } from '../core/event.ts'
import type { AccountId, ChannelId, InboxId, MediaId, ScopeKey, SessionId, TurnId } from '../core/ids.ts'
import type { Spending } from '../core/spending.ts'
import type { InboxOutcome } from '../core/turn-end.ts'
import type { AdmissionReader, AdmissionWriter } from './admission-port.ts'
import type { ApprovalReader, ApprovalWriter, StandingRuleReader, StandingRuleWriter } from './approval-port.ts'
import type { BudgetReader, BudgetWriter } from './budget-port.ts'
import type { ChatMoveReader, ChatMoveWriter } from './chat-move-port.ts'
import type { PlacedEvent } from './event-port.ts'
import type { ForgettingReader, ForgettingWriter } from './forget-port.ts'
import type { SessionListReader } from './list-port.ts'
import type {
  CheckpointPlace,
  CheckpointReader,
  CheckpointWriter,
  MemoryReader,
  MemoryWriter,
  SearchReader,
  SearchWriter,
} from './memory-port.ts'
import type { OutboxReader, OutboxWriter } from './outbox-port.ts'
import type { PeopleReader, PeopleWriter } from './people-port.ts'
import type { QuestionReader, QuestionWriter } from './question-port.ts'
import type { RestorationReader, RestorationWriter } from './restoration-port.ts'
import type { ScheduleReader, ScheduleWriter } from './schedule-port.ts'
import type { SessionReader, SessionWriter } from './session-port.ts'
import type {
  AgeingReader,
  AgeingWriter,
  AliasReader,
  AliasWriter,
  AuthorReader,
  AuthorWriter,
  CardReader,
  CardWriter,
  ChannelStateReader,
  ChannelStateWriter,
  KeyedRequestReader,
  KeyedRequestWriter,
  MediaUseReader,
  MuteReader,
  MuteWriter,
  NoticeReader,
  NoticeWriter,
  ParticipantReader,
  ParticipantWriter,
  TokenReader,
  TokenWriter,
  TranscriptReader,
  TranscriptWriter,
} from './small-port.ts'
import type { TurnReader, TurnWriter } from './turn-port.ts'

/**
 * The store port. Reads see committed data. Writes exist only inside `write`: transactions that arrive together are
 * committed together; the promise resolves after the COMMIT. A body awaits nothing but its own `tx`. A throwing body
 * undoes only its own writes and rejects with what it threw.
 *
 * A body may run twice, after all it did the first time was undone: memory is changed by `afterCommit` alone, or is
 * restored by `afterUndo`.
 */
export interface Store {
  readonly read: StoreReader
  write<T>(body: (tx: StoreWriter) => Promise<T>): Promise<T>
  /** Raised by one at each open; a row claimed under an older epoch belongs to a dead process. */
  readonly epoch: number
  /**
   * Gives pages that deleted rows left free back to the file system, some at a time, and resolves with the number that
   * is still free. A store that cannot uses them again for new rows, and resolves with 0.
   */
  shrink(): Promise<number>
  /**
   * Moves what was written lately to its place and empties the log of it, if that has grown and next to nothing was
   * written since the last call; resolves with whether it was emptied. A store without such a log resolves with false.
   */
  emptyLog(): Promise<boolean>
  /**
   * Leaves no byte of what was deleted before in its files: moves what was written to its place, empties the log, and
   * overwrites what holds no row. Resolves with false if somebody who reads kept the log from being emptied.
   */
  scrub(): Promise<boolean>
  /** Idempotent; waits for writes under way. */
  close(): Promise<void>
}

/** Whoever is notified of what was committed, before the promise of its `write` resolves. */
export interface StoreWatch {
  /** Called with events that were appended together; the first has the number `seq`. */
  appended(sessionId: SessionId, seq: number, events: readonly EventToAppend[]): void
  deleted(sessionId: SessionId): void
  /** Called when a scope leads to another session than before, or to its first. */
  pointed(scopeKey: ScopeKey, sessionId: SessionId): void
  /** Called when rows of events were taken away: no event that is left has a higher place. */
  taken(lastPlace: number): void
}

/** Called after each commit of events that name files, with each file as often as they do. */
export type FilesNamed = (ids: readonly MediaId[]) => void

export interface StoreReader {
  readonly ageing: AgeingReader
  readonly approvals: ApprovalReader
  readonly budgets: BudgetReader
  readonly cards: CardReader
  readonly questions: QuestionReader
  readonly standingRules: StandingRuleReader
  readonly sessions: SessionReader
  readonly lists: SessionListReader
  readonly aliases: AliasReader
  readonly chatMoves: ChatMoveReader
  readonly events: EventReader
  readonly forgetting: ForgettingReader
  readonly media: MediaUseReader
  readonly inbox: InboxReader
  readonly turns: TurnReader
  readonly outbox: OutboxReader
  readonly people: PeopleReader
  readonly admissions: AdmissionReader
  readonly channelState: ChannelStateReader
  readonly notices: NoticeReader
  readonly schedules: ScheduleReader
  readonly mutes: MuteReader
  readonly participants: ParticipantReader
  readonly authors: AuthorReader
  readonly tokens: TokenReader
  readonly keyedRequests: KeyedRequestReader
  readonly transcripts: TranscriptReader
  readonly restorations: RestorationReader
  readonly memory: MemoryReader
  readonly checkpoints: CheckpointReader
  readonly search: SearchReader
}

export interface StoreWriter {
  readonly ageing: AgeingReader & AgeingWriter
  readonly approvals: ApprovalReader & ApprovalWriter
  readonly budgets: BudgetReader & BudgetWriter
  readonly cards: CardReader & CardWriter
  readonly questions: QuestionReader & QuestionWriter
  readonly standingRules: StandingRuleReader & StandingRuleWriter
  readonly sessions: SessionReader & SessionWriter
  readonly aliases: AliasReader & AliasWriter
  readonly chatMoves: ChatMoveReader & ChatMoveWriter
  readonly events: EventReader & EventWriter
  readonly forgetting: ForgettingReader & ForgettingWriter
  readonly inbox: InboxReader & InboxWriter
  readonly turns: TurnReader & TurnWriter
  readonly outbox: OutboxReader & OutboxWriter
  readonly people: PeopleReader & PeopleWriter
  readonly admissions: AdmissionReader & AdmissionWriter
  readonly channelState: ChannelStateReader & ChannelStateWriter
  readonly notices: NoticeReader & NoticeWriter
  readonly schedules: ScheduleReader & ScheduleWriter
  readonly mutes: MuteReader & MuteWriter
  readonly participants: ParticipantReader & ParticipantWriter
  readonly authors: AuthorReader & AuthorWriter
  readonly tokens: TokenReader & TokenWriter
  readonly keyedRequests: KeyedRequestReader & KeyedRequestWriter
  readonly transcripts: TranscriptReader & TranscriptWriter
  readonly restorations: RestorationReader & RestorationWriter
  readonly memory: MemoryReader & MemoryWriter
  readonly checkpoints: CheckpointReader & CheckpointWriter
  readonly search: SearchReader & SearchWriter
  /**
   * Updates what memory holds of what was written: once it is committed, before `write` resolves, and never if it is
   * undone.
   */
  afterCommit(tell: () => void): void
  /**
   * Takes back what memory says ahead of the commit: once it is undone, before the next transaction runs. It saves the
   * turn queue and the places of strangers a read for each message (decision 0017).
   */
  afterUndo(takeBack: () => void): void
}

// events -----------------------------------------------------------------------------------------------------------

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

// inbox ------------------------------------------------------------------------------------------------------------

/** `waiting`: owes a turn or a command. `claimed`: bound to a turn that has not ended. `done`: has its outcome. */
export type InboxState = 'waiting' | 'claimed' | 'done'

export interface InboxRow {
  readonly id: InboxId
  readonly dispatch: Dispatch
  readonly decision: Decision
  readonly sessionId?: SessionId
  readonly turnId?: TurnId
  readonly state: InboxState
  readonly outcome?: InboxOutcome
}

export interface InboxReader {
  get(id: InboxId): Promise<InboxRow | undefined>
  /** Rows that wait for a turn of this session, oldest first. */
  waiting(sessionId: SessionId, limit: number): Promise<readonly InboxRow[]>
  /** Returns the sessions with waiting rows, oldest first: what the start has to continue. */
  sessionsWaiting(): Promise<readonly SessionId[]>
  /** Rows that wait for a turn, in all sessions; commands wait for none. */
  waitingCount(): Promise<number>
  /** Waiting rows that are commands, oldest first. */
  commandsWaiting(): Promise<readonly InboxRow[]>
  ofTurn(turnId: TurnId): Promise<readonly InboxRow[]>
  /** The message an account was given under this event key. */
  byKey(channel: ChannelId, account: AccountId, eventKey: string): Promise<InboxRow | undefined>
  /** By inbox id, trace id or platform message id, newest first, at most 20 (`parley why`). */
  find(name: string): Promise<readonly InboxRow[]>
  /**
   * By the platform's message id, in a chat or in any of a channel, newest first, at most 200: each chat has numbers of
   * its own.
   */
  ofMessage(channel: ChannelId, messageId: string, chat?: string): Promise<readonly InboxRow[]>
  /** Returns what was not answered because the database was put back, newest first. */
  unanswered(limit: number): Promise<readonly InboxRow[]>
  /** The newest first, after so many that are left out. */
  recent(limit: number, offset?: number): Promise<readonly InboxRow[]>
  /**
   * Returns the texts of one platform message that wait for a turn, in any session: itself, and edits that are
   * answered.
   */
  waitingTexts(channel: ChannelId, messageId: string): Promise<readonly InboxRow[]>
  /** Every row of one platform message in this session, its edits included. */
  inSession(sessionId: SessionId, messageId: string): Promise<readonly InboxRow[]>
}

export type NewInboxRow = InboxRow

export interface InboxWriter {
  /** False when `(channel, account, eventKey)` is already there: a repeated delivery, nothing was written (S43). */
  add(row: NewInboxRow): Promise<boolean>
  /** Binds waiting rows to a turn. Returns how many were still waiting. */
  claim(ids: readonly InboxId[], turnId: TurnId): Promise<number>
  /** Ends one row that never had a turn. */
  settle(id: InboxId, outcome: InboxOutcome): Promise<void>
  /** Ends every row of a session that still waits, and returns how many (`/stop`). */
  settleWaiting(sessionId: SessionId, outcome: InboxOutcome): Promise<number>
  /**
   * Has the messages of a turn that has ended wait for another one, in this session. Returns how many there are
   * (`/retry`).
   */
  reopen(turnId: TurnId, sessionId: SessionId): Promise<number>
  /** Puts a dispatch in the place of the stored one: the same without its text (S41). */
  replaceDispatch(id: InboxId, dispatch: Dispatch): Promise<void>
}
