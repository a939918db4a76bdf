/** The beginning of the platform's ids, 2015-01-01T00:00:00Z. */
const EPOCH = 1_420_070_400_000
const STEPS = 2 ** 22
/** The ids of one source within a millisecond, and the number of sources with ids of their own. */
const OF_A_SOURCE = 2 ** 12
const SOURCES = 2 ** 10

/**
 * Ids like the platform's: sortable by time, never the same twice, rising also within one millisecond. As there, each
 * source has numbers of its own, so that two servers in one test give no two messages the same id.
 */
export class Snowflakes {
  static #sources = 0
  readonly #now: () => number
  readonly #first: bigint
  #last = 0n

  constructor(now: () => number) {
    this.#now = now
    this.#first = BigInt((Snowflakes.#sources++ % SOURCES) * OF_A_SOURCE)
  }

  next(): string {
    const id = BigInt(Math.max(0, this.#now() - EPOCH)) * BigInt(STEPS) + this.#first
    this.#last = id > this.#last ? id : this.#last + 1n
    return String(this.#last)
  }
}

export function isSnowflake(text: string): boolean {
  return /^\d{1,20}$/.test(text)
}
