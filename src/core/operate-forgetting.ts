import type { ForgetReceipt } from './forgetting.ts'

/** The part of `OperatorService` about forgetting and age limits. */
export interface ForgettingOperator {
  /**
   * Removes what is named from every store, or says what would be removed (`confirmed: false`). Throws `not_found` for
   * what names nothing here, `invalid` for a time that is none.
   */
  forget(request: ForgetRequest): Promise<ForgetReceipt>
  /** Returns the age limits with what each removes and since when. */
  retention(): Promise<readonly RetentionReport[]>
  /** Applies the limits that were reported now, without waiting any longer. */
  runRetention(): Promise<readonly RetentionReport[]>
}

export interface ForgetRequest {
  readonly kind: 'message' | 'person' | 'chat'
  /** A message by number, trace or link; a person by name or id; a conversation by its name. */
  readonly name: string
  /** Only what was said since: a span back from now (`2h`), or a day (`2026-11-01`). */
  readonly since?: string
  readonly confirmed: boolean
}

/** One age limit. Times are ms since the epoch. */
export interface RetentionLimit {
  /** The place of the limit in the configuration. */
  readonly rule: string
  readonly days: number
  /** When it was reported; absent: it has not been looked at yet. */
  readonly reportedAt?: number
  /** From then on it removes. */
  readonly startsAt?: number
}

export interface RetentionReport extends RetentionLimit {
  /** Conversations that it is for, and their events that are older now. */
  readonly sessions: number
  readonly events: number
}
