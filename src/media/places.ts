import pLimit from 'p-limit'

/** Runs work in one of a few places; resolves with undefined as soon as the signal aborts, also while it waits. */
export type Places = <Done>(work: () => Promise<Done>, signal: AbortSignal) => Promise<Done | undefined>

/** Returns places of which `most` are taken at a time. Work that nobody waits for any more does not begin. */
export function createPlaces(most: number): Places {
  const inTurn = pLimit(most)
  return async (work, signal) => {
    const over = new AbortController()
    try {
      const done = inTurn(async () => (signal.aborted ? undefined : work()))
      return await Promise.race([done, aborted(signal, over.signal)])
    } finally {
      over.abort()
    }
  }
}

/** Resolves when `signal` aborts; `over` takes the listener away. */
function aborted(signal: AbortSignal, over: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: over })
  })
}
