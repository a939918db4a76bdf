/** The beginning of the platform's ids, 2015-01-01T00:00:00Z. */
const EPOCH = 1_420_070_400_000
const STEPS = 2 ** 22

/** Ids like the platform's: sortable by time, never the same twice, rising also within one millisecond. */
export class Snowflakes {
  readonly #now: () => number
  #last = 0n

  constructor(now: () => number) {
    this.#now = now
  }

  next(): string {
    const id = BigInt(Math.max(0, this.#now() - EPOCH)) * BigInt(STEPS)
    this.#last = id > this.#last ? id : this.#last + 1n
    return String(this.#last)
  }
}

export function isSnowflake(text: string): boolean {
  return /^\d{1,20}$/.test(text)
}
