import type { Address } from '../core/address.ts'
import type { Decision, Dispatch } from '../core/dispatch.ts'
import type { EventParts, ForgetCounts, Forgetting, LeavingWords } from '../core/forgetting.ts'
import type { InboxId, MediaId, SessionId, SourceId, TraceId, TurnId } from '../core/ids.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type { InboxOutcome } from '../core/turn-end.ts'
import type { MessageRef } from './memory-port.ts'

/** Forgetting and retention: a part of the store port, apart only for its size. */
export interface ReceivedRow {
  /** Rises with each row. */
  readonly no: number
  readonly id: InboxId
  readonly sessionId?: SessionId
  readonly turnId?: TurnId
  readonly state: 'waiting' | 'claimed' | 'done'
  readonly outcome?: InboxOutcome
  readonly dispatch: Dispatch
  readonly decision: Decision
}

export interface SentRow {
  readonly no: number
  readonly source: SourceId
  readonly sessionId?: SessionId
  readonly traceId: TraceId
  readonly address: Address
  /** Without the words of somebody that it quotes. */
  readonly text: string
  readonly media?: MediaId
  /** The id that the platform gave it. */
  readonly messageId?: string
  /** Nothing of it is to be sent any more. */
  readonly ended: boolean
  /** When it was planned, ms since the epoch. */
  readonly at: number
  /** When it was last begun to be sent, ms since the epoch. */
  readonly startedAt?: number
}

/** A rule of retention that was reported: what it removes is removed from `startsAt` on. */
export interface RetentionMark {
  readonly rule: string
  readonly days: number
  readonly reportedAt: number
  readonly startsAt: number
  /** The time of the last look at it; absent: there was none since this is noted. */
  readonly seenAt?: number
}

export interface ForgettingReader {
  get(id: string): Promise<Forgetting | undefined>
  /** Those that a crash or a stop interrupted, oldest first. */
  open(): Promise<readonly Forgetting[]>
  /** Returns true if a request waits for the end of this turn: what it was shown is forgotten. */
  isForgetting(turn: TurnId): Promise<boolean>
  /** Returns true for a message or a text of ours that a request takes out, by now or once a turn has ended. */
  isMeant(what: InboxId | SourceId): Promise<boolean>
  /**
   * Returns what of a session requests empty once a turn of it has ended, or of turns alone that have: whoever reads
   * the session leaves it out.
   */
  leaving(session: SessionId, which?: 'ended'): Promise<LeavingWords>
  /** Returns how often words were taken out of sessions so far: by a request, an age limit, `/undo` or a deletion. */
  removals(): Promise<number>
  /**
   * Returns true if words of one of these sessions were taken out since, absent: of any. Whoever reads words and
   * commits later what is made of them notes `removals` before the reading, and asks this in the transaction of the
   * commit.
   */
  hasRemovedSince(removals: number, sessions?: readonly SessionId[]): Promise<boolean>
  /** The newest first. */
  recent(limit: number): Promise<readonly Forgetting[]>
  /** Everything received, whatever it belongs to, in order; without rows that cannot be read. */
  receivedAfter(after: number, limit: number): Promise<readonly ReceivedRow[]>
  /** Returns the latest time at which something was received, ms since the epoch, up to a row by its number; 0: never. */
  latestTime(until?: InboxId): Promise<number>
  /** Returns the number of the row that was written last; 0: there is none. */
  lastSent(): Promise<number>
  /** Everything said in chats, in order; without rows that cannot be read. */
  sentAfter(after: number, limit: number): Promise<readonly SentRow[]>
  /** Returns the sessions whose models were shown words of one of these, or which have an entry that is made of them. */
  sessionsOf(authors: readonly AuthorId[]): Promise<readonly SessionId[]>
  /** Returns the sessions that took over the log of this one. */
  copiesOf(session: SessionId): Promise<readonly SessionId[]>
  /** Returns the entries of a session that are made of one of these messages. */
  entriesOf(session: SessionId, messages: readonly MessageRef[]): Promise<readonly number[]>
  /** Returns the entries that a turn has made by its tools. */
  entriesOfTurn(turn: TurnId): Promise<readonly number[]>
  /** Every session, a page at a time, with the last event that retention has emptied. */
  sessions(after: number, limit: number): Promise<readonly RetainedSession[]>
  marks(): Promise<readonly RetentionMark[]>
}

export interface RetainedSession {
  readonly no: number
  readonly id: SessionId
  /** Events up to this one were looked at. */
  readonly seq: number
}

export interface ForgettingWriter {
  begin(forgetting: Forgetting): Promise<void>
  /** Notes how much was removed. */
  note(id: string, counts: ForgetCounts): Promise<void>
  /** Keeps nothing of the plan but the names of the sessions and channels. */
  finish(id: string, ended: Pick<Forgetting, 'plan' | 'counts'>): Promise<void>
  /**
   * Empties events of a session, and takes them out of the index; `quotes`: messages lose the words of others alone.
   * Does nothing for those that are empty.
   */
  empty(session: SessionId, seqs: readonly number[], what: 'all' | 'quotes'): Promise<Partial<ForgetCounts>>
  /** Empties parts of events, which hold what others have sent as well. */
  emptyParts(session: SessionId, parts: readonly EventParts[]): Promise<Partial<ForgetCounts>>
  /** Blanks what was asked and answered about calls of these turns, and the verdict of a check before them. */
  emptyTurns(turns: readonly TurnId[]): Promise<number>
  /** Replaces a received message by what is left of it. Returns false if nothing changes. */
  emptyReceived(id: InboxId, left: Pick<ReceivedRow, 'dispatch' | 'decision'>): Promise<boolean>
  /** Takes the text out of what was said, deletions that are under way continue. */
  emptySent(source: SourceId): Promise<Pick<ForgetCounts, 'sent' | 'notSent'>>
  /** Lists show no last words of a session any more, no description, no names of its place, until it gets others. */
  unname(session: SessionId, what: 'preview' | 'description' | 'all'): Promise<void>
  /** Records that these files are not named by events any more, where that is so; returns how many transcripts went. */
  unuse(session: SessionId, media: readonly MediaId[]): Promise<number>
  forgetTranscripts(media: readonly MediaId[]): Promise<number>
  /** An applicant keeps the id alone. */
  unnameApplicant(key: string): Promise<void>
  /** Merges some of the index of words, so that nothing is left of texts that were taken out; false: nothing is left. */
  mergeIndex(): Promise<boolean>
  retained(session: number, seq: number): Promise<void>
  mark(mark: RetentionMark): Promise<void>
  unmark(rule: string): Promise<void>
}
