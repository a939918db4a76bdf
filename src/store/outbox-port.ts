import type { Address } from '../core/address.ts'
import type { DeliveryId, SessionId, SourceId, TurnId } from '../core/ids.ts'
import type { Delivery, DeliveryOp, DeliveryState, LowPriority, Recipient, RenderedPart } from '../core/outbound.ts'

export interface DeliveryChange {
  readonly state: DeliveryState
  readonly messageId?: string
  /** The place in which the message was sent; absent: that of the row. */
  readonly address?: Address
  readonly reason?: string
  readonly notBefore?: number
  readonly at: number
}

export interface DeliveryReplacement {
  readonly op: DeliveryOp
  readonly part: RenderedPart
  /** `uncertain`: a call with the part before this one was lost; that part is kept as `earlier`. */
  readonly state: 'planned' | 'sending' | 'uncertain'
  /** The priority that the message has now. */
  readonly lowPriority: LowPriority | undefined
  readonly at: number
  /** For whom it is now; absent: as before. */
  readonly only?: Recipient
  /** The new end of the time in which it may be sent, where it begins anew. */
  readonly expiresAt?: number
}

export type NewDelivery = Omit<Delivery, 'attempt' | 'ownerEpoch'>

/** `address`: where it was to go, if that can be read. */
export interface UnreadableDelivery {
  readonly id: DeliveryId
  readonly address?: Address
}

export interface DeliveryListQuery {
  readonly states: readonly DeliveryState[]
  readonly session: SessionId | undefined
  readonly after: DeliveryId | undefined
  readonly limit: number
}

/** A chat of a channel, by whichever bot. */
export type ChatName = Pick<Address, 'channel' | 'chat'>

/** Times by which a text that was sent is found, ms since the epoch: planned from one to another, or begun since. */
export interface PlannedTimes {
  readonly from: number
  readonly to: number
  readonly begunSince: number
}

export interface OutboxReader {
  /** Throws `unreadable` for a row that holds something else than was written. */
  get(id: DeliveryId): Promise<Delivery | undefined>
  ofSource(source: SourceId): Promise<readonly Delivery[]>
  /** Returns the answer of a turn, and the files that it has sent beside it. */
  ofTurn(turn: TurnId): Promise<readonly Delivery[]>
  /**
   * Our own messages by the platform's id, among the newest 20,000 rows, newest first: nobody asks about older ones.
   */
  ofMessage(messageId: string): Promise<readonly Delivery[]>
  /** Returns our texts for a chat that were planned at these times, and forgotten ones that were sent at any since. */
  plannedFor(chat: ChatName, times: PlannedTimes): Promise<readonly Delivery[]>
  /**
   * Every row that still owes something (planned, sending, waiting, uncertain), oldest first, without the unreadable
   * and without what is held after a restoration.
   */
  unfinished(): Promise<readonly Delivery[]>
  /** The rows that still owe something and cannot be read. */
  unreadable(): Promise<readonly UnreadableDelivery[]>
  /** Walks all rows. */
  counts(): Promise<Readonly<Partial<Record<DeliveryState, number>>>>
  /** Without `sent`, the end of nearly all rows: the index of the other states has these, in little time. */
  unsentCounts(): Promise<Readonly<Partial<Record<DeliveryState, number>>>>
  /** Counts those that are `uncertain` or `given_up` and have their text still: nobody has decided about these. */
  undecidedCount(): Promise<number>
  /** Counts the rows that still owe something of all sources whose ids begin so. */
  owedOf(prefix: string): Promise<number>
  /**
   * Newest first, of the states, from behind the row `after` on. Of one session only among the newest 20,000 rows: no
   * index has it, and no list may hold up what is sent.
   */
  page(query: DeliveryListQuery): Promise<readonly Delivery[]>
  /** Newest first; for `parley outbox` and `status`. */
  recent(states: readonly DeliveryState[], limit: number): Promise<readonly Delivery[]>
}

export interface OutboxWriter {
  /** A row in state `sending` gets attempt 1 and this epoch. A repeated `(source, partNo)`: `conflict`. */
  add(rows: readonly NewDelivery[]): Promise<void>
  /**
   * Commits `sending` before the first byte: attempt + 1, this epoch, `startedAt`. False if the row is not in `from`.
   */
  begin(id: DeliveryId, from: readonly DeliveryState[], at: number): Promise<boolean>
  /** Moves a row on, with what is known. */
  settle(id: DeliveryId, change: DeliveryChange): Promise<void>
  /**
   * Turns a live reply's row into its final edit, delete or repeated send; state becomes `state`. A row without its
   * text stays as it is.
   */
  replace(id: DeliveryId, change: DeliveryReplacement): Promise<void>
  /**
   * Takes the text out of every row of a source; what was not sent yet never will be, and what is settled later ends
   * (S41).
   */
  blank(source: SourceId): Promise<void>
  /** Boot: every `sending` row of an older epoch becomes `uncertain`. Returns how many. */
  fence(): Promise<number>
}
