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
