/** The part of `OperatorService` about admissions, apart only for its size. */
export interface AdmissionOperator {
  /** Newest first. */
  list(): Promise<readonly AdmissionReport[]>
  /**
   * By code or key. `not_found` if nobody of that name has asked; `unavailable` without a daemon.
   * `by` is who decides, if it is not the operator at the machine.
   */
  decide(name: string, verdict: 'admit' | 'deny', by?: string): Promise<AdmissionReport>
}

export interface AdmissionReport {
  readonly code: string
  /** `person` or `place`. */
  readonly kind: string
  readonly key: string
  readonly name: string
  readonly state: 'asked' | 'admitted' | 'denied'
  readonly askedAt: number
  /** Absent until an owner was notified. */
  readonly toldAt?: number
  readonly decidedAt?: number
  readonly decidedBy?: string
  /** Earlier messages that are handled now; in the answer to a decision. */
  readonly handled?: number
  /** The setting that decides about this place in any case; in the answer to a decision. */
  readonly ruledBy?: string
}
