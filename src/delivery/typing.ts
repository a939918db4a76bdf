import type { ChannelAdapter } from '../channels/adapter.ts'
import { showsTyping } from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { Calls } from './calls.ts'
import type { LiveTurn } from './growing-message.ts'
import type { SendVerdict, Speaker } from './plan-reply.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Ticker } from './ticker.ts'

export interface TypingDeps {
  readonly clock: Clock
  readonly ticker: Ticker
  readonly limiter: RateLimiter
  readonly calls: Calls
  adapter(address: Address): ChannelAdapter | undefined
  sendAllowed(message: Speaker): SendVerdict
}

/** An answer that comes at once needs no indicator. */
const SHOW_AFTER_MS = 500
/** Hard cap: whatever went wrong above, typing ends (P40). */
const LONGEST_MS = 120_000
/** Renewed before it runs out. */
const RENEW_SHARE = 0.8

/**
 * Shows typing until the returned function is called, two minutes at most. Never queued, never retried, dropped while the
 * platform wants a pause; a failure is dropped too. Where nothing may be said it ends.
 */
export function startTyping(deps: TypingDeps, turn: Required<Pick<LiveTurn, 'address' | 'session'>>): () => void {
  const { address } = turn
  const since = deps.clock.now()
  let next = since + SHOW_AFTER_MS
  let ended = false
  let calling: AbortController | undefined

  const show = async (): Promise<void> => {
    const adapter = deps.adapter(address)
    if (!adapter || !showsTyping(adapter) || deps.limiter.paused(address)) return
    if (!deps.sendAllowed(turn).allowed) return end()
    next = deps.clock.now() + adapter.typingLastsMs * RENEW_SHARE
    await deps.calls.make((control) => {
      calling = control
      return adapter.showTyping(address, control.signal)
    })
  }
  const tick = (): void => {
    const now = deps.clock.now()
    if (now >= since + LONGEST_MS) end()
    if (calling || ended || now < next) return
    const called = (): void => {
      calling = undefined
    }
    show().then(called, called)
  }
  const remove = deps.ticker.add(tick)
  const end = (): void => {
    ended = true
    remove()
    calling?.abort()
  }
  return end
}
