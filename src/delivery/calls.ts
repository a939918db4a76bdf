import { setMaxListeners } from 'node:events'
import type { Address } from '../core/address.ts'

/** Calls to platforms: those under way, so that a stop can end them, and when one last proved that an account's line works. */
export interface Calls {
  /** Of every call that nobody ends alone; a signal for each would cost more than the rest of its making. */
  readonly signal: AbortSignal
  /** A call with a signal of its own, that may be ended alone. */
  make<T>(call: (control: AbortController) => Promise<T>): Promise<T>
  /** Aborts every call under way, and each later one at once. */
  abort(): void
  /** A call that writes something has succeeded; `begunAt`: when it was made, `clock.elapsed()`. */
  wrote(address: Address, begunAt: number): void
  /** When the last call of the account that succeeded in writing something was made. */
  wroteAt(address: Address): number | undefined
}

export function createCalls(): Calls {
  const stop = new AbortController()
  const underWay = new Set<AbortController>()
  const written = new Map<string, number>()
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
    wrote: (address, begunAt) => void written.set(accountOf(address), begunAt),
    wroteAt: (address) => written.get(accountOf(address)),
  }
}

function accountOf({ channel, account }: Address): string {
  return `${channel}@${account}`
}
