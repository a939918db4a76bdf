/** The waits between tries, in ms. */
export interface Pace {
  readonly firstMs: number
  readonly longestMs: number
  /** The share of a wait that is drawn, 0 to 1; none if absent. Spreads those that failed at the same moment. */
  readonly jitter?: number
}

/**
 * Returns how long to wait before retry number `attempt` (the first is 1), in whole ms: twice as long each time, up to
 * the longest. `draw`, from 0 to 1, chooses within the jitter. Every wait that grows is this one.
 */
export function backOffMs(attempt: number, { firstMs, longestMs, jitter = 0 }: Pace, draw = 1): number {
  const full = Math.min(longestMs, firstMs * 2 ** (Math.max(attempt, 1) - 1))
  return Math.floor(full * (1 - jitter) + full * jitter * draw)
}
