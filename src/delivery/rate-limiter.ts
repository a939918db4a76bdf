import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import { leftInAccount, leftInChat, type Rank } from './low-priority.ts'

/** The limits of a platform for one account; any one second and any one minute stay within them. */
export interface SendLimits {
  readonly perSecond: number
  readonly perChatPerSecond: number
  readonly perGroupPerMinute: number
}

/** The pace of everything that leaves: parts wait for a slot, edits of a growing reply are dropped without one. */
export interface RateLimiter {
  /** Takes a slot and returns true if every limit has one now for this rank and, for chat and group, `leaving` more. */
  take(address: Address, wanted?: { readonly rank?: Rank; readonly leaving?: number }): boolean
  /** Returns the slot of a part that does not leave after all. */
  giveBack(address: Address): void
  /**
   * Takes a slot for a part of low priority and returns 0, or takes none and returns the ms after which to ask again.
   * Some slots of chat, group and account are left for higher ranks, and none is booked in advance.
   */
  takeLow(address: Address, rank: Rank): number
  /** Takes the slots of chat and group and returns 0, or takes none and returns the ms after which to ask again. */
  takeChat(address: Address): number
  /** Books the account's next slot and returns the ms until it comes. Slots come in the order of asking. */
  bookAccount(address: Address): number
  /** Sends nothing to this chat before `until`, a time of `clock.elapsed()`; called after a 429. */
  pause(address: Address, until: number): void
  paused(address: Address): boolean
  /** The number of buckets in memory; full ones are dropped. */
  readonly size: number
}

/**
 * The rate of a bucket, which is one number: the time at which it will be full again. `burst` slots fit in, and one
 * returns each `everyMs`.
 */
interface Rate {
  readonly everyMs: number
  readonly burst: number
}

interface Rates {
  readonly account: Rate
  readonly chat: Rate
  /** The limit of every chat that is not direct. */
  readonly group: Rate
}

/** A slot for a part of some rank: its buckets, and when chat and account have it. */
interface Slot {
  readonly now: number
  readonly account: string
  readonly rates: Rates
  readonly chat: string
  readonly chatAt: number
  readonly accountAt: number
}

/** Telegram accepts a few messages in a row before it counts a chat's seconds. */
const CHAT_BURST = 3
const SWEEP_ABOVE = 1_000

/** Buckets by name; full ones are forgotten. */
class Buckets {
  readonly #fullAt = new Map<string, number>()
  #sweepAbove = SWEEP_ABOVE

  /** Returns when the bucket has a slot and `leaving` more; a time in the past if it has them now. */
  slotAt(key: string, rate: Rate, leaving: number): number {
    const burst = Math.max(1, rate.burst - leaving)
    return (this.#fullAt.get(key) ?? 0) - (burst - 1) * rate.everyMs
  }

  spend(key: string, rate: Rate, now: number): void {
    this.#fullAt.set(key, Math.max(this.#fullAt.get(key) ?? 0, now) + rate.everyMs)
    if (this.#fullAt.size > this.#sweepAbove) this.#sweep(now)
  }

  spendChat({ chatType }: Address, key: string, rates: Rates, now: number): void {
    this.spend(key, rates.chat, now)
    if (chatType !== 'direct') this.spend(`${key}#`, rates.group, now)
  }

  spendAll(address: Address, { chat, account, rates, now }: Omit<Slot, 'chatAt' | 'accountAt'>): void {
    this.spendChat(address, chat, rates, now)
    this.spend(account, rates.account, now)
  }

  /** The opposite of `spendAll`. */
  giveBackAll({ chatType }: Address, { chat, account, rates }: Pick<Slot, 'chat' | 'account' | 'rates'>): void {
    this.#giveBack(chat, rates.chat)
    if (chatType !== 'direct') this.#giveBack(`${chat}#`, rates.group)
    this.#giveBack(account, rates.account)
  }

  get size(): number {
    return this.#fullAt.size
  }

  /** A bucket that was swept meanwhile is full. */
  #giveBack(key: string, { everyMs }: Rate): void {
    const fullAt = this.#fullAt.get(key)
    if (fullAt !== undefined) this.#fullAt.set(key, fullAt - everyMs)
  }

  #sweep(now: number): void {
    forgetPast(this.#fullAt, now)
    this.#sweepAbove = SWEEP_ABOVE + 2 * this.#fullAt.size
  }
}

/** The callers that were asked to retry later, by chat or account, and by rank. Past times are forgotten. */
class Lines {
  readonly #last = new Map<string, number>()

  get size(): number {
    return this.#last.size
  }

  /** Returns when the last of a rank asks again; a time in the past if none does. */
  lastOf(key: string, rank: number): number {
    return this.#last.get(`${key} ${rank}`) ?? Number.NEGATIVE_INFINITY
  }

  /**
   * Returns when all higher ranks have asked again: a bucket with one slot at a time cannot leave any free for them.
   */
  behindAll(key: string, rank: Rank): number {
    let at = 0
    for (let ahead = 0; ahead < rank; ahead++) at = Math.max(at, this.lastOf(key, ahead) + 1)
    return at
  }

  /** Returns the wait in whole ms. */
  askAgain(key: string, rank: Rank, { now, wait }: { readonly now: number; readonly wait: number }): number {
    const whole = Math.ceil(wait)
    if (this.#last.size > SWEEP_ABOVE) forgetPast(this.#last, now)
    this.#last.set(`${key} ${rank}`, Math.max(this.lastOf(key, rank), now + whole))
    return whole
  }
}

export function createRateLimiter(clock: Clock, limits: (address: Address) => SendLimits): RateLimiter {
  const buckets = new Buckets()
  const pausedUntil = new Map<string, number>()
  const lines = new Lines()

  function chatSlotAt({ chatType }: Address, key: string, rates: Rates, leaving: number): number {
    const resumed = pausedUntil.size === 0 ? 0 : (pausedUntil.get(key) ?? 0)
    const inGroup = chatType === 'direct' ? 0 : buckets.slotAt(`${key}#`, rates.group, leaving)
    return Math.max(resumed, buckets.slotAt(key, rates.chat, leaving), inGroup)
  }

  /** Returns when chat, group and account have a slot besides those that are left for higher ranks. */
  function slotOf(address: Address, rank: Rank, leaving: number): Slot {
    const account = accountKey(address)
    const rates = ratesOf(limits(address))
    const chat = chatKey(address, account)
    const inChat = chatSlotAt(address, chat, rates, leftInChat(rank) + leaving)
    const inAccount = buckets.slotAt(account, rates.account, leftInAccount(rank, rates.account.burst))
    const chatAt = Math.max(inChat, lines.behindAll(chat, rank))
    const accountAt = Math.max(inAccount, lines.behindAll(account, rank))
    return { now: clock.elapsed(), account, rates, chat, chatAt, accountAt }
  }

  return {
    take(address, { rank = 0, leaving = 0 } = {}) {
      const slot = slotOf(address, rank, leaving)
      if (slot.chatAt > slot.now || slot.accountAt > slot.now) return false
      buckets.spendAll(address, slot)
      return true
    },
    giveBack(address) {
      const account = accountKey(address)
      buckets.giveBackAll(address, { chat: chatKey(address, account), account, rates: ratesOf(limits(address)) })
    },
    takeLow(address, rank) {
      const slot = slotOf(address, rank, 0)
      const { now, account, rates, chat, chatAt, accountAt } = slot
      if (chatAt > now) {
        return lines.askAgain(chat, rank, { now, wait: chatAt - now })
      }
      if (accountAt > now) {
        // Callers retry one after another, or all would ask at each slot.
        const again = Math.max(accountAt, lines.lastOf(account, rank) + rates.account.everyMs)
        return lines.askAgain(account, rank, { now, wait: again - now })
      }
      buckets.spendAll(address, slot)
      return 0
    },
    takeChat(address) {
      const now = clock.elapsed()
      const key = chatKey(address)
      const rates = ratesOf(limits(address))
      const wait = Math.max(0, chatSlotAt(address, key, rates, 0) - now)
      if (wait > 0) return lines.askAgain(key, 0, { now, wait })
      buckets.spendChat(address, key, rates, now)
      return 0
    },
    bookAccount(address) {
      const now = clock.elapsed()
      const key = accountKey(address)
      const { account } = ratesOf(limits(address))
      const wait = Math.max(0, buckets.slotAt(key, account, 0) - now)
      buckets.spend(key, account, now)
      return Math.ceil(wait)
    },
    pause(address, until) {
      const key = chatKey(address)
      if (pausedUntil.size > SWEEP_ABOVE) forgetPast(pausedUntil, clock.elapsed())
      pausedUntil.set(key, Math.max(pausedUntil.get(key) ?? 0, until))
    },
    paused: (address) => (pausedUntil.get(chatKey(address)) ?? 0) > clock.elapsed(),
    get size() {
      return buckets.size + pausedUntil.size + lines.size
    },
  }
}

function forgetPast(times: Map<string, number>, now: number): void {
  for (const [key, at] of times) if (at <= now) times.delete(key)
}

/** Returns a rate whose burst and refill together never exceed the limit within its second or minute. */
function within(limit: number, windowMs: number, share: number): Rate {
  const burst = Math.max(1, Math.floor(limit * share))
  return { burst, everyMs: windowMs / Math.max(limit - burst, limit * (1 - share)) }
}

const known = new WeakMap<SendLimits, Rates>()

function ratesOf(limits: SendLimits): Rates {
  const rates = known.get(limits) ?? ratesFor(limits)
  known.set(limits, rates)
  return rates
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
