import { setMaxListeners } from 'node:events'
import type { Address } from '../core/address.ts'

/**
 * The calls to platforms that are under way, so that a stop can end them, and when one last proved that an account
 * works.
 */
export interface Calls {
  /** The signal of every call that nobody ends alone; a signal for each would cost more than the rest of the call. */
  readonly signal: AbortSignal
  /** Makes a call with a signal of its own, so that it can be ended alone. */
  make<T>(call: (control: AbortController) => Promise<T>): Promise<T>
  /** Aborts every call under way, and each later one at once. */
  abort(): void
  /** Called when a call that writes something has succeeded; it began at `begunAt` (`clock.elapsed()`). */
  wrote(address: Address, begunAt: number): void
  /** Returns when the account's last successful writing call began. */
  wroteAt(address: Address): number | undefined
}

export function createCalls(): Calls {
  const stop = new AbortController()
  const underWay = new Set<AbortController>()
  const written = new Map<string, number>()
  // The signal ends many calls at once, which is no leak: adapters remove their listeners.
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
