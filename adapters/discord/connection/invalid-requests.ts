/**
 * The platform shuts an address out after 10,000 refused requests (401, 403, 429) within ten minutes. Half of that is
 * far more than a healthy bot ever makes: from there on nothing leaves until enough of it is over (F-C11).
 */
const WINDOW_MS = 10 * 60_000
const MOST_REFUSED = 5000
/** Refusals are counted together for so long; the window is as exact as this. */
const SLOT_MS = 5000

interface Slot {
  readonly from: number
  count: number
}

/** Counts refused requests. Times are those of `clock.elapsed()`. */
export class InvalidRequests {
  readonly #most: number
  readonly #slots: Slot[] = []
  #total = 0

  constructor(most = MOST_REFUSED) {
    this.#most = most
  }

  note(now: number): void {
    const last = this.#slots.at(-1)
    if (last !== undefined && now - last.from < SLOT_MS) last.count++
    else this.#slots.push({ from: now, count: 1 })
    this.#total++
  }

  /** Ms until a request may leave; 0: it may now. */
  pauseMs(now: number): number {
    for (let first = this.#slots[0]; first !== undefined && endOf(first) <= now; first = this.#slots[0]) {
      this.#total -= first.count
      this.#slots.shift()
    }
    let left = this.#total
    if (left < this.#most) return 0
    for (const slot of this.#slots) {
      left -= slot.count
      if (left < this.#most) return endOf(slot) - now
    }
    return 0
  }
}

function endOf({ from }: Slot): number {
  return from + SLOT_MS + WINDOW_MS
}
