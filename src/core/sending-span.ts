/** The clocks of platforms and ours differ by less. */
export const CLOCKS_DIFFER_MS = 10 * 60_000

/** A span of time, ms since the epoch. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** Returns the span in which a platform may say that something was sent which we began to send within these times. */
export function sendingSpan(from: number, to = from): TimeSpan {
  return { from: from - CLOCKS_DIFFER_MS, to: to + CLOCKS_DIFFER_MS }
}

export function isWithin({ from, to }: TimeSpan, at: number): boolean {
  return at >= from && at <= to
}
