import type { ReplyTarget } from '../core/dispatch.ts'
import type { ErrorCode } from '../core/errors.ts'
import type { SessionId, TraceId, TurnId } from '../core/ids.ts'
import type { Usage } from '../core/model.ts'
import type { PrecheckVerdict } from '../core/precheck.ts'
import type { Spending } from '../core/spending.ts'
import type { InboxOutcome } from '../core/turn-end.ts'

/** The turns: a part of the store port, apart only for its size. */
export type TurnState = 'running' | 'completed' | 'failed' | 'cancelled' | 'quarantined'

export interface Turn {
  readonly id: TurnId
  readonly sessionId: SessionId
  readonly traceId: TraceId
  readonly reply: ReplyTarget
  readonly state: TurnState
  /** The crashes counted against it: by one at claim and at each resume (`sessions/turns/recover-turns.ts`). */
  readonly attempt: number
  readonly epoch: number
  readonly startedAt: number
  readonly endedAt?: number
  readonly usage: Usage
  readonly error?: ErrorCode
  /** The verdict of the check before it, where there was one. */
  readonly precheck?: PrecheckVerdict
}

export interface NewTurn {
  readonly id: TurnId
  readonly sessionId: SessionId
  readonly traceId: TraceId
  readonly reply: ReplyTarget
  readonly startedAt: number
}

export interface TurnEnd {
  readonly state: Exclude<TurnState, 'running'>
  /** The outcome of every message bound to it. */
  readonly outcome: InboxOutcome
  readonly at: number
  readonly usage: Usage
  readonly error?: ErrorCode
  readonly precheck?: PrecheckVerdict
}

export interface TurnReader {
  get(id: TurnId): Promise<Turn | undefined>
  /** Turns left running by an older epoch, oldest first. */
  interrupted(): Promise<readonly Turn[]>
  running(): Promise<readonly Turn[]>
  /** Returns the turns that began at `at` or later, and the cost of them and of all calls beside turns since then. */
  spentSince(at: number): Promise<Spending>
}

export interface TurnWriter {
  /** State running, attempt 1, this store's epoch. A session with a running turn: `conflict`. */
  start(turn: NewTurn): Promise<void>
  /** Takes over an interrupted turn: attempt + 1, this epoch. Returns the new attempt. */
  resume(id: TurnId): Promise<number>
  /** Has a failed turn run once more in this process. Throws `conflict` for any other. Returns its attempt. */
  reopen(id: TurnId): Promise<number>
  /** An orderly stop interrupted it, which is no crash: the attempt that this process counted is taken off again. */
  suspend(id: TurnId): Promise<void>
  /** Sets what is counted against a turn that has not ended; nothing for one that has. */
  recount(id: TurnId, attempt: number): Promise<void>
  /**
   * Ends the running turns whose rows cannot be read, which nothing could continue: each would keep its session from
   * another turn. Called at the start, before a turn of this process runs.
   */
  giveUpUnreadable(at: number): Promise<readonly Pick<Turn, 'id' | 'sessionId'>[]>
  /** Fenced by epoch: throws `conflict` when this process no longer owns the running turn. */
  finish(id: TurnId, end: TurnEnd): Promise<void>
  /** Counts a call that no turn has made: a checkpoint, a summary, a transcription, a chat that is not kept. */
  spendBeside(at: number, usage: Usage): Promise<void>
  /** Deletes what was counted beside turns before a time, at most `limit` rows; returns how many. */
  sweepBeside(before: number, limit: number): Promise<number>
}
