import type { MediaId, ScopeKey, SessionId } from '../core/ids.ts'
import type { AdmissionReader, AdmissionWriter } from './admission-port.ts'
import type { ApprovalReader, ApprovalWriter, StandingRuleReader, StandingRuleWriter } from './approval-port.ts'
import type { BudgetReader, BudgetWriter } from './budget-port.ts'
import type { ChatMoveReader, ChatMoveWriter } from './chat-move-port.ts'
import type { EventReader, EventToAppend, EventWriter } from './event-port.ts'
import type { ForgettingReader, ForgettingWriter } from './forget-port.ts'
import type { InboxReader, InboxWriter } from './inbox-port.ts'
import type { SessionListReader } from './list-port.ts'
import type {
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
  readonly notices: NoticeWriter
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
