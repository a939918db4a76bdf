/** The part of `OperatorService` about the questions whether a tool may be used, apart only for its size. */
export interface ApprovalOperator {
  /** Returns those that may be answered still, oldest first. */
  list(): Promise<readonly ApprovalReport[]>
  /**
   * `not_found` for a code that names none, `conflict` for one that is over; `unavailable` without a daemon. `by` is
   * who decides, if it is not the operator at the machine.
   */
  decide(code: string, verdict: 'approve' | 'deny', by?: string): Promise<ApprovalReport>
}

export interface ApprovalReport {
  readonly code: string
  readonly tool: string
  /** The arguments as JSON, in full: exactly this call is made. */
  readonly args: string
  /** The conversation it is asked in, by its key; the session's id where that is gone. */
  readonly session: string
  readonly askedAt: number
  readonly state: 'asked' | 'allowed' | 'denied' | 'used'
  /** Its turn has continued without the call; allowed now, it is made in a turn of its own. */
  readonly late: boolean
  readonly decidedBy?: string
}
