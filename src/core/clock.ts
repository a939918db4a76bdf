/** Time as the daemon sees it; injected everywhere so that tests move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs `callback` once after `ms`; the returned function cancels it. A pending timer never keeps the process alive. */
  after(ms: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
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
