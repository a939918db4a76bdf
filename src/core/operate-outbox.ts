/** The part of `OperatorService` about deliveries held after the database was restored. */
export interface OutboxOperator {
  /** Undefined if the database was never put back. */
  restoration(): Promise<RestorationReport | undefined>
  /**
   * Sends what is held, or ends it unsent. `conflict` if nothing waits for a decision; `unavailable` without a daemon.
   */
  decide(verdict: OutboxVerdict): Promise<RestorationReport>
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
