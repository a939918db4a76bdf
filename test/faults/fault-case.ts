/** One fault case. */
export interface FaultCase {
  /** `F-A01`: the titles of its tests begin with it. */
  readonly code: string
  /** A plain sentence: what goes wrong and what must come of it. */
  readonly what: string
  /** Why it has no test yet. */
  readonly waitsFor?: string
}
