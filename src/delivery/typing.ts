import type { ChannelAdapter } from '../channels/adapter.ts'
import { showsTyping } from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { Calls } from './calls.ts'
import type { LiveTurn } from './growing-message.ts'
import type { Speaker, SpeakerVerdict } from './plan-reply.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Ticker, Ticking } from './ticker.ts'

export interface TypingDeps {
  readonly clock: Clock
  readonly ticker: Ticker
  readonly limiter: RateLimiter
  readonly calls: Calls
  adapter(address: Address): ChannelAdapter | undefined
  sendAllowed(message: Speaker): SpeakerVerdict
}

/** An answer that comes sooner needs no indicator. */
const SHOW_AFTER_MS = 500
/** The longest time typing is shown, whatever fails elsewhere. */
const LONGEST_MS = 120_000
/** The share of its duration after which the indicator is renewed. */
const RENEW_SHARE = 0.8

type TypingTurn = Required<Pick<LiveTurn, 'address' | 'session'>>

/**
 * Shows typing until the returned function is called, two minutes at most. It is never queued or retried, pauses while
 * the platform wants a pause, ignores failures, and ends where send policy denies messages.
 */
export function startTyping(deps: TypingDeps, turn: TypingTurn): () => void {
  const typing = new Typing(deps, turn)
  deps.ticker.add(typing)
  return () => typing.end()
}

/** The typing of one turn; most end before anything is shown. */
class Typing implements Ticking {
  readonly #deps: TypingDeps
  readonly #turn: TypingTurn
  readonly #since: number
  #next: number
  #ended = false
  #calling: AbortController | undefined

  constructor(deps: TypingDeps, turn: TypingTurn) {
    this.#deps = deps
    this.#turn = turn
    this.#since = deps.clock.elapsed()
    this.#next = this.#since + SHOW_AFTER_MS
  }

  tick(): void {
    const now = this.#deps.clock.elapsed()
    if (now >= this.#since + LONGEST_MS) this.end()
    if (this.#calling || this.#ended || now < this.#next) return
    const called = (): void => {
      this.#calling = undefined
    }
    this.#show().then(called, called)
  }

  end(): void {
    this.#ended = true
    this.#deps.ticker.remove(this)
    this.#calling?.abort()
  }

  async #show(): Promise<void> {
    const { adapter: adapterFor, calls, clock, limiter, sendAllowed } = this.#deps
    const { address } = this.#turn
    const adapter = adapterFor(address)
    if (!adapter || !showsTyping(adapter) || limiter.paused(address)) return
    if (!sendAllowed(this.#turn).allowed) return this.end()
    this.#next = clock.elapsed() + adapter.typingLastsMs * RENEW_SHARE
    await calls.make((control) => {
      this.#calling = control
      return adapter.showTyping(address, control.signal)
    })
  }
}
