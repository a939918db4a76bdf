import { setMaxListeners } from 'node:events'

/** Calls to platforms under way, so that a stop can end them. */
export interface Calls {
  /** Of every call that nobody ends alone; a signal for each would cost more than the rest of its making. */
  readonly signal: AbortSignal
  /** A call with a signal of its own, that may be ended alone. */
  make<T>(call: (control: AbortController) => Promise<T>): Promise<T>
  /** Aborts every call under way, and each later one at once. */
  abort(): void
}

export function createCalls(): Calls {
  const stop = new AbortController()
  const underWay = new Set<AbortController>()
  // It ends many calls at once; that is no leak, for adapters take their listeners off again.
  setMaxListeners(0, stop.signal)
  return {
    signal: stop.signal,
    async make(call) {
      const control = new AbortController()
      if (stop.signal.aborted) control.abort()
      underWay.add(control)
      try {
        return await call(control)
      } finally {
        underWay.delete(control)
      }
    },
    abort() {
      stop.abort()
      for (const control of underWay) control.abort()
    },
  }
}
