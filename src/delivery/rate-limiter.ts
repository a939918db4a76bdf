import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'

/** What a platform takes from one account. Any one second and any one minute stay within these numbers. */
export interface SendLimits {
  readonly perSecond: number
  readonly perChatPerSecond: number
  readonly perGroupPerMinute: number
}

/** Paces everything that leaves: parts wait for a slot, edits of a growing reply are dropped without one. */
export interface RateLimiter {
  /** Takes a slot if every limit has one this moment and, of chat and group, `leaving` more. */
  take(address: Address, leaving?: number): boolean
  /** Takes the chat's and the group's slot and returns 0, or takes none and returns the ms after which to ask again. */
  takeChat(address: Address): number
  /** Books the account's next slot and returns the ms until it comes. Slots come in the order of asking. */
  bookAccount(address: Address): number
  /** The platform wants nothing in this chat until `until`, ms since the epoch (429). */
  pause(address: Address, until: number): void
  paused(address: Address): boolean
  /** Buckets in memory; full ones are dropped. */
  readonly size: number
}

/** A bucket is one number: the time at which it will be full again. `burst` slots fit in, one returns each `everyMs`. */
interface Rate {
  readonly everyMs: number
  readonly burst: number
}

interface Rates {
  readonly account: Rate
  readonly chat: Rate
  /** For every chat that is not direct. */
  readonly group: Rate
}

/** Telegram lets a few messages in a row pass before it counts a chat's seconds (PLATFORMS 1, rates). */
const CHAT_BURST = 3
const SWEEP_ABOVE = 1_000

export function createRateLimiter(clock: Clock, limits: (address: Address) => SendLimits): RateLimiter {
  const fullAt = new Map<string, number>()
  const pausedUntil = new Map<string, number>()
  const known = new WeakMap<SendLimits, Rates>()
  let sweepAbove = SWEEP_ABOVE

  function ratesOf(of: SendLimits): Rates {
    const rates = known.get(of) ?? ratesFor(of)
    known.set(of, rates)
    return rates
  }

  /** When the bucket has a slot and `leaving` more; in the past if it has them now. */
  function slotAt(key: string, rate: Rate, leaving: number): number {
    const burst = Math.max(1, rate.burst - leaving)
    return (fullAt.get(key) ?? 0) - (burst - 1) * rate.everyMs
  }

  function spend(key: string, rate: Rate, now: number): void {
    fullAt.set(key, Math.max(fullAt.get(key) ?? 0, now) + rate.everyMs)
    if (fullAt.size > sweepAbove) sweepAbove = SWEEP_ABOVE + 2 * sweep(now)
  }

  function sweep(now: number): number {
    for (const [key, at] of fullAt) if (at <= now) fullAt.delete(key)
    for (const [key, at] of pausedUntil) if (at <= now) pausedUntil.delete(key)
    return fullAt.size
  }

  function chatSlotAt({ chatType }: Address, key: string, rates: Rates, leaving: number): number {
    const resumed = pausedUntil.size === 0 ? 0 : (pausedUntil.get(key) ?? 0)
    const inGroup = chatType === 'direct' ? 0 : slotAt(`${key}#`, rates.group, leaving)
    return Math.max(resumed, slotAt(key, rates.chat, leaving), inGroup)
  }

  function spendChat({ chatType }: Address, key: string, rates: Rates, now: number): void {
    spend(key, rates.chat, now)
    if (chatType !== 'direct') spend(`${key}#`, rates.group, now)
  }

  return {
    take(address, leaving = 0) {
      const now = clock.now()
      const account = accountKey(address)
      const rates = ratesOf(limits(address))
      if (slotAt(account, rates.account, 0) > now) return false
      const chat = chatKey(address, account)
      if (chatSlotAt(address, chat, rates, leaving) > now) return false
      spendChat(address, chat, rates, now)
      spend(account, rates.account, now)
      return true
    },
    takeChat(address) {
      const now = clock.now()
      const key = chatKey(address)
      const rates = ratesOf(limits(address))
      const wait = Math.max(0, chatSlotAt(address, key, rates, 0) - now)
      if (wait === 0) spendChat(address, key, rates, now)
      return Math.ceil(wait)
    },
    bookAccount(address) {
      const now = clock.now()
      const key = accountKey(address)
      const { account } = ratesOf(limits(address))
      const wait = Math.max(0, slotAt(key, account, 0) - now)
      spend(key, account, now)
      return Math.ceil(wait)
    },
    pause(address, until) {
      const key = chatKey(address)
      pausedUntil.set(key, Math.max(pausedUntil.get(key) ?? 0, until))
    },
    paused: (address) => (pausedUntil.get(chatKey(address)) ?? 0) > clock.now(),
    get size() {
      return fullAt.size + pausedUntil.size
    },
  }
}

/** Burst and refill together never exceed the limit within its second or minute. */
function within(limit: number, windowMs: number, share: number): Rate {
  const burst = Math.max(1, Math.floor(limit * share))
  return { burst, everyMs: windowMs / Math.max(limit - burst, limit * (1 - share)) }
}

function ratesFor(limits: SendLimits): Rates {
  return {
    account: within(limits.perSecond, 1_000, 0.2),
    chat: { burst: CHAT_BURST, everyMs: 1_000 / limits.perChatPerSecond },
    group: within(limits.perGroupPerMinute, 60_000, 0.25),
  }
}

function accountKey({ channel, account }: Address): string {
  return `${channel}@${account}`
}

/** The platform counts chats, not topics. */
function chatKey(address: Address, account = accountKey(address)): string {
  return `${account}:${address.chat}`
}
