import { setMaxListeners } from 'node:events'
import { LRUCache } from 'lru-cache'
import type { MessageTarget } from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import type { RenderedPart } from '../core/outbound.ts'

/**
 * The calls to platforms that are under way, so that a stop can end them, when one last proved that an account works,
 * and what the messages show that were edited or may be.
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
  /** Called with what a message shows since a call has succeeded; without it before a call that may change it. */
  shown(message: MessageTarget, part?: RenderedPart): void
  /** Returns true if a message is known to show a part already: an edit to it would be refused as changing nothing. */
  shows(message: MessageTarget, part: RenderedPart): boolean
}

/** Far more than are edited at a time; a message that is forgotten is edited without need, which is harmless. */
const MOST_SHOWN = 500

export function createCalls(): Calls {
  const stop = new AbortController()
  const underWay = new Set<AbortController>()
  const written = new Map<string, number>()
  const looks = new LRUCache<string, string>({ max: MOST_SHOWN })
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
    shown: (message, part) => void looks.set(nameOf(message), part && lookOf(part)),
    shows: (message, part) => looks.get(nameOf(message)) === lookOf(part),
  }
}

function nameOf({ address, messageId }: MessageTarget): string {
  return `${accountOf(address)}:${address.chat}/${messageId}`
}

/** Returns what makes two parts look different: platforms drop the space around a text, also before closing tags. */
function lookOf({ text, markup, buttons = [] }: RenderedPart): string {
  const shown = text.replace(/\s+((?:<\/[a-z]+>\s*)*)$/, '$1').trim()
  return JSON.stringify([shown, markup, buttons])
}

function accountOf({ channel, account }: Address): string {
  return `${channel}@${account}`
}
