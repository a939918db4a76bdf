import type { Clock } from '../core/clock.ts'
import { TooManyRequests } from './errors.ts'

/** The requests that a token has left, as of a moment. */
interface Left {
  count: number
  at: number
}

const MINUTE_MS = 60_000
/** Tokens that are remembered; the one that has asked longest ago is forgotten. */
const TOKENS = 10_000

/**
 * Returns what counts a request of a token. Throws `too_many` for a token that has made `perMinute` of them and makes
 * more before the time for one has passed: a program that repeats without a pause leaves room for others.
 */
export function createPace(clock: Pick<Clock, 'elapsed'>, perMinute: number): (token: string) => void {
  const known = new Map<string, Left>()
  return (token) => {
    const now = clock.elapsed()
    const { count, at } = known.get(token) ?? { count: perMinute, at: now }
    const left = Math.min(perMinute, count + ((now - at) * perMinute) / MINUTE_MS)
    known.delete(token)
    known.set(token, { count: left < 1 ? left : left - 1, at: now })
    const [oldest] = known.keys()
    if (known.size > TOKENS && oldest !== undefined) known.delete(oldest)
    if (left < 1)
      throw new TooManyRequests(
        `A token may make ${perMinute} requests a minute (http.requestsPerMinute); wait a moment.`,
        Math.ceil(((1 - left) * MINUTE_MS) / perMinute / 1_000),
      )
  }
}
