import type { ApiChatType } from './api-types.ts'

export interface FloodLimits {
  perChatPerSecond: number
  /** The number of messages to one chat that pass at once before `perChatPerSecond` applies. */
  perChatBurst: number
  perGroupPerMinute: number
  perSecond: number
}

/** The platform's published numbers. */
export const telegramFloodLimits: FloodLimits = {
  perChatPerSecond: 1,
  perChatBurst: 3,
  perGroupPerMinute: 20,
  perSecond: 30,
}

interface Bucket {
  tokens: number
  at: number
}

const minute = 60_000

/** Counts sends and edits together, as on the platform. A refused call costs nothing. */
export class FloodControl {
  readonly #limits: FloodLimits
  readonly #now: () => number
  readonly #chats = new Map<number, Bucket>()
  readonly #groups = new Map<number, number[]>()
  readonly #overall: Bucket

  constructor(limits: FloodLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
    this.#overall = { tokens: limits.perSecond, at: now() }
  }

  /** Counts one message; returns 0, or the whole seconds the caller must wait (then nothing was counted). */
  take(chat: { id: number; type: ApiChatType }): number {
    const now = this.#now()
    const { perChatPerSecond, perChatBurst, perSecond } = this.#limits
    const bucket = this.#chats.get(chat.id) ?? { tokens: perChatBurst, at: now }
    refill(bucket, { now, rate: perChatPerSecond, most: perChatBurst })
    refill(this.#overall, { now, rate: perSecond, most: perSecond })
    const wait = Math.max(
      missing(bucket, perChatPerSecond),
      missing(this.#overall, perSecond),
      chat.type === 'private' ? 0 : this.#groupWait(chat.id, now),
    )
    if (wait > 0) return Math.ceil(wait)
    bucket.tokens--
    this.#overall.tokens--
    this.#chats.set(chat.id, bucket)
    if (chat.type !== 'private') this.#groups.get(chat.id)?.push(now)
    return 0
  }

  #groupWait(chatId: number, now: number): number {
    const recent = (this.#groups.get(chatId) ?? []).filter((at) => at > now - minute)
    this.#groups.set(chatId, recent)
    const first = recent[0]
    if (first === undefined || recent.length < this.#limits.perGroupPerMinute) return 0
    return (first + minute - now) / 1000
  }
}

function refill(bucket: Bucket, { now, rate, most }: { now: number; rate: number; most: number }): void {
  bucket.tokens = Math.min(most, bucket.tokens + ((now - bucket.at) / 1000) * rate)
  bucket.at = now
}

/** Returns the seconds until the bucket holds a whole token. */
function missing(bucket: Bucket, rate: number): number {
  return bucket.tokens >= 1 ? 0 : (1 - bucket.tokens) / rate
}
