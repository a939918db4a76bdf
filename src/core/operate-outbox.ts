import type { RequestId } from './keyed-request.ts'
import type { DeliveryReport } from './operate-parts.ts'

/** The part of `OperatorService` about deliveries: those held after the database was restored, and single ones. */
export interface OutboxOperator {
  /** Undefined if the database was never put back. */
  restoration(): Promise<RestorationReport | undefined>
  /**
   * Sends what is held, or ends it unsent. `conflict` if nothing waits for a decision; `unavailable` without a daemon.
   */
  decide(verdict: OutboxVerdict): Promise<RestorationReport>
  /**
   * Sends a delivery that did not arrive once more, and what ended behind it in its message; one that may have arrived
   * is marked as a repeat. `not_found`; `conflict` for one that was sent, is on its way, or has lost its text;
   * `unavailable` without a daemon.
   */
  retry(id: string, once?: RequestId): Promise<DeliveryReport>
  /**
   * Ends a delivery that is owed still, or whose outcome is not known, given up or not: nobody has to look at it any
   * more. `not_found`; `conflict` for one that has ended otherwise or is being sent just now; `unavailable` without a
   * daemon.
   */
  drop(id: string): Promise<DeliveryReport>
}

export type OutboxVerdict = 'resume' | 'discard'

export interface RestorationReport {
  /** When it was found. */
  readonly at: number
  /** When the copy was written last. */
  readonly lastAt: number
  /** `found` and `held` wait for a decision. */
  readonly state: 'found' | 'held' | 'resumed' | 'discarded'
  /** Deliveries that are held. */
  readonly held: number
  /** Messages that were not answered for this, newest first, at most 50: `parley why` says more of each. */
  readonly unanswered: readonly UnansweredMessage[]
}

export interface UnansweredMessage {
  readonly inboxId: string
  readonly address: string
  /** The name by which people know the place; absent where none is known. */
  readonly title?: string
  readonly sentAt: number
}

/** The part of `OperatorService` by which scripts say something in a chat. */
export interface NotificationOperator {
  /**
   * Says a text in a chat as it is, without a model (T43). Resolves once the platform has it, has refused it, or the
   * wait is over; `queued`: it is on disk, and leaves by itself. `not_found` for a place that whoever asks may not say
   * anything in, or that is on no channel; `invalid`, `too_long`; `too_many` while much of the same script waits. Once
   * `left` is aborted nobody waits any more.
   */
  send(wanted: NewNotification, left?: AbortSignal): Promise<NotificationReport>
}

export interface NewNotification {
  /** The place, such as `telegram:group:-100123/42`. */
  readonly to: string
  /** Markdown; may be empty beside files. */
  readonly text?: string | undefined
  /** Without a sound, where the platform can. */
  readonly silent?: boolean | undefined
  readonly files?: readonly NotifiedFile[] | undefined
  /** Names the request: it is said once in a place, however often whoever asks repeats it with this name. */
  readonly id?: string | undefined
  /** The wait for the outcome in seconds, 0 to 3600; by default 30. */
  readonly waitSeconds?: number | undefined
}

export interface NotifiedFile {
  /** The name that people see. */
  readonly name: string
  /** Its bytes as base64. */
  readonly data: string
}

export interface NotificationReport {
  /**
   * `refused`: by the send policy of the place, a mute, or the platform. `lost`: nobody can know whether it arrived,
   * and it is not repeated.
   */
  readonly status: 'delivered' | 'queued' | 'refused' | 'lost'
  readonly to: string
  /** Names it in the log. */
  readonly traceId: string
  /** The reason why it is not delivered. */
  readonly reason?: string
  /** The platform's ids of the messages. */
  readonly messageIds: readonly string[]
}
