import { ApiError } from './api-error.ts'

/** The limits of a bucket; each route and channel has one, as on the platform. */
export interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

interface Bucket {
  used: number
  resetAt: number
}

/** Counts calls by bucket and returns the headers that report them. */
export class RateLimits {
  readonly #rule: RateLimit | undefined
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()

  constructor(rule: RateLimit | undefined, now: () => number) {
    this.#rule = rule
    this.#now = now
  }

  /** Counts one call; returns the headers of its answer. Throws 429, without counting, when the bucket is empty. */
  take(name: string): Readonly<Record<string, string>> {
    const rule = this.#rule
    if (rule === undefined) return {}
    const now = this.#now()
    const known = this.#buckets.get(name)
    const bucket = known !== undefined && known.resetAt > now ? known : { used: 0, resetAt: now + rule.windowMs }
    this.#buckets.set(name, bucket)
    if (bucket.used >= rule.limit) throw tooMany((bucket.resetAt - now) / 1000)
    bucket.used++
    return headersOf(name, {
      limit: rule.limit,
      left: rule.limit - bucket.used,
      resetAfter: (bucket.resetAt - now) / 1000,
    })
  }
}

export function tooMany(retryAfterSeconds: number): ApiError {
  return new ApiError(429, 0, 'You are being rate limited.', { retryAfterSeconds })
}

function headersOf(name: string, at: { limit: number; left: number; resetAfter: number }): Record<string, string> {
  return {
    'x-ratelimit-limit': String(at.limit),
    'x-ratelimit-remaining': String(at.left),
    'x-ratelimit-reset-after': at.resetAfter.toFixed(3),
    'x-ratelimit-bucket': Buffer.from(name.split(' ')[0] ?? name).toString('hex'),
  }
}
