/** Time as the daemon sees it; injected everywhere so that tests move it. */
export interface Clock {
  /** The time of day: milliseconds since the epoch. Somebody may set it, so it may jump in both directions. */
  now(): number
  /**
   * Milliseconds since a moment of its own that nobody sets; never goes back. It measures durations, but
   * stands still while the machine sleeps: `passedSince` asks both.
   */
  elapsed(): number
  /**
   * Runs `callback` once after `ms`; the returned function cancels it. A pending timer never keeps the process alive.
   */
  after(ms: number, callback: () => void): () => void
}

/** The longest time a timer of Node keeps, 24 days: one that is set for longer ends at once. */
const LONGEST_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, LONGEST_MS))
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** A moment by both clocks, for durations that continue while the machine sleeps. */
export interface Moment {
  readonly now: number
  readonly elapsed: number
}

export function momentOf(clock: Clock): Moment {
  return { now: clock.now(), elapsed: clock.elapsed() }
}

/** Returns ms by the clock that says more: the time of day may have been set, the other stands still during a sleep. */
export function passedSince(clock: Clock, { now, elapsed }: Moment): number {
  return Math.max(clock.now() - now, clock.elapsed() - elapsed)
}

const LONGEST_ASKED_MS = 86_400_000

/** For a wait that was asked for in a way nobody can read, such as a header that is no number. */
const UNREADABLY_ASKED_MS = 5_000

/** Returns how long to wait when somebody else says it: whole ms, and a day at most, for a server may say anything. */
export function askedWait(ms: number): number {
  if (Number.isNaN(ms)) return UNREADABLY_ASKED_MS
  return Math.min(Math.max(0, Math.ceil(ms)), LONGEST_ASKED_MS)
}

/** Resolves after `ms`, or at once when `signal` aborts (never rejects: a sleeper checks the signal itself). */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    let cancel = (): void => {}
    const done = (): void => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done, { once: true })
    cancel = clock.after(ms, done)
  })
}

/** Resolves with true once `work` has ended, with false after `ms` without its end. Rejects as `work` does. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const ended = new AbortController()
  try {
    return await Promise.race([work.then(() => true), sleep(clock, ms, ended.signal).then(() => false)])
  } finally {
    ended.abort()
  }
}
