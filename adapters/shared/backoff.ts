import { askedWait } from '../../src/core/clock.ts'

export interface BackoffSettings {
  /** Most the first delay can be, in ms. */
  readonly baseMs: number
  /** Most any delay of our own choice can be, in ms. */
  readonly capMs: number
  /** In [0, 1). */
  random(): number
}

export interface Backoff {
  /**
   * Whole ms to wait before retry number `attempt` (the first is 1). What the platform asks for (`retryAfterMs`) wins
   * over jitter and cap, up to a day: coming back earlier only earns a longer refusal.
   */
  nextDelay(attempt: number, retryAfterMs?: number): number
}

/** Exponential back-off with full jitter: a delay anywhere in [0, min(cap, base · 2^(attempt-1))). Keeps no state. */
export function createBackoff(settings: BackoffSettings): Backoff {
  return {
    nextDelay(attempt, retryAfterMs) {
      if (retryAfterMs !== undefined) return askedWait(retryAfterMs)
      const ceiling = Math.min(settings.capMs, settings.baseMs * 2 ** (Math.max(attempt, 1) - 1))
      return Math.floor(settings.random() * ceiling)
    },
  }
}
